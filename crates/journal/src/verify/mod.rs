//! Checks a log, and names what is wrong by entry and part.
//!
//! | given | what is checked |
//! | --- | --- |
//! | [`folder`]: a data folder with its keys | every stored byte: frames, part hashes (with the log secret), leaf data, all tiles, kept checkpoints; and the order below |
//! | [`bundle`]: an owner's exported parts | part hash, leaf hash, proof, checkpoint signature; the order of this owner's parts |
//! | [`site`], [`directory`]: a published log | checkpoint signature, leaf data against every tile, tiles against the root |
//!
//! Order: seq counts 1, 2, 3 …; time and epoch never decrease; one part per owner; a part repeats its entry's seq and
//! time; an owner's `part_seq` counts 1, 2, 3 … over the log, so that nothing is left out.
//!
//! Nothing here needs a server or knows what an event means.

mod bundle;
mod folder;
mod order;
mod site;

pub use bundle::bundle;
pub use folder::folder;
pub use order::PartStart;
pub use site::{Fetch, directory, site};

use crate::{Hash, Place};
use std::fmt;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The entry; of a tile above the leaves the first entry beneath; `None` if it concerns the whole.
    pub seq: Option<u64>,
    /// What of it.
    pub place: Place,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seq {
            Some(seq) => write!(f, "entry {seq}, {}: {}", self.place, self.what),
            None => write!(f, "{}: {}", self.place, self.what),
        }
    }
}

/// What was checked and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Name of the log, such as `suanzu/<log id>`.
    pub origin: String,
    /// Entries of the log, as far as it was checked.
    pub size: u64,
    /// Merkle tree hash over them, as computed here or, for a bundle, as signed.
    pub root: Option<Hash>,
    /// Parts whose bytes were checked.
    pub parts: u64,
    /// Checkpoints whose signature and root hold.
    pub checkpoints: u64,
    /// Everything that is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn sound(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, seq: impl Into<Option<u64>>, place: Place, what: impl Into<String>) {
        self.findings.push(Finding { seq: seq.into(), place, what: what.into() });
    }
}
