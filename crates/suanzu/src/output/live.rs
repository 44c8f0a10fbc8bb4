//! A line that changes in place, beneath everything else that the terminal shows.

use std::{
    io::{IsTerminal, Write},
    sync::{Mutex, MutexGuard},
};

/// The terminal of a command that shows progress beside somebody's output. Where standard error is none, nothing changes in
/// place and only notes are said.
pub struct Live {
    changes: bool,
    output_is_shown: bool,
    screen: Mutex<Shown>,
}

/// What stands in the line of the cursor.
#[derive(Default)]
struct Shown {
    line: bool,
    output: bool,
}

impl Live {
    /// On standard error; output goes to standard output.
    pub fn new() -> Live {
        let (changes, output_is_shown) = (std::io::stderr().is_terminal(), std::io::stdout().is_terminal());
        Live { changes, output_is_shown, screen: Mutex::default() }
    }

    /// Shows this line in place of the one before, unless output has not ended its own.
    pub fn set(&self, line: &str) {
        let mut shown = self.locked();
        if self.changes && !shown.output {
            tell(&format!("\r\x1b[K{line}"));
            shown.line = true;
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.make_room(&mut self.locked());
    }

    /// Says something that stays.
    pub fn note(&self, text: &str) {
        let mut shown = self.locked();
        self.make_room(&mut shown);
        let lead = if std::mem::take(&mut shown.output) { "\n" } else { "" };
        tell(&format!("{lead}{text}\n"));
    }

    /// Writes output.
    pub fn output(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut shown = self.locked();
        self.make_room(&mut shown);
        shown.output = self.output_is_shown && bytes.last().is_some_and(|byte| *byte != b'\n');
        let mut out = std::io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    }

    fn make_room(&self, shown: &mut Shown) {
        if std::mem::take(&mut shown.line) {
            // ECMA-48: carriage return, erase to the end of the line.
            tell("\r\x1b[K");
        }
    }

    fn locked(&self) -> MutexGuard<'_, Shown> {
        self.screen.lock().expect("nobody panics while writing to a terminal")
    }
}

fn tell(text: &str) {
    // A terminal that is gone has nobody to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
