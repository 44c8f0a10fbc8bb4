//! The fleet: nodes in order of id, their summaries, and the three steps of capacity: taken, freed, cleared.

use crate::{
    DeviceSpec, NodeSpec, NodeStatus,
    card::{Card, Held},
    node::{Amount, Node},
    room::Block,
    row::{MIXED, Row, Space},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{DeviceId, Grant, NodeId};

/// Devices that nothing but their number tells apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kind {
    /// Index of the fleet's models.
    pub model: u16,
    pub memory_mib: u32,
    pub tflops_milli: u32,
    pub max_shares: u8,
}

/// All nodes and what is taken of them. Equal histories give equal fleets, byte for byte.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fleet {
    /// Names are compared once per ask; a scan sees their indices only.
    pub(crate) models: Vec<String>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) labels: Vec<String>,
    pub(crate) label_numbers: BTreeMap<String, u32>,
    /// Summaries, in step with `nodes`.
    pub(crate) rows: Vec<Row>,
    /// Summaries of [`Block::ROWS`] rows each.
    pub(crate) blocks: Vec<Block>,
    /// One for each card, node after node.
    pub(crate) spaces: Vec<Space>,
    /// Ascending by id.
    pub(crate) nodes: Vec<Node>,
    pub(crate) homes: BTreeMap<DeviceId, NodeId>,
}

impl Fleet {
    /// Takes a node into the fleet, offered and empty. Its id and its devices' ids must be new.
    pub fn add_node(&mut self, id: NodeId, spec: NodeSpec) {
        let at = self.position(id).expect_err("a node joins once");
        let labels = spec.labels.iter().map(|label| self.label(label)).collect();
        let mut cards: Vec<Card> = spec.devices.iter().map(|device| self.card(device)).collect();
        cards.sort_by_key(|card| card.id);
        for card in &cards {
            assert!(self.homes.insert(card.id, id).is_none(), "a device has one node: {}", card.id);
        }
        let node = Node {
            id,
            pool: spec.pool,
            status: NodeStatus::Offered,
            labels,
            cpu: Amount::new(spec.cpu_milli),
            memory: Amount::new(spec.memory_mib),
            taken_grants: 0,
            unclean_grants: 0,
            exclusive: false,
            cards,
        };
        self.nodes.insert(at, node);
        self.summarise();
    }

    /// Takes a node out of the fleet. It must hold nothing, clean or not.
    pub fn remove_node(&mut self, id: NodeId) {
        let at = self.position(id).expect("only a known node leaves");
        assert!(self.nodes[at].is_empty(), "only an empty node leaves: {id}");
        for card in self.nodes.remove(at).cards {
            self.homes.remove(&card.id);
        }
        self.summarise();
    }

    /// Says whether a node takes new leases. What runs on it stays.
    pub fn set_node_offered(&mut self, id: NodeId, status: NodeStatus) {
        self.change(id, |node| node.status = status);
    }

    /// Says whether a device takes new leases. What runs on it stays.
    pub fn set_device_offered(&mut self, id: DeviceId, offered: bool) {
        let node = self.homes.get(&id).copied().expect("only a known device changes");
        self.change(node, |node| node.card_mut(id).offered = offered);
    }

    /// Gives capacity to a lease. Panics if it is not there: whoever asks has placed first.
    pub fn take(&mut self, grants: &[Grant]) {
        for grant in grants {
            self.change(grant.node, |node| node.take(grant));
        }
    }

    /// Ends a lease's hold on capacity, which stays out of stock until it is cleared.
    pub fn free(&mut self, grants: &[Grant]) {
        for grant in grants {
            self.change(grant.node, |node| node.free(grant));
        }
    }

    /// Returns freed capacity to stock: it was measured clean.
    pub fn clear(&mut self, grants: &[Grant]) {
        for grant in grants {
            self.change(grant.node, |node| node.clear(grant));
        }
    }

    fn change(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        let at = self.position(id).expect("only a known node changes");
        change(&mut self.nodes[at]);
        self.summarise_node(at);
    }

    /// Makes all summaries anew: after nodes came or went.
    fn summarise(&mut self) {
        self.rows.clear();
        self.spaces.clear();
        for node in &self.nodes {
            let row = Row::of(node, self.spaces.len() as u32);
            self.spaces.extend(node.cards.iter().map(|card| Space::of(card, row.open)));
            self.rows.push(row);
        }
        self.blocks = self.rows.chunks(Block::ROWS).map(Block::of).collect();
    }

    fn summarise_node(&mut self, at: usize) {
        let (node, row) = (&self.nodes[at], &mut self.rows[at]);
        let before = row.room;
        row.count(node);
        for (space, card) in self.spaces[row.spaces()].iter_mut().zip(&node.cards) {
            *space = Space::of(card, row.open);
        }
        if row.room != before {
            let block = at / Block::ROWS;
            self.blocks[block] = Block::of(&self.rows[Block::rows(block, self.rows.len())]);
        }
    }

    /// Where the node stands, or where it would.
    pub(crate) fn position(&self, id: NodeId) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&id, |row| row.id)
    }

    fn label(&mut self, name: &str) -> u32 {
        if let Some(number) = self.label_numbers.get(name) {
            return *number;
        }
        let number = self.labels.len() as u32;
        self.labels.push(name.to_owned());
        self.label_numbers.insert(name.to_owned(), number);
        number
    }

    fn card(&mut self, device: &DeviceSpec) -> Card {
        let kind = Kind {
            model: intern(&mut self.models, &device.model),
            memory_mib: device.memory_mib,
            tflops_milli: device.tflops_milli,
            max_shares: device.max_shares,
        };
        Card {
            id: device.id,
            kind: intern_kind(&mut self.kinds, kind),
            max_shares: device.max_shares,
            offered: true,
            memory_mib: device.memory_mib,
            taken: Held::default(),
            unclean: Held::default(),
        }
    }
}

fn intern(known: &mut Vec<String>, name: &str) -> u16 {
    let at = known.iter().position(|k| k == name).unwrap_or_else(|| {
        known.push(name.to_owned());
        known.len() - 1
    });
    u16::try_from(at).expect("a fleet has fewer than 65,536 models")
}

fn intern_kind(known: &mut Vec<Kind>, kind: Kind) -> u16 {
    let at = known.iter().position(|k| *k == kind).unwrap_or_else(|| {
        known.push(kind);
        known.len() - 1
    });
    // The two highest numbers mean "mixed" and "no device" in a row.
    u16::try_from(at).ok().filter(|k| *k < MIXED).expect("a fleet has fewer than 65,534 kinds of device")
}
