//! One soft share: on the device with the least left, and on equal devices where the fewest cards are free.

use super::search::{Pick, Search};
use crate::row::{MIXED, Row};
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
        for (node, row) in self.fleet.rows.iter().enumerate() {
            // Most rows fall at the first two tests, which need no more than the row.
            if !may_take(row, share) {
                continue;
            }
            // A node of one kind is passed by as a whole if the kind is refused or its tightest card is too loose.
            let of_row = if row.kind == MIXED { None } else { Some(rank(row.kind)) };
            let looser = |rank| best.is_some_and(|(least, compute, ..)| (least, compute) < (rank, row.share_least));
            if of_row.is_some_and(|rank| rank.is_none_or(looser)) || !self.is_open(node, row) {
                continue;
            }
            for (card, space) in self.fleet.spaces[row.spaces()].iter().enumerate() {
                if u32::from(space.compute) < share.compute || space.memory_mib < share.memory_mib {
                    continue;
                }
                let Some(rank) = of_row.unwrap_or_else(|| rank(space.kind)) else { continue };
                let key = (rank, space.compute, space.memory_mib, row.free_cards, node, card);
                let is_picked = || picked.iter().any(|pick| (pick.node, pick.card) == (node, card));
                if best.is_none_or(|least| key < least) && !is_picked() {
                    best = Some(key);
                }
            }
        }
        best.map(|(.., node, card)| Pick { node, card, share })
    }
}

/// Whether a card of the node may have room: the most on each axis may lie on different cards.
fn may_take(row: &Row, share: Share) -> bool {
    u32::from(row.share_compute) >= share.compute && row.share_memory_mib >= share.memory_mib
}
