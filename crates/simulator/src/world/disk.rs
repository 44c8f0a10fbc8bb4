//! The disk under the control plane: a journal in memory that outlives its writers, and fails when told to.

use super::Sabotage;
use journal::{Batch, Failure, Hash, Head, Keys, Memory, Pairs, Repeat, Source, Store, Stored, tile::TileId};
use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard},
};
use units::{Owner, Time};

/// How an append fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskFault {
    /// Nothing is written, and the same call may succeed later: the disk is full.
    Full,
    /// Nothing is written, and the writer cannot know it.
    Lost,
    /// All is written, and the writer cannot know it.
    Unconfirmed,
}

/// One disk; clones are handles to it.
#[derive(Clone)]
pub(crate) struct Disk {
    keys: Keys,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    memory: Memory,
    /// What the next appends run into.
    faults: Vec<DiskFault>,
    /// An append failed so that nobody knows what is written: only a new writer may go on.
    stopped: bool,
    sabotage: Option<Sabotage>,
    /// Something else was written than was asked for.
    tampered: bool,
}

impl Disk {
    pub fn new(seed: u64, sabotage: Option<Sabotage>) -> Disk {
        let keys = Keys::from_seed(seed);
        let memory = Memory::new(keys.clone());
        let inner = Inner { memory, faults: Vec::new(), stopped: false, sabotage, tampered: false };
        Disk { keys, inner: Arc::new(Mutex::new(inner)) }
    }

    /// The next appends fail so, in this order.
    pub fn fail(&self, faults: impl IntoIterator<Item = DiskFault>) {
        self.lock().faults.extend(faults);
    }

    /// No append fails any more.
    pub fn heal(&self) {
        self.lock().faults.clear();
    }

    /// A new writer opens it.
    pub fn reopen(&self) {
        self.lock().stopped = false;
    }

    /// Whether something else was written than was asked for, since this was last asked.
    pub fn take_tampered(&self) -> bool {
        std::mem::take(&mut self.lock().tampered)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while holding the disk")
    }
}

impl Inner {
    fn append(&mut self, batch: &Batch) -> Result<Head, Failure> {
        if self.stopped {
            return Err(Failure::Stopped);
        }
        let fault = if self.faults.is_empty() { None } else { Some(self.faults.remove(0)) };
        let changed = self.sabotage.and_then(|sabotage| sabotage.rewrite(batch));
        self.tampered |= changed.is_some();
        let batch = changed.as_ref().unwrap_or(batch);
        match fault {
            // Not the furnishing of the world, which is one large batch.
            None if self.sabotage == Some(Sabotage::LoseAppend) && (2..9).contains(&batch.entries.len()) => {
                Ok(self.memory.head())
            }
            None => self.memory.append(batch),
            Some(DiskFault::Full) => Err(storage(true)),
            Some(DiskFault::Lost) => {
                self.stopped = true;
                Err(storage(false))
            }
            Some(DiskFault::Unconfirmed) => {
                self.stopped = true;
                self.memory.append(batch).and(Err(storage(false)))
            }
        }
    }
}

fn storage(retryable: bool) -> Failure {
    Failure::Storage { doing: "appending to the simulated disk", retryable, cause: "it was told to fail".into() }
}

impl Source for Disk {
    fn size(&self) -> Result<u64, Failure> {
        self.lock().memory.size()
    }

    fn read(&self, from: u64, visit: &mut dyn FnMut(Stored<'_>) -> ControlFlow<()>) -> Result<(), Failure> {
        self.lock().memory.read(from, visit)
    }

    fn tile(&self, id: TileId) -> Result<Vec<Hash>, Failure> {
        self.lock().memory.tile(id)
    }

    fn directory_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        self.lock().memory.directory_get(key)
    }

    fn directory_scan(&self, prefix: &[u8]) -> Result<Pairs, Failure> {
        self.lock().memory.directory_scan(prefix)
    }

    fn checkpoints(&self) -> Result<Vec<(u64, String)>, Failure> {
        self.lock().memory.checkpoints()
    }
}

impl Store for Disk {
    fn repeat(&self, owner: Owner, key: &Hash) -> Result<Option<Repeat>, Failure> {
        let inner = self.lock();
        if inner.sabotage == Some(Sabotage::ForgetRepeats) { Ok(None) } else { inner.memory.repeat(owner, key) }
    }

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn head(&self) -> Head {
        self.lock().memory.head()
    }

    fn append(&mut self, batch: &Batch) -> Result<Head, Failure> {
        self.lock().append(batch)
    }

    fn prune_repeats(&mut self, before: Time) -> Result<u64, Failure> {
        self.lock().memory.prune_repeats(before)
    }

    fn keep_checkpoint(&mut self, size: u64, signed: &str) -> Result<(), Failure> {
        self.lock().memory.keep_checkpoint(size, signed)
    }
}
