//! Whole servers: wholly empty, clean nodes that are alike.

use super::search::{Search, slice};
use crate::{node::Node, row::NO_KIND};
use units::Grant;

/// What servers of one lease have in common, and the order in which such sets are tried.
type Likeness = (u32, usize, u16);

impl Search<'_> {
    pub(super) fn servers(&self, n: u32) -> Option<Vec<Grant>> {
        if n == 0 {
            return None;
        }
        let mut found: Vec<(Likeness, u32, usize)> = Vec::new();
        for (at, _) in self.rows().filter(|(_, row)| row.whole) {
            let node = &self.fleet.nodes[at];
            found.extend(self.likeness(node).map(|like| (like, node.cpu.total, at)));
        }
        found.sort_unstable();
        let alike = found.chunk_by(|a, b| a.0 == b.0).find(|alike| alike.len() >= n as usize)?;
        let mut nodes: Vec<usize> = alike[..n as usize].iter().map(|(_, _, at)| *at).collect();
        nodes.sort_unstable();
        Some(nodes.into_iter().map(|at| whole_server(&self.fleet.nodes[at])).collect())
    }

    /// Rank, number of cards and model of a node all of whose devices are accepted, if they are of one model.
    pub(super) fn likeness(&self, node: &Node) -> Option<Likeness> {
        let Some(first) = node.cards.first() else {
            let any = self.ask.models.is_empty() && self.ask.card_memory_mib == 0;
            return any.then_some((0, 0, NO_KIND));
        };
        let model = self.model(first.kind);
        let alike = node.cards.iter().all(|c| self.rank(c.kind).is_some() && self.model(c.kind) == model);
        alike.then_some((self.rank(first.kind)?, node.cards.len(), model))
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
