//! Whether an ask would fit if the whole fleet were offered, clean and empty: the searches' rules on totals.

use super::{cards::Counted, search::Search};
use crate::row::Row;
use std::collections::BTreeMap;
use units::{Share, Size, UnitKind};

impl Search<'_> {
    pub(super) fn could_ever_fit(&self) -> bool {
        match self.ask.size {
            Size::Servers(0) | Size::Cards(0) | Size::Units(_, 0) => false,
            Size::Servers(n) => self.servers_ever(n),
            Size::Cards(n) => self.cards_ever(n),
            Size::Share(share) => self.share_ever(share),
            Size::Units(UnitKind::Tflops, milli) => self.compute_ever(milli),
            Size::Units(UnitKind::Cpu, milli) => self.large_enough(milli).next().is_some(),
        }
    }

    /// Nodes in the right place with so much CPU in all, and the memory beside.
    fn large_enough(&self, cpu_milli: u64) -> impl Iterator<Item = (usize, &Row)> {
        self.places().filter(move |(at, _)| {
            let node = &self.fleet.nodes[*at];
            u64::from(node.cpu.total) >= cpu_milli && node.memory.total >= self.ask.beside.memory_mib
        })
    }

    fn nodes(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.large_enough(u64::from(self.ask.beside.cpu_milli))
    }

    fn servers_ever(&self, n: u32) -> bool {
        let mut alike = BTreeMap::<_, u32>::new();
        for likeness in self.nodes().filter_map(|(at, row)| self.likeness(at, row)) {
            *alike.entry(likeness).or_default() += 1;
        }
        alike.into_values().any(|count| count >= n)
    }

    fn cards_ever(&self, n: u32) -> bool {
        let mut of_model = BTreeMap::<u16, u32>::new();
        let mut on_one_node = 0;
        for (node, row) in self.nodes() {
            self.each_group(node, row, Counted::All, |group| {
                *of_model.entry(group.model).or_default() += group.cards;
                on_one_node = group.cards.max(on_one_node);
            });
        }
        on_one_node >= n || (n > self.largest_node() && of_model.into_values().any(|count| count >= n))
    }

    fn share_ever(&self, share: Share) -> bool {
        let takes = |kind: u16| {
            let of = self.kind(kind);
            let fits = share != Share::default() && share.compute <= Share::WHOLE && share.memory_mib <= of.memory_mib;
            fits && of.max_shares > 0 && self.rank(kind).is_some()
        };
        self.nodes().any(|(_, row)| self.fleet.spaces[row.spaces()].iter().any(|space| takes(space.kind)))
    }

    /// A share of an empty card serves any rest that is worth less than the card: there is never more than one share.
    fn compute_ever(&self, milli: u64) -> bool {
        let mut cards = vec![0_u64; self.fleet.kinds.len()];
        for space in self.nodes().flat_map(|(_, row)| &self.fleet.spaces[row.spaces()]) {
            cards[usize::from(space.kind)] += 1;
        }
        let mut rest = milli;
        self.serving_kinds().into_iter().any(|kind| {
            let (of, all) = (self.kind(kind), cards[usize::from(kind)]);
            let whole = all.min(rest / u64::from(of.tflops_milli));
            rest -= whole * u64::from(of.tflops_milli);
            let one_more = whole < all && of.max_shares > 0;
            rest == 0 || one_more
        })
    }
}
