//! The second pass, on failure only: the first reason that keeps the ask off each node.

use super::search::{Search, model_rank};
use crate::{NodeStatus, Reason, WhyNot, card::Card, node::Node, row::Row};
use units::{Share, Size, UnitKind};

pub(super) fn count(search: &Search<'_>) -> WhyNot {
    let cards_needed = match search.ask.size {
        Size::Cards(n) if n <= search.largest_node() => n,
        _ => 1,
    };
    let rows = search.fleet.rows.iter().zip(&search.fleet.nodes).enumerate();
    WhyNot::count(rows.map(|(at, (row, node))| search.reason(at, row, node, cards_needed)))
}

impl Search<'_> {
    fn reason(&self, at: usize, row: &Row, node: &Node, cards_needed: u32) -> Reason {
        self.wrong(at, row, node, cards_needed)
            .or_else(|| out_of_offer(node))
            .or_else(|| self.no_room(at, row, node, cards_needed))
            .or_else(|| self.nothing_beside(node))
            .unwrap_or(Reason::TooFew)
    }

    /// What would keep the ask off the node even if it were empty.
    fn wrong(&self, at: usize, row: &Row, node: &Node, cards_needed: u32) -> Option<Reason> {
        if is_nothing(self.ask.size) {
            return Some(Reason::NothingAsked);
        }
        if self.ask.pool.is_some_and(|pool| pool != row.pool) {
            return Some(Reason::WrongPool);
        }
        if !self.has_labels(at, row) {
            return Some(Reason::WrongLabel);
        }
        match self.ask.size {
            Size::Units(UnitKind::Cpu, _) => None,
            Size::Servers(_) => self.likeness(at, row).is_none().then(|| self.wrong_cards(node)),
            _ if !node.cards.iter().any(|c| self.serves(c)) => Some(self.wrong_cards(node)),
            Size::Share(share) => self.wrong_for_share(node, share),
            _ => (self.size_of_node(at, row) < cards_needed).then_some(Reason::TooSmall),
        }
    }

    fn serves(&self, card: &Card) -> bool {
        let rentable = !matches!(self.ask.size, Size::Units(..)) || self.kind(card.kind).tflops_milli > 0;
        rentable && self.rank(card.kind).is_some()
    }

    fn wrong_cards(&self, node: &Node) -> Reason {
        let name = |c: &Card| self.fleet.models[usize::from(self.model(c.kind))].as_str();
        let right_model = |c: &&Card| model_rank(self.ask, name(c)).is_some();
        let small = node.cards.iter().filter(right_model).any(|c| c.memory_mib < self.ask.card_memory_mib);
        if small { Reason::CardMemory } else { Reason::WrongModel }
    }

    fn wrong_for_share(&self, node: &Node, share: Share) -> Option<Reason> {
        let mut large = node.cards.iter().filter(|c| self.serves(c) && c.memory_mib >= share.memory_mib).peekable();
        if large.peek().is_none() {
            return Some(Reason::CardMemory);
        }
        large.all(|c| c.max_shares == 0).then_some(Reason::NoShareSlot)
    }

    /// What keeps the ask off the node's cards, or off the server, as things stand.
    fn no_room(&self, at: usize, row: &Row, node: &Node, cards_needed: u32) -> Option<Reason> {
        match self.ask.size {
            Size::Servers(_) => server_taken(node),
            Size::Units(UnitKind::Cpu, _) => node.exclusive.then(|| full_or_unclean(node)),
            _ if node.exclusive => Some(full_or_unclean(node)),
            Size::Cards(_) => self.no_cards(at, row, cards_needed),
            Size::Share(share) => self.no_share(node, share),
            Size::Units(UnitKind::Tflops, _) => self.no_share(node, Share { compute: 1, memory_mib: 1 }),
        }
    }

    fn no_cards(&self, at: usize, row: &Row, needed: u32) -> Option<Reason> {
        let enough = |counts: fn(&Card) -> bool| self.most_of_one_model(at, row, counts) >= needed;
        if enough(|c| c.offered && c.is_free()) {
            None
        } else if enough(Card::is_free) {
            Some(Reason::DeviceOut)
        } else if enough(|c| c.offered && c.taken.is_none()) {
            Some(Reason::Unclean)
        } else {
            Some(Reason::Full)
        }
    }

    fn no_share(&self, node: &Node, share: Share) -> Option<Reason> {
        let any = |test: &dyn Fn(&Card) -> bool| node.cards.iter().filter(|c| self.serves(c)).any(test);
        if any(&|c| c.offered && takes(c, share)) {
            None
        } else if any(&|c| takes(c, share)) {
            Some(Reason::DeviceOut)
        } else if any(&|c| c.offered && takes(&c.cleared(), share)) {
            Some(Reason::Unclean)
        } else if any(&|c| c.offered && within(share, c.left()) && !c.has_slot()) {
            Some(Reason::NoShareSlot)
        } else {
            Some(Reason::Full)
        }
    }

    fn nothing_beside(&self, node: &Node) -> Option<Reason> {
        let (cpu, memory) = (self.cpu_needed(), self.ask.beside.memory_mib);
        if u64::from(node.cpu.left()) < cpu {
            let later = u64::from(node.cpu.left() + node.cpu.unclean) >= cpu;
            return Some(if later { Reason::Unclean } else { Reason::NoCpu });
        }
        if node.memory.left() < memory {
            let later = node.memory.left() + node.memory.unclean >= memory;
            return Some(if later { Reason::Unclean } else { Reason::NoMemory });
        }
        None
    }

    fn cpu_needed(&self) -> u64 {
        match self.ask.size {
            Size::Units(UnitKind::Cpu, milli) => milli,
            _ => u64::from(self.ask.beside.cpu_milli),
        }
    }
}

fn is_nothing(size: Size) -> bool {
    match size {
        Size::Servers(n) | Size::Cards(n) => n == 0,
        Size::Share(share) => share == Share::default(),
        Size::Units(_, milli) => milli == 0,
    }
}

fn out_of_offer(node: &Node) -> Option<Reason> {
    match node.status {
        NodeStatus::Offered => None,
        NodeStatus::Draining => Some(Reason::Draining),
        NodeStatus::Lost => Some(Reason::Lost),
    }
}

fn server_taken(node: &Node) -> Option<Reason> {
    if !node.is_empty() {
        return Some(full_or_unclean(node));
    }
    node.cards.iter().any(|c| !c.offered).then_some(Reason::DeviceOut)
}

fn full_or_unclean(node: &Node) -> Reason {
    if node.taken_grants == 0 { Reason::Unclean } else { Reason::Full }
}

fn takes(card: &Card, share: Share) -> bool {
    card.has_slot() && card.fits(share)
}

fn within(share: Share, left: Share) -> bool {
    share.compute <= left.compute && share.memory_mib <= left.memory_mib
}
