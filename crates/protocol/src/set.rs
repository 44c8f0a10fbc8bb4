//! Which set of assignments is meant: generations, instances, and the digest by which two sides compare sets.

use crate::Poll;
use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Assignment, LeaseId, NodeId, Wanted};

/// How far an agent's set of assignments goes. Later generations are greater.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Generation {
    /// The writer's term of office: rises with each change of leader.
    pub epoch: u64,
    /// Sequence number of the last entry it reflects.
    pub seq: u64,
}

impl Generation {
    /// Before anything was heard.
    pub const NONE: Generation = Generation { epoch: 0, seq: 0 };

    /// Whether a set of this generation can know of a workload born under `born`. A restored journal has a higher
    /// epoch but may have lost the last entries: both numbers must have been reached.
    pub fn covers(self, born: Generation) -> bool {
        self.epoch >= born.epoch && self.seq >= born.seq
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.seq)
    }
}

/// One attempt of one lease on one node: what an agent starts, watches and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instance {
    /// The lease.
    pub lease: LeaseId,
    /// Which start of it.
    pub attempt: u32,
    /// Where.
    pub node: NodeId,
}

impl Instance {
    /// The instance that an assignment is about.
    pub fn of(assignment: &Assignment) -> Instance {
        Instance { lease: assignment.lease, attempt: assignment.attempt, node: assignment.grant.node }
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}@{}", self.lease, self.attempt, self.node)
    }
}

/// The digest of a set of assignments: independent of their order, and updated by XOR of one [`fingerprint`].
pub fn digest<'a>(set: impl IntoIterator<Item = &'a Assignment>) -> u64 {
    set.into_iter().fold(0, |sum, a| sum ^ fingerprint(Instance::of(a), a.wanted))
}

/// What one assignment adds to a [`digest`]: 64 bits that are the same on every machine and in every release.
pub fn fingerprint(instance: Instance, wanted: Wanted) -> u64 {
    let wanted = match wanted {
        Wanted::Run => 1,
        Wanted::End => 2,
    };
    let fields = [instance.lease.0, u64::from(instance.attempt), instance.node.0, wanted];
    fields.into_iter().fold(0, |state, field| mix(state ^ field))
}

/// One step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Whether a poll must be answered with the full set. `current` and `digest` are the server's, `changed` whether
/// any assignment of this agent changed after the poll's generation.
///
/// A set that lost members without a change that tells of it is found by the digest once nothing else is new.
pub fn needs_full_set(poll: &Poll, current: Generation, digest: u64, changed: bool) -> bool {
    poll.generation == Generation::NONE
        || poll.generation.epoch != current.epoch
        || poll.generation.seq > current.seq
        || (!changed && poll.digest != digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::{AgentId, Grant, Time};

    fn assignment(lease: u64, attempt: u32, node: u64, wanted: Wanted) -> Assignment {
        let grant = Grant { node: NodeId(node), cpu_milli: 0, memory_mib: 0, slices: vec![], exclusive: false };
        Assignment { lease: LeaseId(lease), attempt, changed: 0, wanted, grant }
    }

    #[test]
    fn the_digest_is_the_same_on_every_machine() {
        // Agents of one release talk to servers of another: this figure may never change.
        assert_eq!(digest(&[assignment(1042, 1, 3, Wanted::Run)]), 12_490_356_243_911_830_103);
        assert_eq!(digest(&[]), 0);
    }

    proptest! {
        #[test]
        fn the_digest_ignores_order_and_notices_any_change(lease in 0u64..1 << 40, attempt in 0u32..1000, node in 0u64..1 << 20) {
            let one = assignment(lease, attempt, node, Wanted::Run);
            let other = assignment(lease + 1, attempt, node, Wanted::Run);
            prop_assert_eq!(digest([&one, &other]), digest([&other, &one]));
            for changed in [
                assignment(lease, attempt, node, Wanted::End),
                assignment(lease, attempt + 1, node, Wanted::Run),
                assignment(lease, attempt, node + 1, Wanted::Run),
            ] {
                prop_assert_ne!(digest([&one, &other]), digest([&changed, &other]));
            }
        }
    }

    #[test]
    fn a_poll_that_cannot_be_continued_gets_the_full_set() {
        let current = Generation { epoch: 2, seq: 50 };
        let poll = |epoch, seq| Poll { agent: AgentId(1), generation: Generation { epoch, seq }, digest: 7, clock: Time(0) };
        assert!(needs_full_set(&poll(0, 0), current, 7, true), "never heard anything");
        assert!(needs_full_set(&poll(1, 50), current, 7, false), "another leader");
        assert!(needs_full_set(&poll(2, 51), current, 7, false), "ahead of the server");
        assert!(needs_full_set(&poll(2, 50), current, 8, false), "holds something else");
        assert!(!needs_full_set(&poll(2, 49), current, 8, true), "changes first, then the digest");
        assert!(!needs_full_set(&poll(2, 50), current, 7, false));
    }

    #[test]
    fn a_restored_journal_does_not_cover_what_it_has_forgotten() {
        let born = Generation { epoch: 3, seq: 100 };
        assert!(Generation { epoch: 4, seq: 100 }.covers(born));
        assert!(!Generation { epoch: 4, seq: 90 }.covers(born));
        assert!(!Generation { epoch: 2, seq: 200 }.covers(born));
    }
}
