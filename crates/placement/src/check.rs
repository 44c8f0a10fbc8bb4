//! An independent recount of the fleet's books, for simulators and tests. Slow on purpose: it trusts no sum.

use crate::{
    Fleet,
    card::Card,
    node::Node,
    room::Block,
    row::{Row, Space},
};
use std::collections::BTreeMap;
use units::{DeviceId, Grant, NodeId, Share};

/// What grants add up to on one node: grants, CPU, memory.
type OnNode = (u32, u64, u64);
/// What grants add up to on one device: compute, memory, soft shares.
type OnDevice = (u64, u64, u32);
type Sums = (BTreeMap<NodeId, OnNode>, BTreeMap<DeviceId, OnDevice>);

impl Fleet {
    /// Recounts everything that the fleet can know by itself. The error names the first thing that is wrong.
    pub fn check(&self) -> Result<(), String> {
        ensure(self.rows.len() == self.nodes.len(), || "as many rows as nodes".into())?;
        ensure(self.nodes.windows(2).all(|w| w[0].id < w[1].id), || "nodes ascend by id".into())?;
        let homes = self.nodes.iter().flat_map(|node| node.cards.iter().map(|card| (card.id, node.id)));
        ensure(homes.collect::<BTreeMap<_, _>>() == self.homes, || "each device is known by its node".into())?;
        let blocks = self.rows.chunks(Block::ROWS).map(Block::of);
        ensure(self.blocks.iter().cloned().eq(blocks), || "blocks are as their rows say".into())?;
        let mut spaces = self.spaces.iter();
        for (row, node) in self.rows.iter().zip(&self.nodes) {
            let first = self.spaces.len() - spaces.len();
            ensure(*row == Row::of(node, first as u32), || format!("{} is as its row says", node.id))?;
            let seen = spaces.by_ref().take(node.cards.len()).copied();
            let same = seen.eq(node.cards.iter().map(|card| Space::of(card, row.open)));
            ensure(same, || format!("{} has the space its cards have", node.id))?;
            check_node(node)?;
            for card in &node.cards {
                let kind = &self.kinds[usize::from(card.kind)];
                let same = kind.memory_mib == card.memory_mib && kind.max_shares == card.max_shares;
                ensure(same, || format!("{} is as its kind says", card.id))?;
                check_card(card)?;
            }
        }
        ensure(spaces.len() == 0, || "as many spaces as cards".into())
    }

    /// Holds the books against the grants that leases hold and those that were freed and not cleared.
    pub fn check_against(&self, taken: &[Grant], unclean: &[Grant]) -> Result<(), String> {
        self.check()?;
        let in_books = |side: Side| {
            let nodes = self.nodes.iter().map(|node| (node.id, side.of_node(node))).filter(|(_, held)| *held != (0, 0, 0));
            let cards = self.nodes.iter().flat_map(|node| &node.cards).map(|card| (card.id, side.of_card(card)));
            (nodes.collect::<BTreeMap<_, _>>(), cards.filter(|(_, held)| *held != (0, 0, 0)).collect::<BTreeMap<_, _>>())
        };
        ensure(in_books(Side::Taken) == self.sum(taken)?, || "what is taken is the sum of the leases' grants".into())?;
        ensure(in_books(Side::Unclean) == self.sum(unclean)?, || "what is unclean is the sum of the freed grants".into())
    }

    fn sum(&self, grants: &[Grant]) -> Result<Sums, String> {
        let (mut nodes, mut devices) = (BTreeMap::<NodeId, OnNode>::new(), BTreeMap::<DeviceId, OnDevice>::new());
        for grant in grants {
            let node = nodes.entry(grant.node).or_default();
            *node = (node.0 + 1, node.1 + u64::from(grant.cpu_milli), node.2 + u64::from(grant.memory_mib));
            for slice in &grant.slices {
                let card = self.device(slice.device).ok_or_else(|| format!("{} is known", slice.device))?;
                let whole = Share { compute: Share::WHOLE, memory_mib: card.memory_mib() };
                let device = devices.entry(slice.device).or_default();
                device.0 += u64::from(slice.share.compute);
                device.1 += u64::from(slice.share.memory_mib);
                device.2 += u32::from(slice.share != whole);
            }
        }
        Ok((nodes, devices))
    }
}

#[derive(Clone, Copy)]
enum Side {
    Taken,
    Unclean,
}

impl Side {
    fn of_node(self, node: &Node) -> OnNode {
        match self {
            Side::Taken => (node.taken_grants, u64::from(node.cpu.taken), u64::from(node.memory.taken)),
            Side::Unclean => (node.unclean_grants, u64::from(node.cpu.unclean), u64::from(node.memory.unclean)),
        }
    }

    fn of_card(self, card: &Card) -> OnDevice {
        let held = match self {
            Side::Taken => card.taken,
            Side::Unclean => card.unclean,
        };
        (u64::from(held.compute), u64::from(held.memory_mib), u32::from(held.shares))
    }
}

fn check_node(node: &Node) -> Result<(), String> {
    for (name, amount) in [("CPU", node.cpu), ("memory", node.memory)] {
        let used = u64::from(amount.taken) + u64::from(amount.unclean);
        ensure(used <= u64::from(amount.total), || format!("{} has its {name} given out once", node.id))?;
        ensure(!node.is_empty() || used == 0, || format!("{} is empty and holds no {name}", node.id))?;
    }
    let grants = node.taken_grants + node.unclean_grants;
    ensure(!node.exclusive || grants == 1, || format!("{} has one grant if it is exclusive", node.id))?;
    let used = node.cards.iter().any(|card| !card.is_free());
    ensure(!node.is_empty() || !used, || format!("{} is empty and holds no device", node.id))
}

fn check_card(card: &Card) -> Result<(), String> {
    let (taken, unclean) = (card.taken, card.unclean);
    let compute = u32::from(taken.compute) + u32::from(unclean.compute);
    let memory = u64::from(taken.memory_mib) + u64::from(unclean.memory_mib);
    let shares = u16::from(taken.shares) + u16::from(unclean.shares);
    ensure(compute <= Share::WHOLE, || format!("{} has its compute given out once", card.id))?;
    ensure(memory <= u64::from(card.memory_mib), || format!("{} has its memory given out once", card.id))?;
    ensure(shares <= u16::from(card.max_shares), || format!("{} has no more shares than it may", card.id))?;
    // Without a share on it, a card is either free or leased whole, in one of the two states.
    let whole = |held: crate::card::Held| held.share() == card.whole();
    let single = shares > 0 || card.is_free() || whole(taken) != whole(unclean);
    ensure(single, || format!("{} is leased whole or in shares, never both", card.id))
}

fn ensure(holds: bool, promise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("broken: {}", promise())) }
}
