//! The simulated disk: files as the running process sees them, and what of them would survive.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

const SECTOR: usize = 512;

/// The power is off, or went during the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PowerOff;

/// A simulated disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct Disk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(super) struct State {
    files: BTreeMap<String, File>,
    // Counts restarts: a file opened before the last one is dead.
    power: u64,
    off: bool,
    // Writes, syncs and the like until the power goes.
    left: Option<u64>,
    done: u64,
    opened: u64,
    // Bytes that fit on it.
    room: Option<usize>,
    // Shared memory of before a restart: dead connections may still look at it.
    old_memory: Vec<Region>,
}

/// A region of shared memory.
pub(super) type Region = Box<[AtomicU64]>;

#[derive(Default)]
struct File {
    now: Vec<u8>,
    // What is safe; `None` until the file is first synced.
    synced: Option<Vec<u8>>,
    unsynced: Vec<Change>,
    locks: BTreeMap<u64, i32>,
    memory: Vec<Region>,
    memory_users: BTreeSet<u64>,
    // Slot, user, exclusive.
    memory_locks: Vec<(i32, u64, bool)>,
}

enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Resize(usize),
}

/// A file that a connection has open.
pub(super) struct Handle {
    pub(super) disk: Disk,
    pub(super) name: String,
    pub(super) temporary: bool,
    id: u64,
    power: u64,
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Disk {
        Disk::default()
    }

    /// Lets the power go in the middle of the `operations`-th write, sync, truncation or deletion from now (1 is the next).
    pub fn cut_after(&self, operations: u64) {
        self.lock().left = Some(operations);
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.lock().off
    }

    /// Writes, syncs, truncations and deletions so far.
    pub fn operations(&self) -> u64 {
        self.lock().done
    }

    /// Lets it hold so many bytes in all; `None`: as many as memory.
    pub fn set_room(&self, bytes: Option<usize>) {
        self.lock().room = bytes;
    }

    /// Turns the power off, if it is not, and on again. What was not synced survives sector by sector, as `seed` has it.
    pub fn restart(&self, seed: u64) {
        let mut state = self.lock();
        let mut chance = Chance(seed);
        for file in state.files.values_mut() {
            file.lose(&mut chance);
        }
        let State { files, old_memory, .. } = &mut *state;
        for file in files.values_mut() {
            old_memory.append(&mut file.memory);
        }
        files.retain(|_, file| file.synced.is_some());
        (state.power, state.off, state.left) = (state.power + 1, false, None);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no call panics while it holds the disk")
    }

    pub(super) fn open(&self, name: Option<&str>, create: bool) -> Option<Handle> {
        let mut state = self.lock();
        state.opened += 1;
        let id = state.opened;
        let temporary = name.is_none();
        let name = name.map_or_else(|| format!("temporary-{id}"), Into::into);
        if state.off || !(create || state.files.contains_key(&name)) {
            return None;
        }
        state.files.entry(name.clone()).or_default();
        Some(Handle { disk: self.clone(), name, temporary, id, power: state.power })
    }

    pub(super) fn exists(&self, name: &str) -> bool {
        self.lock().files.contains_key(name)
    }

    pub(super) fn delete(&self, name: &str) -> Result<(), PowerOff> {
        let mut state = self.lock();
        state.operate()?;
        if let Some(mut file) = state.files.remove(name) {
            state.old_memory.append(&mut file.memory);
        }
        Ok(())
    }
}

impl State {
    /// Counts an operation that changes the disk; fails if the power goes at it.
    fn operate(&mut self) -> Result<(), PowerOff> {
        if self.off {
            return Err(PowerOff);
        }
        self.done += 1;
        if let Some(left) = &mut self.left {
            *left -= 1;
            self.off = *left == 0;
        }
        if self.off { Err(PowerOff) } else { Ok(()) }
    }
}

impl File {
    fn write(&mut self, at: usize, bytes: &[u8]) {
        put(&mut self.now, at, bytes);
        self.unsynced.push(Change::Write { at, bytes: bytes.into() });
    }

    /// Becomes what the disk holds after the power was off.
    fn lose(&mut self, chance: &mut Chance) {
        let survives = self.synced.is_some() || (!self.unsynced.is_empty() && chance.even());
        let mut now = self.synced.take().unwrap_or_default();
        for change in self.unsynced.drain(..) {
            match change {
                Change::Write { at, bytes } => {
                    let mut from = at;
                    while from < at + bytes.len() {
                        let until = ((from / SECTOR + 1) * SECTOR).min(at + bytes.len());
                        if chance.even() {
                            put(&mut now, from, &bytes[from - at..until - at]);
                        }
                        from = until;
                    }
                }
                Change::Resize(size) if chance.even() => now.resize(size, 0),
                Change::Resize(_) => {}
            }
        }
        self.synced = survives.then(|| now.clone());
        self.now = now;
        self.locks.clear();
        self.memory_users.clear();
        self.memory_locks.clear();
    }
}

fn put(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Splitmix64, so that a seed gives the same losses in every build.
struct Chance(u64);

impl Chance {
    fn even(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) & 1 == 1
    }
}

impl Handle {
    /// Runs `call` on the file while the power is on and has been since it was opened.
    fn with<T>(&self, call: impl FnOnce(&mut File) -> T) -> Result<T, PowerOff> {
        let mut state = self.disk.lock();
        if state.off || state.power != self.power {
            return Err(PowerOff);
        }
        Ok(call(state.files.entry(self.name.clone()).or_default()))
    }

