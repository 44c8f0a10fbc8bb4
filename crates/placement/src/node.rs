//! One node's books: CPU, memory, cards and how many grants stand on it.

use crate::{NodeStatus, card::Card};
use serde::{Deserialize, Serialize};
use units::{DeviceId, Grant, NodeId, PoolId};

/// A divisible resource of a node (CPU in thousandths of a core, or memory in MiB).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// All of it.
    pub total: u32,
    /// Held by leases.
    pub taken: u32,
    /// Given back by leases, not yet measured clean.
    pub unclean: u32,
}

impl Amount {
    pub(crate) fn new(total: u32) -> Amount {
        Amount { total, taken: 0, unclean: 0 }
    }

    /// What can still be placed.
    pub fn left(self) -> u32 {
        self.total - self.taken - self.unclean
    }

    fn take(&mut self, much: u32) {
        assert!(much <= self.left(), "never over-committed: {much} of {self:?}");
        self.taken += much;
    }

    fn free(&mut self, much: u32) {
        self.taken = self.taken.checked_sub(much).expect("only what was taken is freed");
        self.unclean += much;
    }

    fn clear(&mut self, much: u32) {
        self.unclean = self.unclean.checked_sub(much).expect("only what was freed is cleared");
    }
}

/// One node as the fleet counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub id: NodeId,
    pub pool: PoolId,
    pub status: NodeStatus,
    /// Indices of the fleet's labels.
    pub labels: Vec<u32>,
    pub cpu: Amount,
    pub memory: Amount,
    /// Grants that leases hold here.
    pub taken_grants: u32,
    /// Grants that were freed here and are not yet measured clean.
    pub unclean_grants: u32,
    /// The one grant that stands here is for the whole server.
    pub exclusive: bool,
    /// Ascending by id.
    pub cards: Vec<Card>,
}

impl Node {
    pub fn is_empty(&self) -> bool {
        self.taken_grants == 0 && self.unclean_grants == 0
    }

    pub fn card(&self, id: DeviceId) -> Option<&Card> {
        let at = self.cards.binary_search_by_key(&id, |c| c.id).ok()?;
        Some(&self.cards[at])
    }

    pub fn card_mut(&mut self, id: DeviceId) -> &mut Card {
        let at = self.cards.binary_search_by_key(&id, |c| c.id).expect("a slice names a device of its node");
        &mut self.cards[at]
    }

    pub fn take(&mut self, grant: &Grant) {
        assert!(!self.exclusive, "nothing is placed beside an exclusive grant on {}", self.id);
        assert!(!grant.exclusive || self.is_empty(), "only an empty node is taken exclusively: {}", self.id);
        self.cpu.take(grant.cpu_milli);
        self.memory.take(grant.memory_mib);
        for slice in &grant.slices {
            self.card_mut(slice.device).take(slice.share);
        }
        self.taken_grants += 1;
        self.exclusive = grant.exclusive;
    }

    pub fn free(&mut self, grant: &Grant) {
        self.cpu.free(grant.cpu_milli);
        self.memory.free(grant.memory_mib);
        for slice in &grant.slices {
            self.card_mut(slice.device).free(slice.share);
        }
        self.taken_grants = self.taken_grants.checked_sub(1).expect("only what was taken is freed");
        self.unclean_grants += 1;
    }

    pub fn clear(&mut self, grant: &Grant) {
        self.cpu.clear(grant.cpu_milli);
        self.memory.clear(grant.memory_mib);
        for slice in &grant.slices {
            self.card_mut(slice.device).clear(slice.share);
        }
        self.unclean_grants = self.unclean_grants.checked_sub(1).expect("only what was freed is cleared");
        self.exclusive = false;
    }
}
