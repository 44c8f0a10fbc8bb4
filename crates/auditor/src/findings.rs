//! What is wrong, entry by entry.

use std::fmt;
use units::Owner;

/// Findings kept in full; of a journal that is wrong throughout, the first ones say how.
const MOST: usize = 1_000;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Finding {
    /// The entry that shows it.
    pub seq: u64,
    /// Whose part; `None` if it concerns the entry as a whole.
    pub owner: Option<Owner>,
    /// What is wrong, in one sentence.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.owner {
            Some(owner) => write!(f, "entry {}, {owner}: {}", self.seq, self.what),
            None => write!(f, "entry {}: {}", self.seq, self.what),
        }
    }
}

/// Collects findings under the entry and the part that are being read.
#[derive(Default)]
pub(crate) struct Findings {
    pub seq: u64,
    pub owner: Option<Owner>,
    pub all: Vec<Finding>,
    pub left_out: u64,
    first: Option<Finding>,
}

impl Findings {
    /// Begins an entry.
    pub fn begin(&mut self, seq: u64) {
        self.seq = seq;
        self.owner = None;
        self.first = None;
    }

    /// The first finding since the entry began.
    pub fn take_first(&mut self) -> Option<Finding> {
        self.first.take()
    }

    /// Says that something is wrong.
    pub fn wrong(&mut self, what: impl Into<String>) {
        let finding = Finding { seq: self.seq, owner: self.owner, what: what.into() };
        if self.first.is_none() {
            self.first = Some(finding.clone());
        }
        if self.all.len() < MOST {
            self.all.push(finding);
        } else {
            self.left_out += 1;
        }
    }

    /// Says so unless it holds.
    pub fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.wrong(what());
        }
    }
}
