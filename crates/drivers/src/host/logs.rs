//! A workload's kept output as one stream: the rotated files in order, and what comes while it is followed.

use super::{folder::Folder, shim::rotated};
use crate::{Failure, LogRequest};
use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Cursor, Read},
    os::unix::fs::MetadataExt,
    thread,
    time::Duration,
};

/// Between two looks for more output while following: below what a person notices.
const FOLLOW_EVERY: Duration = Duration::from_millis(100);

/// Opens the kept output of a workload.
pub(super) fn open(folder: Folder, files: u32, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
    let failed = |source| Failure::passing(format!("read the output in {}", folder.path().display()), source);
    let mut kept = VecDeque::new();
    for age in (0..files).rev() {
        match File::open(rotated(&folder.output(), age)) {
            Ok(file) => kept.push_back(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let newest = kept.back().map(identity).transpose().map_err(failed)?;
    let start: Box<dyn Read + Send> = match request.tail {
        None => Box::new(Cursor::new(Vec::new())),
        Some(lines) => Box::new(Cursor::new(last_lines(&mut kept, lines as usize).map_err(failed)?)),
    };
    let current = newest.and_then(|identity| Some((identity, kept.back()?.try_clone().ok()?)));
    let before: Vec<File> = if request.tail.is_some() { Vec::new() } else { kept.into_iter().collect() };
    let kept = before.into_iter().fold(start, |all, file| Box::new(all.chain(file)) as Box<dyn Read + Send>);
    if !request.follow {
        return Ok(kept);
    }
    Ok(Box::new(Follow { kept: Some(kept), current, folder }))
}

/// A file with its device and inode.
type Identified = ((u64, u64), File);

/// Device and inode: which file it is, whatever its name has become.
fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|meta| (meta.dev(), meta.ino()))
}

/// The last lines over all files. Reads them whole: they are bounded by the limits on output.
fn last_lines(files: &mut VecDeque<File>, lines: usize) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    for file in files {
        file.read_to_end(&mut all)?;
    }
    let body = all.strip_suffix(b"\n").unwrap_or(&all);
    let breaks = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let start = match lines {
        0 => all.len(),
        lines => breaks.map(|(at, _)| at + 1).nth(lines - 1).unwrap_or(0),
    };
    Ok(all.split_off(start))
}

/// Reads on as output comes, over rotations, until the workload has ended.
struct Follow {
    kept: Option<Box<dyn Read + Send>>,
    /// The file being read, with its identity. A clone shares its position with the one that was read first.
    current: Option<Identified>,
    folder: Folder,
}

impl Read for Follow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(kept) = &mut self.kept {
            match kept.read(buffer)? {
                0 => self.kept = None,
                length => return Ok(length),
            }
        }
        loop {
            // Both asked before reading: what was written until then is seen by the read.
            let (ended, newer) = (self.has_ended(), self.newer_file()?);
            if let Some((_, file)) = &mut self.current
                && let length @ 1.. = file.read(buffer)?
            {
                return Ok(length);
            }
            match newer {
                Some(newer) => self.current = Some(newer),
                None if ended => return Ok(0),
                None => thread::sleep(FOLLOW_EVERY),
            }
        }
    }
}

impl Follow {
    fn has_ended(&self) -> bool {
        match self.folder.record() {
            Ok(Some(record)) => record.has_ended() || !record.shim.is_alive(),
            _ => !self.folder.exists(),
        }
    }

    /// The file that is written now, if it is another one than the current.
    fn newer_file(&self) -> io::Result<Option<Identified>> {
        // It is missing for an instant while files are rotated.
        let Ok(file) = File::open(self.folder.output()) else { return Ok(None) };
        let identity = identity(&file)?;
        let known = self.current.as_ref().is_some_and(|(known, _)| *known == identity);
        Ok((!known).then_some((identity, file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let tail = |lines| {
            let path = folder.path().join("f");
            std::fs::write(&path, "one\ntwo\nthree\n").expect("it is writable");
            let mut files = VecDeque::from([File::open(path).expect("it is there")]);
            String::from_utf8(last_lines(&mut files, lines).expect("it is readable")).expect("it is text")
        };
        assert_eq!([tail(0), tail(1), tail(2), tail(9)], ["", "three\n", "two\nthree\n", "one\ntwo\nthree\n"]);
    }
}
