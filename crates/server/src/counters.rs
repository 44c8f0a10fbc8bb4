//! How many requests were answered how, and how long they took.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Upper bounds of the buckets in seconds: from a read out of memory to a long poll.
pub(crate) const BOUNDS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 30.0];

/// Counters since the process began.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// By the first digit of the status.
    pub statuses: [AtomicU64; 6],
    /// Requests that took no longer than the bound, each counted once.
    pub buckets: [AtomicU64; BOUNDS.len()],
    /// All time spent, in microseconds.
    pub micros: AtomicU64,
}

impl Counters {
    /// One request was answered.
    pub fn count(&self, status: u16, took: Duration) {
        self.statuses[usize::from(status / 100).min(5)].fetch_add(1, Relaxed);
        let seconds = took.as_secs_f64();
        if let Some(at) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            self.buckets[at].fetch_add(1, Relaxed);
        }
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Relaxed);
    }
}
