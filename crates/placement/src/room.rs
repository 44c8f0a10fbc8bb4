//! What shares may find on a node, or on a block of nodes: bounds with which a search passes by most of a fleet unseen.

use crate::{
    node::Node,
    row::{MIXED, NO_KIND, Row},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use units::Share;

/// Compute and memory left on a card that has a slot, and free cards of its node: shares go where these are least.
pub(crate) type Least = (u16, u32, u16);

/// Bounds of what is left on cards that have a slot for a share. Each may lie on another card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Room {
    /// Most compute, in permille.
    pub compute: u16,
    /// Most memory, in MiB.
    pub memory_mib: u32,
    /// No card comes before this one.
    pub least: Least,
}

impl Room {
    /// No card has a slot.
    pub const NONE: Room = Room { compute: 0, memory_mib: 0, least: (u16::MAX, u32::MAX, u16::MAX) };

    /// The room of an open node that has so many free cards.
    pub fn of(node: &Node, free_cards: u16) -> Room {
        let slots = node.cards.iter().filter(|card| card.offered && card.has_slot());
        let some_left = slots.map(|card| card.left()).filter(|left| *left != Share::default());
        some_left.fold(Room::NONE, |room, left| {
            let (compute, memory_mib) = (left.compute as u16, left.memory_mib);
            room.join(Room { compute, memory_mib, least: (compute, memory_mib, free_cards) })
        })
    }

    /// The room of both.
    pub fn join(self, other: Room) -> Room {
        Room {
            compute: self.compute.max(other.compute),
            memory_mib: self.memory_mib.max(other.memory_mib),
            least: self.least.min(other.least),
        }
    }

    /// No card that takes the share comes before this.
    pub fn least_for(&self, share: Share) -> Least {
        let compute = u16::try_from(share.compute).unwrap_or(u16::MAX);
        self.least.max((compute, share.memory_mib, 0))
    }

    /// Whether a card may have room for the share.
    pub fn may_take(&self, share: Share) -> bool {
        u32::from(self.compute) >= share.compute && self.memory_mib >= share.memory_mib
    }
}

/// Rows that lie side by side, in one summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    /// The kind of all devices in it, [`MIXED`] or [`NO_KIND`].
    pub kind: u16,
    pub room: Room,
}

impl Block {
    /// Rows of a block. A change of a node reads the rows of its block, a search reads all blocks and the rows of a few: at the
    /// root of a thousand nodes the two are even.
    pub const ROWS: usize = 32;

    pub fn of(rows: &[Row]) -> Block {
        let room = rows.iter().fold(Room::NONE, |room, row| room.join(row.room));
        let mut kinds = rows.iter().map(|row| row.kind).filter(|kind| *kind != NO_KIND);
        let kind = kinds.next().unwrap_or(NO_KIND);
        Block { kind: if kinds.all(|other| other == kind) { kind } else { MIXED }, room }
    }

    /// Indices of the rows of the block with this number.
    pub fn rows(number: usize, all: usize) -> Range<usize> {
        number * Self::ROWS..all.min((number + 1) * Self::ROWS)
    }
}
