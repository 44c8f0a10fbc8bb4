//! The node's own clock: milliseconds since it was started, suspended time included, and which start that was.
//!
//! Deadlines and ages of workloads are kept in it, so that setting the wall clock neither ends nor spares anything.

use rustix::time::{ClockId, clock_gettime};
use std::fs;

/// Milliseconds since this machine was started.
pub(crate) fn since_boot_ms() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let ms = time.tv_sec * 1_000 + time.tv_nsec / 1_000_000;
    u64::try_from(ms).expect("time since the start is not negative")
}

/// Milliseconds since 1970 by the wall clock. For what another start of the machine must understand, and for nothing else.
pub(crate) fn wall_ms() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    // A clock before 1970 has never been set.
    u64::try_from(time.tv_sec * 1_000 + time.tv_nsec / 1_000_000).unwrap_or(0)
}

/// The name the kernel gave this start of the machine; empty where it gives none.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}
