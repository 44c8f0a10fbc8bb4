//! Compute by amount: whole cards, then one share for the rest; where no card has the rest, several shares.

use super::search::{Pick, Search};
use crate::{fleet::Kind, row::MIXED};
use std::{cmp::Reverse, collections::BTreeSet};
use units::{Grant, Share};

impl Search<'_> {
    pub(super) fn compute(&self, milli: u64) -> Option<Vec<Grant>> {
        let (mut rest, mut picks) = (milli, Vec::new());
        for kind in self.serving_kinds() {
            let worth = u64::from(self.kind(kind).tflops_milli);
            let whole = self.whole_cards(kind, rest / worth);
            rest -= worth * whole.len() as u64;
            picks.extend(whole);
            if let Some(pick) = self.share_for(kind, rest, &picks) {
                picks.push(pick);
                rest = 0;
            }
            if rest == 0 {
                return Some(self.grants(picks));
            }
        }
        self.several_shares(rest, picks).map(|picks| self.grants(picks))
    }

    /// Accepted kinds, lowest rank first, then the smaller cards: the larger are left to asks that need them.
    pub(super) fn serving_kinds(&self) -> Vec<u16> {
        let worth = |kind: &u16| self.kind(*kind).tflops_milli;
        let serves = |kind: &u16| self.rank(*kind).is_some() && worth(kind) > 0;
        let mut kinds: Vec<u16> = (0..self.fleet.kinds.len() as u16).filter(serves).collect();
        kinds.sort_by_key(|kind| (self.rank(*kind), worth(kind), *kind));
        kinds
    }

    fn whole_cards(&self, kind: u16, n: u64) -> Vec<Pick> {
        if n == 0 {
            return Vec::new();
        }
        let rows = self.rows().filter(|(_, row)| row.free_cards > 0 && (row.kind == kind || row.kind == MIXED));
        let free = rows.map(|(node, row)| match row.kind {
            MIXED => (self.free_of_kind(node, kind), node),
            _ => (u32::from(row.free_cards), node),
        });
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        self.spread(free.filter(|(free, _)| *free > 0).collect(), n, |k| k == kind)
    }

    fn free_of_kind(&self, node: usize, kind: u16) -> u32 {
        let cards = self.fleet.nodes[node].cards.iter();
        cards.filter(|c| c.kind == kind && c.offered && c.is_free()).count() as u32
    }

    /// One share of a card of this kind for all of the rest.
    fn share_for(&self, kind: u16, rest: u64, picked: &[Pick]) -> Option<Pick> {
        let of = self.kind(kind);
        if rest == 0 || rest > u64::from(of.tflops_milli) {
            return None;
        }
        self.tightest_card(share_of(of, rest), |k| (k == kind).then_some(0), picked)
    }

    /// What is left anywhere, lowest rank first, the largest spaces first.
    fn several_shares(&self, mut rest: u64, mut picks: Vec<Pick>) -> Option<Vec<Pick>> {
        let picked: BTreeSet<(usize, usize)> = picks.iter().map(|pick| (pick.node, pick.card)).collect();
        let mut spaces = Vec::new();
        for (node, row) in self.rows().filter(|(_, row)| row.room.compute > 0) {
            for (card, space) in self.fleet.spaces[row.spaces()].iter().enumerate() {
                let of = self.kind(space.kind);
                let worth = worth_of(of, u32::from(space.compute), space.memory_mib);
                if let Some(rank) = self.rank(space.kind).filter(|_| worth > 0 && !picked.contains(&(node, card))) {
                    spaces.push((rank, Reverse(worth), node, card, space.kind));
                }
            }
        }
        spaces.sort_unstable();
        for (_, Reverse(worth), node, card, kind) in spaces {
            let worth = worth.min(rest);
            picks.push(Pick { node, card, share: share_of(self.kind(kind), worth) });
            rest -= worth;
            if rest == 0 {
                return Some(picks);
            }
        }
        None
    }
}

/// The share that serves an amount up to the card's worth: compute rounded up to a permille, memory in proportion.
/// Memory is rounded down, so that shares that add up to a card's compute also fit into its memory, and so that a
/// price by the larger of the two permilles is the price of the compute.
fn share_of(kind: &Kind, milli: u64) -> Share {
    let compute = (1000 * milli).div_ceil(u64::from(kind.tflops_milli));
    let memory = u64::from(kind.memory_mib) * compute / 1000;
    Share { compute: compute as u32, memory_mib: memory as u32 }
}

/// What so much of a card can serve, in thousandths of a unit: the scarcer axis decides.
fn worth_of(kind: &Kind, compute: u32, memory_mib: u32) -> u64 {
    // The most permille whose memory, rounded down, is no more than what is there.
    let by_memory = match u64::from(kind.memory_mib) {
        0 => u64::MAX,
        all => ((u64::from(memory_mib) + 1) * 1000).div_ceil(all) - 1,
    };
    u64::from(kind.tflops_milli) * by_memory.min(u64::from(compute)) / 1000
}
