//! Whole cards: on the tightest node that has room, or over several where none is large enough.

use super::search::{Pick, Search};
use crate::row::{MIXED, Row};
use units::Grant;

/// The cards of one accepted model on one node.
pub(super) struct Group {
    pub node: usize,
    pub model: u16,
    pub rank: u32,
    pub free: u32,
}

impl Search<'_> {
    pub(super) fn cards(&self, n: u32) -> Option<Vec<Grant>> {
        if n == 0 {
            return None;
        }
        match self.tightest(n) {
            Some(group) => Some(self.grants(self.free_cards(group.node, group.model, n))),
            None if n > self.largest_node() => self.over_several(n),
            None => None,
        }
    }

    /// The node with the fewest free cards among those of the lowest rank that have `n` of one model.
    fn tightest(&self, n: u32) -> Option<Group> {
        let mut best: Option<((u32, u16), Group)> = None;
        for (node, row) in self.rows().filter(|(_, row)| u32::from(row.free_cards) >= n) {
            self.each_group(node, row, |group| {
                let key = (group.rank, row.free_cards);
                if group.free >= n && best.as_ref().is_none_or(|(least, _)| key < *least) {
                    best = Some((key, group));
                }
            });
        }
        best.map(|(_, group)| group)
    }

    /// Calls back once for each accepted model that has free cards on the node.
    fn each_group(&self, node: usize, row: &Row, mut each: impl FnMut(Group)) {
        if row.kind != MIXED {
            if let Some(rank) = self.rank(row.kind) {
                each(Group { node, model: self.model(row.kind), rank, free: u32::from(row.free_cards) });
            }
            return;
        }
        let cards = &self.fleet.nodes[node].cards;
        for (at, card) in cards.iter().enumerate() {
            let (model, Some(rank)) = (self.model(card.kind), self.rank(card.kind)) else { continue };
            let same = |c: &&crate::card::Card| self.rank(c.kind).is_some() && self.model(c.kind) == model;
            if cards[..at].iter().any(|c| same(&c)) {
                continue;
            }
            let free = cards.iter().filter(same).filter(|c| c.offered && c.is_free()).count() as u32;
            each(Group { node, model, rank, free });
        }
    }

    /// Most accepted cards of one model on any node in the right place, used or not.
    pub(super) fn largest_node(&self) -> u32 {
        self.places().map(|(node, row)| self.cards_of_one_model(node, row)).max().unwrap_or(0)
    }

    pub(super) fn cards_of_one_model(&self, node: usize, row: &Row) -> u32 {
        if row.kind != MIXED {
            return if self.rank(row.kind).is_some() { u32::from(row.cards) } else { 0 };
        }
        let accepted = || self.fleet.nodes[node].cards.iter().filter(|c| self.rank(c.kind).is_some());
        let of_model = |model| accepted().filter(|c| self.model(c.kind) == model).count() as u32;
        accepted().map(|c| of_model(self.model(c.kind))).max().unwrap_or(0)
    }

    /// All or nothing, of one model: the lowest rank that has enough.
    fn over_several(&self, n: u32) -> Option<Vec<Grant>> {
        let mut groups: Vec<Group> = Vec::new();
        for (node, row) in self.rows().filter(|(_, row)| row.free_cards > 0) {
            self.each_group(node, row, |group| groups.push(group));
        }
        groups.sort_by_key(|g| (g.rank, g.model, std::cmp::Reverse(g.free), g.node));
        let of_model = groups.chunk_by(|a, b| a.model == b.model);
        let enough = of_model.into_iter().find(|groups| groups.iter().map(|g| g.free).sum::<u32>() >= n)?;
        let spread = spread(enough, n);
        Some(self.grants(spread.iter().flat_map(|(g, take)| self.free_cards(g.node, g.model, *take)).collect()))
    }

    /// The `n` lowest-numbered free cards of a model on a node.
    fn free_cards(&self, node: usize, model: u16, n: u32) -> Vec<Pick> {
        let cards = self.fleet.nodes[node].cards.iter().enumerate();
        cards
            .filter(|(_, c)| c.offered && c.is_free() && self.rank(c.kind).is_some() && self.model(c.kind) == model)
            .take(n as usize)
            .map(|(card, c)| Pick { node, card, share: c.whole() })
            .collect()
    }
}

/// Takes `n` from groups that come most free first: the fullest-to-give nodes, then for the rest the tightest one.
fn spread(groups: &[Group], mut n: u32) -> Vec<(&Group, u32)> {
    let mut taken = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        if group.free < n {
            taken.push((group, group.free));
            n -= group.free;
            continue;
        }
        let least = groups[at..].iter().filter(|g| g.free >= n).min_by_key(|g| (g.free, g.node));
        taken.extend(least.map(|g| (g, n)));
        break;
    }
    taken
}
