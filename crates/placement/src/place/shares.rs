//! One soft share: on the device with the least left, and on equal devices where the fewest cards are free.

use super::search::{Pick, Search};
use crate::{
    room::{Block, Room},
    row::MIXED,
};
use units::{Grant, Share};

/// The order of devices for a share, least first: rank, compute and memory left, free cards of the node, node, card.
type Tightness = (u32, u16, u32, u16, usize, usize);

impl Search<'_> {
    pub(super) fn share(&self, share: Share) -> Option<Vec<Grant>> {
        let pick = self.tightest_card(share, |kind| self.rank(kind), &[])?;
        Some(self.grants(vec![pick]))
    }

    /// The card with the least left that takes the share beside what is already picked.
    pub(super) fn tightest_card(&self, share: Share, rank: impl Fn(u16) -> Option<u32>, picked: &[Pick]) -> Option<Pick> {
        if share == Share::default() {
            return None;
        }
        let mut best: Option<Tightness> = None;
        // Whether a card of this kind and room may be better than the best one. All are on later nodes: none wins a tie.
        let may_win = |best: Option<Tightness>, kind: u16, room: &Room| {
            if !room.may_take(share) {
                return false;
            }
            if kind == MIXED {
                return true;
            }
            let (compute, memory, free_cards) = room.least_for(share);
            let bound = |rank| (rank, compute, memory, free_cards);
            rank(kind).is_some_and(|rank| best.is_none_or(|(a, b, c, d, ..)| bound(rank) < (a, b, c, d)))
        };
        for (number, block) in self.fleet.blocks.iter().enumerate() {
            if !may_win(best, block.kind, &block.room) {
                continue;
            }
            for node in Block::rows(number, self.fleet.rows.len()) {
                let row = &self.fleet.rows[node];
                if may_win(best, row.kind, &row.room) && self.is_open(node, row) {
                    let on_node = self.tightest_on(node, share, &rank, picked);
                    best = best.into_iter().chain(on_node).min();
                }
            }
        }
        best.map(|(.., node, card)| Pick { node, card, share })
    }

    fn tightest_on(&self, node: usize, share: Share, rank: impl Fn(u16) -> Option<u32>, picked: &[Pick]) -> Option<Tightness> {
        let row = &self.fleet.rows[node];
        let spaces = self.fleet.spaces[row.spaces()].iter().enumerate();
        let fits = spaces.filter(|(_, space)| u32::from(space.compute) >= share.compute && space.memory_mib >= share.memory_mib);
        let is_picked = |card| picked.iter().any(|pick| (pick.node, pick.card) == (node, card));
        let ranked = fits
            .filter(|(card, _)| !is_picked(*card))
            .filter_map(|(card, space)| Some((rank(space.kind)?, space.compute, space.memory_mib, row.free_cards, node, card)));
        ranked.min()
    }
}
