//! What can go wrong below the core: disks, damaged bytes, a writer that is not the leader.

use std::{error::Error, fmt, path::PathBuf};
use units::{Owner, Time};

/// Where in the log something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The frame around an entry: its length, checksum or the list of parts.
    Frame,
    /// The entry's header.
    Header,
    /// The part of this owner.
    Part(Owner),
    /// The entry's leaf data, the hashes of header and parts.
    LeafData,
    /// The entry's place in a hash tile.
    Tile {
        /// Level of the tile, 0 over the leaves.
        level: u8,
        /// Number of the tile within its level.
        number: u64,
    },
    /// A signed checkpoint.
    Checkpoint,
    /// The proof that leads to the checkpoint.
    Proof,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Frame => f.write_str("frame"),
            Place::Header => f.write_str("header"),
            Place::Part(owner) => write!(f, "part of {owner}"),
            Place::LeafData => f.write_str("leaf data"),
            Place::Tile { level, number } => write!(f, "tile {level}/{number}"),
            Place::Checkpoint => f.write_str("checkpoint"),
            Place::Proof => f.write_str("proof"),
        }
    }
}

/// Why a store, a proof or a key file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The entry offered is not the next one: another writer was here, or the caller's State is behind.
    #[error("entry {given} was offered where {expected} is next")]
    NotNext {
        /// The seq that was offered.
        given: u64,
        /// The seq that is next.
        expected: u64,
    },
    /// A newer leadership has written.
    #[error("epoch {given} is over: the log is in epoch {current}")]
    Fenced {
        /// The epoch of the entry offered.
        given: u64,
        /// The epoch of the last entry.
        current: u64,
    },
    /// The entry is earlier than the one before it.
    #[error("entry {seq} is dated {given}, before the {last} of the entry before it")]
    TimeWentBack {
        /// The entry offered.
        seq: u64,
        /// Its time.
        given: Time,
        /// The time of the entry before it.
        last: Time,
    },
    /// The entry belongs to another log.
    #[error("entry {seq} carries the id of another log")]
    ForeignLog {
        /// The entry offered.
        seq: u64,
    },
    /// The last record is incomplete: it was being written when the power went.
    #[error("the last entry, {seq}, is torn")]
    Torn {
        /// The entry that is incomplete.
        seq: u64,
    },
    /// Stored bytes are not what was written.
    #[error("entry {seq}, {place}: {what}")]
    Damaged {
        /// The entry.
        seq: u64,
        /// Which of its bytes.
        place: Place,
        /// What is wrong with them.
        what: String,
    },
    /// Another process writes here.
    #[error("another process has {} open for writing", folder.display())]
    InUse {
        /// The data folder.
        folder: PathBuf,
    },
    /// The key files are missing, unreadable or those of another log.
    #[error("keys in {}: {what}", folder.display())]
    Keys {
        /// The folder of the key files.
        folder: PathBuf,
        /// What is wrong with them.
        what: String,
    },
    /// An earlier append failed in a way that leaves open what the disk holds; reopen the store.
    #[error("the store stopped after a failed append; reopen it")]
    Stopped,
    /// A text is no note, checkpoint or bundle, or its signature does not hold.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// The disk or the database failed.
    #[error("{doing}: {cause}")]
    Storage {
        /// What was being done.
        doing: &'static str,
        /// Whether the same call may succeed later (disk full, busy); if not, stop and look.
        retryable: bool,
        /// The cause.
        cause: Box<dyn Error + Send + Sync>,
    },
}

impl Failure {
    /// Whether the same call may succeed later without anybody repairing anything.
    pub fn retryable(&self) -> bool {
        matches!(self, Failure::Storage { retryable: true, .. } | Failure::InUse { .. })
    }

    pub(crate) fn damaged(seq: u64, place: Place, what: impl fmt::Display) -> Failure {
        Failure::Damaged { seq, place, what: what.to_string() }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Failure {
        Failure::Invalid { what: what.into() }
    }

    pub(crate) fn io(doing: &'static str, source: std::io::Error) -> Failure {
        Failure::Storage { doing, retryable: source.kind() == std::io::ErrorKind::StorageFull, cause: source.into() }
    }
}