    /// As [`Self::with`], for a call that changes the disk: if the power goes at it, it is begun but not acknowledged.
    fn change(&self, call: impl FnOnce(&mut File)) -> Result<(), PowerOff> {
        let mut state = self.disk.lock();
        if state.off || state.power != self.power {
            return Err(PowerOff);
        }
        let on = state.operate();
        call(state.files.entry(self.name.clone()).or_default());
        on
    }

    /// Fills `buffer` from `at` on and with zeros beyond the end; gives whether the file had that much.
    pub(super) fn read(&self, at: usize, buffer: &mut [u8]) -> Result<bool, PowerOff> {
        self.with(|file| {
            let from = at.min(file.now.len());
            let had = &file.now[from..(at + buffer.len()).min(file.now.len()).max(from)];
            buffer[..had.len()].copy_from_slice(had);
            buffer[had.len()..].fill(0);
            had.len() == buffer.len()
        })
    }

    /// Gives whether there was room for it.
    pub(super) fn write(&self, at: usize, bytes: &[u8]) -> Result<bool, PowerOff> {
        if !self.has_room(at + bytes.len()) {
            return Ok(false);
        }
        self.change(|file| file.write(at, bytes)).map(|()| true)
    }

    fn has_room(&self, end: usize) -> bool {
        let state = self.disk.lock();
        let sizes = state.files.iter().map(|(name, file)| match *name == self.name {
            true => file.now.len().max(end),
            false => file.now.len(),
        });
        state.room.is_none_or(|room| sizes.sum::<usize>() <= room)
    }

    pub(super) fn resize(&self, size: usize) -> Result<(), PowerOff> {
        self.change(|file| {
            file.now.resize(size, 0);
            file.unsynced.push(Change::Resize(size));
        })
    }

    pub(super) fn sync(&self) -> Result<(), PowerOff> {
        // A sync at which the power goes makes nothing safe, so the operation is counted first.
        self.change(|_| ())?;
        self.with(|file| {
            file.synced = Some(file.now.clone());
            file.unsynced.clear();
        })
    }

    pub(super) fn size(&self) -> Result<usize, PowerOff> {
        self.with(|file| file.now.len())
    }

    /// Takes the file lock of this level (SQLite's 1 to 4); `false` if another holds one that forbids it.
    pub(super) fn lock(&self, level: i32) -> Result<bool, PowerOff> {
        const SHARED: i32 = 1;
        const RESERVED: i32 = 2;
        const PENDING: i32 = 3;
        self.with(|file| {
            let others = file.locks.iter().filter(|(id, _)| **id != self.id).map(|(_, level)| *level).max().unwrap_or(0);
            let free = match level {
                SHARED => others < PENDING,
                RESERVED | PENDING => others < RESERVED,
                _ => others < SHARED,
            };
            if free {
                file.locks.insert(self.id, level);
            }
            free
        })
    }

    pub(super) fn unlock(&self, level: i32) -> Result<(), PowerOff> {
        self.with(|file| {
            file.locks.insert(self.id, level);
        })
    }

    pub(super) fn reserved(&self) -> Result<bool, PowerOff> {
        self.with(|file| file.locks.values().any(|level| *level >= 2))
    }

    /// The address of a region of shared memory; `None` if it is not there and is not to be made.
    pub(super) fn memory(&self, index: usize, bytes: usize, make: bool) -> Result<Option<*const AtomicU64>, PowerOff> {
        self.with(|file| {
            file.memory_users.insert(self.id);
            while make && file.memory.len() <= index {
                file.memory.push((0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect());
            }
            file.memory.get(index).map(|region| region.as_ptr())
        })
    }

    /// Takes locks on slots of shared memory; `false` if another holds one that forbids it.
    pub(super) fn lock_memory(&self, slots: std::ops::Range<i32>, exclusive: bool) -> Result<bool, PowerOff> {
        self.with(|file| {
            let forbids =
                |(slot, user, theirs): &(i32, u64, bool)| slots.contains(slot) && *user != self.id && (exclusive || *theirs);
            let free = !file.memory_locks.iter().any(forbids);
            if free {
                file.memory_locks.extend(slots.clone().map(|slot| (slot, self.id, exclusive)));
            }
            free
        })
    }

    pub(super) fn unlock_memory(&self, slots: std::ops::Range<i32>) -> Result<(), PowerOff> {
        self.with(|file| file.memory_locks.retain(|(slot, user, _)| *user != self.id || !slots.contains(slot)))
    }

    pub(super) fn leave_memory(&self) -> Result<(), PowerOff> {
        let old = self.with(|file| {
            file.memory_users.remove(&self.id);
            file.memory_locks.retain(|(_, user, _)| *user != self.id);
            if file.memory_users.is_empty() { std::mem::take(&mut file.memory) } else { Vec::new() }
        })?;
        self.disk.lock().old_memory.extend(old);
        Ok(())
    }

    /// Orders what was written to shared memory before what is read from it after.
    pub(super) fn memory_barrier(&self) {
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    pub(super) fn close(&self) {
        let closed = self.with(|file| file.locks.remove(&self.id));
        if self.temporary && closed.is_ok() {
            self.disk.lock().files.remove(&self.name);
        }
    }
}
