//! The rules of the house that an operator may set.

use crate::Refusal;
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// Settings that decisions read. All durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Policy {
    /// How long a lease runs on, charged as debt, after balance and credit ended. 0: it is stopped at once.
    #[n(0)]
    pub arrears_grace_ms: i64,
    /// Least compute of a share, in permille of a card.
    #[n(1)]
    pub share_compute: u32,
    /// Least memory of a share, in MiB.
    #[n(2)]
    pub share_memory_mib: u32,
    /// Once the head of the queue has waited so long, nobody behind it is let in before it.
    #[n(3)]
    pub queue_bound_ms: i64,
    /// A node not heard of for so long is not offered any more.
    #[n(4)]
    pub unseen_after_ms: i64,
    /// A node not heard of for so long has lost its leases. 0: only the operator gives them up.
    #[n(5)]
    pub lost_after_ms: i64,
    /// A node whose clock is off by more takes no new lease.
    #[n(6)]
    pub clock_off_ms: i64,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            arrears_grace_ms: 0,
            // HAMi's usual floor; see the placement page of the design.
            share_compute: 100,
            share_memory_mib: 4096,
            // A day: long enough that a large gang rarely blocks small ones, short enough that nobody starves.
            queue_bound_ms: 24 * 3_600_000,
            unseen_after_ms: 60_000,
            lost_after_ms: 0,
            clock_off_ms: 5_000,
        }
    }
}

impl Policy {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let durations = [self.arrears_grace_ms, self.queue_bound_ms, self.unseen_after_ms, self.lost_after_ms, self.clock_off_ms];
        if durations.iter().any(|ms| !(0..=i64::MAX / 4).contains(ms)) {
            return Err(Refusal::invalid("policy", "durations are milliseconds, zero or more"));
        }
        if self.share_compute > 1000 {
            return Err(Refusal::invalid("share_compute", "a permille of a card is at most 1000"));
        }
        Ok(())
    }
}
