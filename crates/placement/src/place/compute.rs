//! Compute by amount: whole cards, then one share for the rest; where no device has the rest, several shares.

use super::{
    search::{Pick, Search},
    shares::takes,
};
use crate::card::Card;
use std::{cmp::Reverse, collections::BTreeSet};
use units::{Grant, Share};

/// A device that can serve compute by amount.
#[derive(Clone, Copy)]
struct Source<'a> {
    rank: u32,
    /// Thousandths of a unit that all of it is worth.
    worth: u64,
    node: usize,
    at: usize,
    card: &'a Card,
    /// Free cards on its node.
    free_cards: u16,
}

impl Search<'_> {
    pub(super) fn compute(&self, milli: u64) -> Option<Vec<Grant>> {
        if milli == 0 {
            return None;
        }
        let mut plan = Plan { rest: milli, picks: Vec::new(), used: BTreeSet::new() };
        let sources = self.sources();
        for equal in sources.chunk_by(|a, b| (a.rank, a.worth) == (b.rank, b.worth)) {
            plan.take_whole(equal);
            plan.take_rest(equal);
        }
        plan.take_what_is_left(sources);
        (plan.rest == 0).then(|| self.grants(plan.picks))
    }

    /// Lowest rank first, then the smaller cards, which leaves the larger ones to asks that need them.
    fn sources(&self) -> Vec<Source<'_>> {
        let mut sources = Vec::new();
        for (node, row) in self.rows().filter(|(_, row)| row.free_cards + row.shared_cards > 0) {
            for (at, card) in self.fleet.nodes[node].cards.iter().enumerate().filter(|(_, c)| c.offered) {
                let worth = u64::from(self.kind(card.kind).tflops_milli);
                if let Some(rank) = self.rank(card.kind).filter(|_| worth > 0) {
                    sources.push(Source { rank, worth, node, at, card, free_cards: row.free_cards });
                }
            }
        }
        sources.sort_by_key(|s| (s.rank, s.worth, s.node, s.at));
        sources
    }
}

struct Plan {
    rest: u64,
    picks: Vec<Pick>,
    used: BTreeSet<(usize, usize)>,
}

impl Plan {
    fn take(&mut self, source: &Source<'_>, share: Share, worth: u64) {
        self.picks.push(Pick { node: source.node, card: source.at, share });
        self.used.insert((source.node, source.at));
        self.rest = self.rest.saturating_sub(worth);
    }

    /// Whole cards of equal worth: from the node that is just large enough, else from those with most free.
    fn take_whole(&mut self, equal: &[Source<'_>]) {
        let mut free: Vec<&Source<'_>> = equal.iter().filter(|s| s.card.is_free()).collect();
        let need = (self.rest / equal[0].worth) as usize;
        free.sort_by_key(|s| {
            let enough = usize::from(s.free_cards) >= need;
            (!enough, if enough { i32::from(s.free_cards) } else { -i32::from(s.free_cards) }, s.node, s.at)
        });
        for source in free.into_iter().take(need) {
            self.take(source, source.card.whole(), source.worth);
        }
    }

    fn take_rest(&mut self, equal: &[Source<'_>]) {
        if self.rest == 0 || self.rest > equal[0].worth {
            return;
        }
        let open = equal.iter().filter(|s| !self.used.contains(&(s.node, s.at)));
        let fits = open.filter(|s| takes(s.card, share_of(s, self.rest)));
        let tightest = fits.min_by_key(|s| (s.card.left().compute, s.card.left().memory_mib, s.free_cards, s.node, s.at));
        if let Some(source) = tightest {
            self.take(source, share_of(source, self.rest), self.rest);
        }
    }

    fn take_what_is_left(&mut self, mut sources: Vec<Source<'_>>) {
        if self.rest == 0 {
            return;
        }
        sources.retain(|s| !self.used.contains(&(s.node, s.at)));
        sources.sort_by_key(|s| (s.rank, Reverse(worth_left(s)), s.node, s.at));
        for source in &sources {
            let worth = worth_left(source).min(self.rest);
            if worth > 0 {
                self.take(source, share_of(source, worth), worth);
            }
        }
    }
}

/// The share that serves an amount up to the card's worth: compute rounded up to a permille, memory in proportion.
fn share_of(source: &Source<'_>, milli: u64) -> Share {
    proportional(source.card, (1000 * milli).div_ceil(source.worth) as u32)
}

fn proportional(card: &Card, compute: u32) -> Share {
    let memory = (u64::from(card.memory_mib) * u64::from(compute)).div_ceil(1000);
    Share { compute, memory_mib: memory as u32 }
}

/// What one more share on the card can serve, in thousandths of a unit.
fn worth_left(source: &Source<'_>) -> u64 {
    let left = source.card.left();
    let by_memory = match source.card.memory_mib {
        0 => left.compute,
        all => (u64::from(left.memory_mib) * 1000 / u64::from(all)) as u32,
    };
    let compute = left.compute.min(by_memory);
    if compute == 0 || !takes(source.card, proportional(source.card, compute)) {
        return 0;
    }
    source.worth * u64::from(compute) / 1000
}
