//! Whole servers: wholly empty, clean nodes that are alike.

use super::search::{Search, slice};
use crate::{
    node::Node,
    row::{MIXED, NO_KIND, Row},
};
use units::Grant;

/// What servers of one lease have in common, and the order in which such sets are tried: rank, cards, model.
type Likeness = (u32, u16, u16);

impl Search<'_> {
    pub(super) fn servers(&self, n: u32) -> Option<Vec<Grant>> {
        let n = n as usize;
        let whole = self.rows().filter(|(_, row)| row.whole);
        let fitting = whole.filter_map(|(at, row)| Some((self.likeness(at, row)?, row.cpu_left, at)));
        let mut nodes: Vec<usize> = if n == 1 {
            vec![fitting.min()?.2]
        } else {
            let mut found: Vec<_> = fitting.collect();
            found.sort_unstable();
            let alike = found.chunk_by(|a, b| a.0 == b.0).find(|alike| alike.len() >= n)?;
            alike[..n].iter().map(|(_, _, at)| *at).collect()
        };
        nodes.sort_unstable();
        Some(nodes.into_iter().map(|at| whole_server(&self.fleet.nodes[at])).collect())
    }

    /// Rank, number of cards and model of a node all of whose devices are accepted, if they are of one model.
    pub(super) fn likeness(&self, at: usize, row: &Row) -> Option<Likeness> {
        let kind = match row.kind {
            NO_KIND => {
                let any = self.ask.models.is_empty() && self.ask.card_memory_mib == 0;
                return any.then_some((0, 0, NO_KIND));
            }
            MIXED => {
                let cards = &self.fleet.nodes[at].cards;
                let first = cards[0].kind;
                let alike = |kind| self.rank(kind).is_some() && self.model(kind) == self.model(first);
                cards.iter().all(|c| alike(c.kind)).then_some(first)?
            }
            kind => kind,
        };
        Some((self.rank(kind)?, row.cards, self.model(kind)))
    }
}

fn whole_server(node: &Node) -> Grant {
    Grant {
        node: node.id,
        cpu_milli: node.cpu.total,
        memory_mib: node.memory.total,
        slices: node.cards.iter().map(|card| slice(card.id, card.whole())).collect(),
        exclusive: true,
    }
}
