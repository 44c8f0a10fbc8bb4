//! One soft share: on the device with the least left, and on equal devices where the fewest cards are free.

use super::search::{Pick, Search};
use crate::card::Card;
use units::{Grant, Share};

/// The order of devices for a share, least first: rank, then compute, memory and free cards of the node that stay.
pub(super) type Tightness = (u32, u32, u32, u16);

impl Search<'_> {
    pub(super) fn share(&self, share: Share) -> Option<Vec<Grant>> {
        let mut best: Option<(Tightness, Pick)> = None;
        for (node, row) in self.rows() {
            let some =
                row.free_cards > 0 || (u32::from(row.share_compute) >= share.compute && row.share_memory_mib >= share.memory_mib);
            if !some {
                continue;
            }
            for (at, card) in self.fleet.nodes[node].cards.iter().enumerate() {
                let Some(rank) = self.rank(card.kind).filter(|_| takes(card, share)) else { continue };
                let left = card.left();
                let key = (rank, left.compute, left.memory_mib, row.free_cards);
                if best.as_ref().is_none_or(|(least, _)| key < *least) {
                    best = Some((key, Pick { node, card: at, share }));
                }
            }
        }
        best.map(|(_, pick)| self.grants(vec![pick]))
    }
}

pub(super) fn takes(card: &Card, share: Share) -> bool {
    card.offered && card.fits(share)
}
