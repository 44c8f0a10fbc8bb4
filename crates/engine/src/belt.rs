//! A belt between two threads: loads go over full and come back to be filled again. Memory that one thread takes and another
//! frees costs more than what is done with it here.

use std::{
    mem,
    sync::mpsc::{self, Receiver, Sender, SyncSender},
};

/// Loads that may wait: bounds the memory where the taker is slower.
const AHEAD: usize = 8;

pub(crate) fn belt<T: Default>() -> (Giver<T>, Taker<T>) {
    let (give, full) = mpsc::sync_channel(AHEAD);
    let (give_back, used) = mpsc::channel();
    (Giver { full: give, used }, Taker { full, used: give_back })
}

/// Who fills.
pub(crate) struct Giver<T> {
    full: SyncSender<T>,
    used: Receiver<T>,
}

impl<T: Default> Giver<T> {
    /// Hands a load over and takes one to fill, `emptied` if it was used before. `false`: nobody takes any more.
    pub fn hand_over(&self, load: &mut T, emptied: impl FnOnce(&mut T)) -> bool {
        let mut empty = self.used.try_recv().unwrap_or_default();
        emptied(&mut empty);
        self.full.send(mem::replace(load, empty)).is_ok()
    }
}

/// Who takes what was filled.
pub(crate) struct Taker<T> {
    full: Receiver<T>,
    used: Sender<T>,
}

impl<T> Taker<T> {
    /// The next load; `None` once the giver is gone.
    pub fn take(&self) -> Option<T> {
        self.full.recv().ok()
    }

    /// Gives a load back, to be filled again.
    pub fn give_back(&self, load: T) {
        // A closed channel means that all is given.
        let _ = self.used.send(load);
    }
}
