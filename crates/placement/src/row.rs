//! One node in one cache line: what a scan over the fleet needs to pass it by or keep it.

use crate::{NodeStatus, node::Node};
use serde::{Deserialize, Serialize};
use units::{NodeId, PoolId};

/// The kind of a node without devices.
pub(crate) const NO_KIND: u16 = u16::MAX;
/// The kind of a node whose devices differ; a scan then looks at them one by one.
pub(crate) const MIXED: u16 = u16::MAX - 1;

/// A node's summary. What may not be placed on (not offered, unclean, exclusive) is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub id: NodeId,
    pub pool: PoolId,
    /// The kind of all its devices, [`MIXED`] or [`NO_KIND`].
    pub kind: u16,
    /// All its devices.
    pub cards: u16,
    /// Devices that can be leased whole now.
    pub free_cards: u16,
    /// Devices that hold shares and have a slot for one more.
    pub shared_cards: u16,
    /// Most compute left on any device that takes a share, in permille.
    pub share_compute: u16,
    /// Most memory left on any device that takes a share, in MiB.
    pub share_memory_mib: u32,
    pub cpu_left: u32,
    pub memory_left: u32,
    /// It takes new leases.
    pub open: bool,
    /// The whole server can be leased.
    pub whole: bool,
}

impl Row {
    pub fn of(node: &Node) -> Row {
        let mut row = Row {
            id: node.id,
            pool: node.pool,
            kind: common_kind(node),
            cards: node.cards.len() as u16,
            free_cards: 0,
            shared_cards: 0,
            share_compute: 0,
            share_memory_mib: 0,
            cpu_left: 0,
            memory_left: 0,
            open: node.status == NodeStatus::Offered && !node.exclusive,
            whole: false,
        };
        if row.open {
            row.fill(node);
        }
        row
    }

    fn fill(&mut self, node: &Node) {
        self.cpu_left = node.cpu.left();
        self.memory_left = node.memory.left();
        for card in node.cards.iter().filter(|c| c.offered) {
            let (left, free, slot) = (card.left(), card.is_free(), card.has_slot());
            self.free_cards += u16::from(free);
            self.shared_cards += u16::from(!free && slot);
            if slot {
                self.share_compute = self.share_compute.max(left.compute as u16);
                self.share_memory_mib = self.share_memory_mib.max(left.memory_mib);
            }
        }
        self.whole = node.is_empty() && self.free_cards == self.cards;
    }
}

fn common_kind(node: &Node) -> u16 {
    match node.cards.split_first() {
        None => NO_KIND,
        Some((first, rest)) if rest.iter().all(|c| c.kind == first.kind) => first.kind,
        Some(_) => MIXED,
    }
}
