//! The clock of bills: the wall clock once, at the start, and monotonic from there on.

use std::time::{Instant, SystemTime, UNIX_EPOCH};
use units::Time;

/// Tells the time. A step of the machine's wall clock while we run changes no bill.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    base: Time,
    started: Instant,
}

impl Clock {
    /// A clock set by the machine's.
    pub fn start() -> Clock {
        Clock { base: wall(), started: Instant::now() }
    }

    /// The same clock, set forward if it is behind `time`: a machine whose wall clock was set back while we were down must
    /// not stand still until it catches up with the last entry.
    pub fn not_before(self, time: Time) -> Clock {
        let behind = time.since(self.now()).max(0);
        Clock { base: self.base.plus_ms(behind), ..self }
    }

    /// The time now.
    pub fn now(&self) -> Time {
        let elapsed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.base.plus_ms(elapsed)
    }

    /// How far the machine's wall clock has moved away from this one, in milliseconds. For `doctor` and metrics.
    pub fn drift_ms(&self) -> i64 {
        wall().since(self.now())
    }
}

fn wall() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    Time(i64::try_from(since).unwrap_or(i64::MAX))
}
