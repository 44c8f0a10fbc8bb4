//! Whole cards: on the tightest node that has room, or over several where none is large enough.

use super::search::{Pick, Search};
use crate::{
    card::Card,
    row::{MIXED, Row},
};
use units::Grant;

/// Cards of one accepted model on one node.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub node: usize,
    pub model: u16,
    pub rank: u32,
    pub cards: u32,
}

/// Which cards of a node a group counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// Those that can be leased whole now.
    Free,
    /// All, used or not.
    All,
}

impl Search<'_> {
    pub(super) fn cards(&self, n: u32) -> Option<Vec<Grant>> {
        match self.tightest_node(n) {
            Some(group) => Some(self.grants(self.free_cards(group.node, n, |kind| self.is_of(group.model, kind)))),
            None if n > self.largest_node() => self.over_several(n),
            None => None,
        }
    }

    /// The node with the fewest free cards among those of the lowest rank that have `n` of one model.
    fn tightest_node(&self, n: u32) -> Option<Group> {
        let mut best: Option<((u32, u16), Group)> = None;
        for (node, row) in self.rows().filter(|(_, row)| u32::from(row.free_cards) >= n) {
            self.each_group(node, row, Counted::Free, |group| {
                let key = (group.rank, row.free_cards);
                if group.cards >= n && best.as_ref().is_none_or(|(least, _)| key < *least) {
                    best = Some((key, group));
                }
            });
        }
        best.map(|(_, group)| group)
    }

    /// Calls back once for each accepted model of which the node has such cards, in the order of their first ones.
    pub(super) fn each_group(&self, node: usize, row: &Row, counted: Counted, mut each: impl FnMut(Group)) {
        if row.kind != MIXED {
            if let Some(rank) = self.rank(row.kind) {
                let cards = u32::from(if counted == Counted::Free { row.free_cards } else { row.cards });
                each(Group { node, model: self.model(row.kind), rank, cards });
            }
            return;
        }
        let counts = |c: &&Card| counted == Counted::All || (c.offered && c.is_free());
        let cards = || self.fleet.nodes[node].cards.iter().filter(counts);
        for (at, card) in cards().enumerate() {
            let (model, Some(rank)) = (self.model(card.kind), self.rank(card.kind)) else { continue };
            let same = |c: &&Card| self.is_of(model, c.kind);
            if !cards().take(at).any(|c| same(&c)) {
                each(Group { node, model, rank, cards: cards().filter(same).count() as u32 });
            }
        }
    }

    /// Most accepted cards of one model on any node in the right place, used or not.
    pub(super) fn largest_node(&self) -> u32 {
        self.places().map(|(node, row)| self.size_of_node(node, row)).max().unwrap_or(0)
    }

    /// Most accepted cards of one model on a node, used or not.
    pub(super) fn size_of_node(&self, node: usize, row: &Row) -> u32 {
        match self.rank(row.kind) {
            Some(_) => u32::from(row.cards),
            None => self.most_of_one_model(node, row, |_| true),
        }
    }

    /// Most accepted cards of one model on a node, of those to be counted.
    pub(super) fn most_of_one_model(&self, node: usize, row: &Row, counts: impl Fn(&Card) -> bool) -> u32 {
        if row.kind != MIXED && self.rank(row.kind).is_none() {
            return 0;
        }
        let counted = || self.fleet.nodes[node].cards.iter().filter(|c| counts(c));
        if row.kind != MIXED {
            return counted().count() as u32;
        }
        let of = |model| counted().filter(|c| self.is_of(model, c.kind)).count() as u32;
        counted().map(|c| of(self.model(c.kind))).max().unwrap_or(0)
    }

    /// All or nothing, of one model: the first that has enough, in order of rank.
    fn over_several(&self, n: u32) -> Option<Vec<Grant>> {
        let mut groups: Vec<Group> = Vec::new();
        for (node, row) in self.rows().filter(|(_, row)| row.free_cards > 0) {
            self.each_group(node, row, Counted::Free, |group| groups.push(group));
        }
        let mut models: Vec<(u32, u16)> = groups.iter().map(|g| (g.rank, g.model)).collect();
        models.sort_unstable();
        models.dedup();
        let free_of = |model| groups.iter().filter(|g| g.model == model).map(|g| g.cards).sum::<u32>();
        let (_, model) = models.into_iter().find(|(_, model)| free_of(*model) >= n)?;
        let free = groups.iter().filter(|g| g.model == model).map(|g| (g.cards, g.node)).collect();
        Some(self.grants(self.spread(free, n, |kind| self.is_of(model, kind))))
    }

    /// Takes `n` cards, or all there are, from nodes with so many free ones: from those that have most, and what
    /// is left to take from the one where that is tightest.
    pub(super) fn spread(&self, mut free: Vec<(u32, usize)>, mut n: u32, of: impl Fn(u16) -> bool) -> Vec<Pick> {
        let mut picks = Vec::new();
        if free.iter().all(|(free, _)| *free < n) {
            free.sort_unstable_by_key(|(free, node)| (std::cmp::Reverse(*free), *node));
        }
        let mut rest = free.as_slice();
        while n > 0 && !rest.is_empty() {
            let tightest = rest.iter().filter(|(free, _)| *free >= n).min();
            let (take, node) = tightest.map_or(rest[0], |(_, node)| (n, *node));
            picks.extend(self.free_cards(node, take, &of));
            n -= take;
            rest = &rest[1..];
        }
        picks
    }

    /// The `n` lowest-numbered free cards of some kinds on a node.
    fn free_cards(&self, node: usize, n: u32, of: impl Fn(u16) -> bool) -> Vec<Pick> {
        let cards = self.fleet.nodes[node].cards.iter().enumerate();
        let free = cards.filter(|(_, c)| c.offered && c.is_free() && of(c.kind));
        free.take(n as usize).map(|(card, c)| Pick { node, card, share: c.whole() }).collect()
    }

    /// Whether a kind is of a model and accepted.
    fn is_of(&self, model: u16, kind: u16) -> bool {
        self.rank(kind).is_some() && self.model(kind) == model
    }
}
