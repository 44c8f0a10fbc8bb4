//! What every store keeps: entries in order, hash tiles, the directory, the repeats; and what it promises.

use crate::{Entry, Failure, Hash, Header, Keys, Stored, tile::TileId};
use std::ops::ControlFlow;
use units::{Owner, Time};

/// Where the log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of entries, which is the seq of the last one.
    pub size: u64,
    /// Merkle tree hash over all of them.
    pub root: Hash,
    /// Time of the last entry; `None` while there is none.
    pub time: Option<Time>,
    /// Epoch of the last entry; 0 while there is none.
    pub epoch: u64,
}

impl Head {
    /// The seq that the next entry must carry.
    pub fn next(&self) -> u64 {
        self.size + 1
    }

    /// Checks that `header` may follow, and moves `size`, `time` and `epoch` (not `root`) past it.
    pub(crate) fn advance(&mut self, header: &Header, keys: &Keys) -> Result<(), Failure> {
        let (seq, expected) = (header.seq, self.next());
        if header.epoch < self.epoch {
            return Err(Failure::Fenced { given: header.epoch, current: self.epoch });
        }
        if seq != expected {
            return Err(Failure::NotNext { given: seq, expected });
        }
        if header.log != keys.log() {
            return Err(Failure::ForeignLog { seq });
        }
        if let Some(last) = self.time.filter(|last| header.time < *last) {
            return Err(Failure::TimeWentBack { seq, given: header.time, last });
        }
        *self = Head { size: seq, root: self.root, time: Some(header.time), epoch: header.epoch };
        Ok(())
    }
}

/// A change of the directory: an opaque key-value table beside the log, erasable, not hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Sets `key` to `value`.
    Put {
        /// The key, ordered by its bytes.
        key: Vec<u8>,
        /// What it is to hold.
        value: Vec<u8>,
    },
    /// Removes `key`, if it is there.
    Delete {
        /// The key.
        key: Vec<u8>,
    },
}

/// That an owner's request was answered by an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    /// Who asked.
    pub owner: Owner,
    /// SHA-256 of the idempotency key.
    pub key: Hash,
    /// SHA-256 of the request.
    pub request: Hash,
    /// The entry that answers it.
    pub seq: u64,
    /// Time of that entry, by which old repeats are pruned.
    pub time: Time,
}

/// What one append writes, all or nothing. Entries may be none.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The next entries, in order.
    pub entries: Vec<Entry>,
    /// Changes of the directory, applied in order.
    pub directory: Vec<Change>,
    /// New repeats, of entries of this batch, at most one of each. One with the same owner and key takes the other's place.
    pub repeats: Vec<Repeat>,
}

impl Batch {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.directory.is_empty() && self.repeats.is_empty()
    }
}

/// Keys and values of the directory, ordered by key.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// What can be read of a log. A store gives what is committed; so does a [`crate::Reader`] beside it.
pub trait Source {
    /// Number of entries.
    fn size(&self) -> Result<u64, Failure>;

    /// Shows the entries from `from` on (1 is the first) in order, until `visit` breaks or there are no more.
    ///
    /// A damaged row ends the reading with [`Failure::Damaged`], the last one, if incomplete, with [`Failure::Torn`].
    fn read(&self, from: u64, visit: &mut dyn FnMut(Stored<'_>) -> ControlFlow<()>) -> Result<(), Failure>;

    /// The hashes of a tile: 256, or fewer if it is the last of its level, or none if it does not exist.
    fn tile(&self, id: TileId) -> Result<Vec<Hash>, Failure>;

    /// What the directory holds under `key`.
    fn directory_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure>;

    /// Everything in the directory whose key begins with `prefix`, ordered by key.
    fn directory_scan(&self, prefix: &[u8]) -> Result<Pairs, Failure>;

    /// The signed checkpoints kept in the store, by size.
    fn checkpoints(&self) -> Result<Vec<(u64, String)>, Failure>;
}

/// A log that can be appended to. There is one writer.
pub trait Store: Source + Send {
    /// The keys of this log.
    fn keys(&self) -> &Keys;

    /// Where the log ends, as far as it is durable.
    fn head(&self) -> Head;

    /// Writes the batch in one transaction. It is durable when this returns `Ok`, and the new head is given.
    ///
    /// Refused without writing anything: an entry that is not the next ([`Failure::NotNext`]), of an older epoch
    /// ([`Failure::Fenced`]), of another log, or earlier than the one before. If the disk fails, nothing of the
    /// batch is readable here; unless the failure is retryable, it is open whether it will be there after a
    /// restart, and further appends answer [`Failure::Stopped`].
    fn append(&mut self, batch: &Batch) -> Result<Head, Failure>;

    /// Which request of this owner came with the idempotency key of hash `key`, and the entry that answered it.
    fn repeat(&self, owner: Owner, key: &Hash) -> Result<Option<Repeat>, Failure>;

    /// Forgets the repeats of entries before `before`, and says how many.
    fn prune_repeats(&mut self, before: Time) -> Result<u64, Failure>;

    /// Keeps a signed checkpoint of `size` entries, so that later verification checks against it.
    fn keep_checkpoint(&mut self, size: u64, signed: &str) -> Result<(), Failure>;
}
