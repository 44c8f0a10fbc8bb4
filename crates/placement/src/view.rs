//! What others may see of the fleet: nodes, devices, occupancy per model.

use crate::{Amount, Fleet, NodeStatus, card::Card, node::Node};
use serde::{Deserialize, Serialize};
use units::{DeviceId, NodeId, PoolId, Share};

/// One node, read-only.
#[derive(Debug, Clone, Copy)]
pub struct NodeView<'a> {
    fleet: &'a Fleet,
    node: &'a Node,
}

/// One device, read-only.
#[derive(Debug, Clone, Copy)]
pub struct DeviceView<'a> {
    fleet: &'a Fleet,
    node: &'a Node,
    card: &'a Card,
}

/// How much of one model's cards is where, in permille of a card of the axis that is used most.
///
/// `free + taken + unclean + withheld` is 1000 × `cards`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// The model's name.
    pub model: String,
    /// Cards of the model.
    pub cards: u32,
    /// Cards that can be leased whole now.
    pub free_cards: u32,
    /// Cards that a lease uses, whole or in part.
    pub used_cards: u32,
    /// Can be placed on.
    pub free: u64,
    /// Held by leases, wherever the node is.
    pub taken: u64,
    /// Freed, not yet measured clean.
    pub unclean: u64,
    /// Unused, but on a draining or lost node, or on a device out of service.
    pub withheld: u64,
}

impl Fleet {
    /// The node, if it is in the fleet.
    pub fn node(&self, id: NodeId) -> Option<NodeView<'_>> {
        let at = self.position(id).ok()?;
        Some(NodeView { fleet: self, node: &self.nodes[at] })
    }

    /// All nodes, ascending by id.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeView<'_>> {
        self.nodes.iter().map(|node| NodeView { fleet: self, node })
    }

    /// The device, if it is in the fleet.
    pub fn device(&self, id: DeviceId) -> Option<DeviceView<'_>> {
        let node = self.node(*self.homes.get(&id)?)?.node;
        Some(DeviceView { fleet: self, node, card: node.card(id)? })
    }

    /// Occupancy of each model that has cards, in the order in which the models joined.
    pub fn occupancy(&self) -> Vec<Occupancy> {
        let mut all: Vec<Occupancy> =
            self.models.iter().map(|model| Occupancy { model: model.clone(), ..Occupancy::default() }).collect();
        for device in self.nodes().flat_map(NodeView::devices) {
            all[usize::from(self.kinds[usize::from(device.card.kind)].model)].add(device);
        }
        all.retain(|model| model.cards > 0);
        all
    }
}

impl Occupancy {
    fn add(&mut self, device: DeviceView<'_>) {
        let card = device.card;
        let taken = dominant(card.taken.share(), card);
        let left = card.left();
        let used = dominant(Share { compute: Share::WHOLE - left.compute, memory_mib: card.memory_mib - left.memory_mib }, card);
        let rest = Share::WHOLE - used;
        self.cards += 1;
        self.free_cards += u32::from(card.is_free() && device.is_offered());
        self.used_cards += u32::from(!card.taken.is_none());
        self.taken += u64::from(taken);
        self.unclean += u64::from(used - taken);
        *(if device.is_offered() { &mut self.free } else { &mut self.withheld }) += u64::from(rest);
    }
}

/// Permille of the card on the axis that is used most, rounded up.
fn dominant(share: Share, card: &Card) -> u32 {
    let memory = (u64::from(share.memory_mib) * 1000).div_ceil(u64::from(card.memory_mib.max(1)));
    share.compute.max(memory as u32)
}

impl<'a> NodeView<'a> {
    /// Its id.
    pub fn id(self) -> NodeId {
        self.node.id
    }

    /// The pool it is in.
    pub fn pool(self) -> PoolId {
        self.node.pool
    }

    /// Whether it takes new leases.
    pub fn status(self) -> NodeStatus {
        self.node.status
    }

    /// Labels it carries.
    pub fn labels(self) -> impl Iterator<Item = &'a str> {
        self.node.labels.iter().map(move |label| self.fleet.labels[*label as usize].as_str())
    }

    /// CPU, in thousandths of a core.
    pub fn cpu_milli(self) -> Amount {
        self.node.cpu
    }

    /// Main memory, in MiB.
    pub fn memory_mib(self) -> Amount {
        self.node.memory
    }

    /// Whether nothing stands on it: no grant, and nothing left to be measured clean. Only then may it be removed.
    pub fn is_empty(self) -> bool {
        self.node.is_empty()
    }

    /// Whether one grant has the whole server.
    pub fn is_exclusive(self) -> bool {
        self.node.exclusive
    }

    /// Its devices, ascending by id.
    pub fn devices(self) -> impl ExactSizeIterator<Item = DeviceView<'a>> {
        self.node.cards.iter().map(move |card| DeviceView { fleet: self.fleet, node: self.node, card })
    }
}

impl<'a> DeviceView<'a> {
    /// Its id.
    pub fn id(self) -> DeviceId {
        self.card.id
    }

    /// The node it is in.
    pub fn node(self) -> NodeId {
        self.node.id
    }

    /// The model's name.
    pub fn model(self) -> &'a str {
        let kind = &self.fleet.kinds[usize::from(self.card.kind)];
        &self.fleet.models[usize::from(kind.model)]
    }

    /// Memory in MiB.
    pub fn memory_mib(self) -> u32 {
        self.card.memory_mib
    }

    /// Dense FP16 TFLOPS × 1000; 0: not rentable as units.
    pub fn tflops_milli(self) -> u32 {
        self.fleet.kinds[usize::from(self.card.kind)].tflops_milli
    }

    /// Whether new leases may be placed on it: the device itself is in service and its node is offered.
    pub fn is_offered(self) -> bool {
        self.card.offered && self.node.status == NodeStatus::Offered
    }

    /// Whether the device itself is in service, whatever its node's status.
    pub fn is_in_service(self) -> bool {
        self.card.offered
    }

    /// What leases hold.
    pub fn taken(self) -> Share {
        self.card.taken.share()
    }

    /// What was freed and is not yet measured clean.
    pub fn unclean(self) -> Share {
        self.card.unclean.share()
    }

    /// What is neither taken nor unclean.
    pub fn left(self) -> Share {
        self.card.left()
    }

    /// Most soft shares at a time; 0: rented whole only.
    pub fn max_shares(self) -> u8 {
        self.card.max_shares
    }

    /// How many soft shares stand on it, unclean ones included.
    pub fn shares(self) -> u32 {
        u32::from(self.card.taken.shares) + u32::from(self.card.unclean.shares)
    }
}
