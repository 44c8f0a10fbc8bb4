//! A run that failed is made shorter: deeds are left out, halves first, as long as it still fails in the same way.

use super::{Broken, Options, history::History};

/// Worlds that are played for it at most.
const TRIES: u32 = 300;

pub(super) fn shorten(options: &Options, broken: Broken) -> Broken {
    let mut history = History::of(options, broken.seed);
    history.commands = u32::try_from(broken.commands).unwrap_or(options.commands);
    let mut needed: Vec<u32> = (0..history.commands).collect();
    let mut shortest = broken;
    let mut tries = 0;
    let mut size = needed.len().div_ceil(2);
    while size > 0 && tries < TRIES {
        let mut at = 0;
        while at < needed.len() && tries < TRIES {
            tries += 1;
            let fewer: Vec<u32> = [&needed[..at], &needed[(at + size).min(needed.len())..]].concat();
            history.left_out = (0..history.commands).filter(|step| fewer.binary_search(step).is_err()).collect();
            match history.play().broken.filter(|now| alike(&now.what, &shortest.what)) {
                Some(now) => {
                    needed = fewer;
                    shortest = now;
                }
                None => at += size,
            }
        }
        size /= 2;
    }
    Broken { needed, ..shortest }
}

/// The same finding about other numbers.
fn alike(a: &str, b: &str) -> bool {
    let words = |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).take(30).collect() };
    words(a) == words(b)
}
