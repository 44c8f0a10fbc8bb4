//! What others may see while the writer works: only what is durable.

use crate::{Liveness, recent::Recent};
use journal::Head;
use rental::State;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::watch;
use units::KeyId;

/// Shared between the writer and its readers.
pub(crate) struct Published {
    state: RwLock<State>,
    secrets: RwLock<FxHashMap<[u8; 32], KeyId>>,
    liveness: Mutex<Liveness>,
    stopped: RwLock<Option<String>>,
    pub head: watch::Sender<Head>,
    pub recent: Recent,
}

impl Published {
    pub fn new(state: State, secrets: FxHashMap<[u8; 32], KeyId>, head: Head) -> Published {
        Published {
            state: RwLock::new(state),
            secrets: RwLock::new(secrets),
            liveness: Mutex::default(),
            stopped: RwLock::default(),
            head: watch::Sender::new(head),
            recent: Recent::default(),
        }
    }

    pub fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().expect(UNPOISONED)
    }

    pub fn change(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().expect(UNPOISONED)
    }

    pub fn liveness(&self) -> MutexGuard<'_, Liveness> {
        self.liveness.lock().expect(UNPOISONED)
    }

    pub fn secret(&self, hash: &[u8; 32]) -> Option<KeyId> {
        self.secrets.read().expect(UNPOISONED).get(hash).copied()
    }

    pub fn add_secrets(&self, new: impl IntoIterator<Item = ([u8; 32], KeyId)>) {
        let mut new = new.into_iter().peekable();
        if new.peek().is_some() {
            self.secrets.write().expect(UNPOISONED).extend(new);
        }
    }

    pub fn stopped(&self) -> Option<String> {
        self.stopped.read().expect(UNPOISONED).clone()
    }

    /// Says why nothing can be written, or with `None` that it can.
    pub fn stop(&self, why: Option<String>) {
        *self.stopped.write().expect(UNPOISONED) = why;
    }
}

/// A panic of the writer ends the process; nobody goes on with a half-changed state.
const UNPOISONED: &str = "whoever panics while changing this takes the process down";
