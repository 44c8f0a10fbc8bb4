//! One node in one cache line, one card in eight bytes: what a scan over the fleet needs to pass them by or keep them.

use crate::{NodeStatus, card::Card, node::Node, room::Room};
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
    /// Bit n: it carries the fleet's label n. Labels from the 65th on are looked up at the node.
    pub labels: u64,
    /// Where its cards' spaces begin; there are `cards` of them.
    pub first_space: u32,
    /// The kind of all its devices, [`MIXED`] or [`NO_KIND`].
    pub kind: u16,
    /// All its devices.
    pub cards: u16,
    /// Devices that can be leased whole now.
    pub free_cards: u16,
    /// Devices that hold shares and have a slot for one more.
    pub shared_cards: u16,
    /// What shares may find.
    pub room: Room,
    pub cpu_left: u32,
    pub memory_left: u32,
    /// It takes new leases.
    pub open: bool,
    /// The whole server can be leased.
    pub whole: bool,
}

impl Row {
    pub fn of(node: &Node, first_space: u32) -> Row {
        let mut row = Row {
            id: node.id,
            pool: node.pool,
            labels: label_bits(&node.labels),
            first_space,
            kind: common_kind(node),
            cards: node.cards.len() as u16,
            free_cards: 0,
            shared_cards: 0,
            room: Room::NONE,
            cpu_left: 0,
            memory_left: 0,
            open: false,
            whole: false,
        };
        row.count(node);
        row
    }

    /// Counts again what is left of the node, after it changed.
    pub fn count(&mut self, node: &Node) {
        self.open = node.status == NodeStatus::Offered && !node.exclusive;
        (self.free_cards, self.shared_cards, self.whole) = (0, 0, false);
        (self.cpu_left, self.memory_left, self.room) = (0, 0, Room::NONE);
        if self.open {
            self.fill(node);
        }
    }

    /// The indices of its cards' spaces.
    pub fn spaces(&self) -> std::ops::Range<usize> {
        let first = self.first_space as usize;
        first..first + usize::from(self.cards)
    }

    fn fill(&mut self, node: &Node) {
        self.cpu_left = node.cpu.left();
        self.memory_left = node.memory.left();
        for card in node.cards.iter().filter(|c| c.offered) {
            let free = card.is_free();
            self.free_cards += u16::from(free);
            self.shared_cards += u16::from(!free && card.has_slot());
        }
        self.room = Room::of(node, self.free_cards);
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

/// The first 64 labels as bits.
pub(crate) fn label_bits(labels: &[u32]) -> u64 {
    labels.iter().filter(|label| **label < u64::BITS).fold(0, |bits, label| bits | 1 << label)
}

/// What one more share may use of a card. Nothing on either axis where the card takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Space {
    /// Free permille of compute.
    pub compute: u16,
    /// The card's kind.
    pub kind: u16,
    /// Free MiB of memory.
    pub memory_mib: u32,
}

impl Space {
    /// The space of a card on a node that is open or not.
    pub fn of(card: &Card, open: bool) -> Space {
        if !open || !card.offered || !card.has_slot() {
            return Space { kind: card.kind, ..Space::default() };
        }
        let left = card.left();
        Space { compute: left.compute as u16, kind: card.kind, memory_mib: left.memory_mib }
    }
}
