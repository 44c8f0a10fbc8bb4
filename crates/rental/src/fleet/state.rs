//! The fleet as the core knows it: names and standing here, capacity in `placement`.

use super::{Event, Mark};
use placement::{Fleet, NodeStatus};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use units::{AgentId, DeviceId, Grant, LeaseId, NodeId, PoolId, Share};

/// Pools, agents, nodes and what is taken of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    devices: Fleet,
    /// Pools by id, with their names.
    pub pools: BTreeMap<PoolId, String>,
    /// Agents by id, with their names.
    pub agents: BTreeMap<AgentId, String>,
    /// Nodes by id.
    pub nodes: BTreeMap<NodeId, Node>,
    /// Nodes of each agent; none of one whose nodes are all gone.
    by_agent: BTreeMap<AgentId, BTreeSet<NodeId>>,
    /// Number of the last device ever added.
    pub last_device: u64,
    /// Number of the last node ever added.
    pub last_node: u64,
    /// What was freed and waits to be measured clean.
    /// A lease that comes back to a node may leave it again before it was measured.
    unclean: BTreeMap<(NodeId, LeaseId), Vec<Freed>>,
}

/// A grant that its lease gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Freed {
    /// By which entry: only a measurement after it counts.
    pub seq: u64,
    pub grant: Grant,
}

/// A node beside its capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Who runs leases on it.
    pub agent: AgentId,
    /// Its name.
    pub name: String,
    /// Its standing.
    pub mark: Mark,
}

impl State {
    /// Capacity: what there is, what is taken.
    pub fn devices(&self) -> &Fleet {
        &self.devices
    }

    /// Devices on the agent's nodes that wait to be measured clean, ascending.
    pub fn unclean_of(&self, agent: AgentId) -> Vec<DeviceId> {
        let mine = |node: &NodeId| self.nodes.get(node).is_some_and(|n| n.agent == agent);
        let freed = self.unclean.iter().filter(|((node, _), _)| mine(node)).flat_map(|(_, freed)| freed);
        let mut devices: Vec<DeviceId> = freed.flat_map(|freed| self.whole_cards(&freed.grant)).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// Grants that wait to be measured clean, with the lease that had them.
    pub fn waiting(&self) -> impl Iterator<Item = (LeaseId, &Grant)> {
        self.freed().map(|(lease, freed)| (lease, &freed.grant))
    }

    pub(super) fn freed(&self) -> impl Iterator<Item = (LeaseId, &Freed)> {
        self.unclean.iter().flat_map(|((_, lease), all)| all.iter().map(|freed| (*lease, freed)))
    }

    /// The cards that a grant has whole. They hold memory that must be measured clean; a share is clean when its
    /// lease's processes are gone.
    pub fn whole_cards<'a>(&'a self, grant: &'a Grant) -> impl Iterator<Item = DeviceId> + 'a {
        let whole = |device: DeviceId, share: Share| {
            share.compute == Share::WHOLE && self.devices.device(device).is_some_and(|d| d.memory_mib() == share.memory_mib)
        };
        grant.slices.iter().filter(move |s| whole(s.device, s.share)).map(|s| s.device)
    }

    /// Nodes of an agent, ascending.
    pub fn nodes_of(&self, agent: AgentId) -> impl Iterator<Item = NodeId> + '_ {
        self.by_agent.get(&agent).into_iter().flatten().copied()
    }

    /// Holds the nodes by agent against the nodes. The error names the first thing that is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        let kept = self.by_agent.iter().flat_map(|(agent, nodes)| nodes.iter().map(|node| (*node, *agent)));
        let same = kept.collect::<BTreeMap<_, _>>() == self.nodes.iter().map(|(id, node)| (*id, node.agent)).collect();
        if same { Ok(()) } else { Err("broken: each agent has its nodes".into()) }
    }

    fn measured(&mut self, lease: LeaseId, grant: &Grant) {
        let waiting = self.unclean.get_mut(&(grant.node, lease)).expect("only what was freed is cleared");
        let at = waiting.iter().position(|freed| freed.grant == *grant).expect("only what was freed is cleared");
        waiting.remove(at);
        if waiting.is_empty() {
            self.unclean.remove(&(grant.node, lease));
        }
    }
}

/// Folds a fact about the fleet.
pub fn apply(fleet: &mut State, seq: u64, event: &Event, room: &mut u64) {
    match event {
        Event::PoolAdded(e) => {
            fleet.pools.insert(e.pool, e.name.clone());
        }
        Event::AgentJoined(e) => {
            fleet.agents.insert(e.agent, e.name.clone());
        }
        Event::NodeAdded(e) => {
            fleet.last_node = e.node.0;
            fleet.last_device = e.spec.devices.iter().map(|d| d.id.0).fold(fleet.last_device, u64::max);
            fleet.devices.add_node(e.node, e.spec.clone());
            fleet.nodes.insert(e.node, Node { agent: e.agent, name: e.name.clone(), mark: Mark::Offered });
            fleet.by_agent.entry(e.agent).or_default().insert(e.node);
            *room += 1;
        }
        Event::NodeMarked(e) => {
            fleet.devices.set_node_offered(e.node, status(e.mark));
            fleet.nodes.get_mut(&e.node).expect("only a known node is marked").mark = e.mark;
            *room += 1;
        }
        Event::NodeRemoved(e) => {
            fleet.devices.remove_node(e.node);
            let node = fleet.nodes.remove(&e.node).expect("only a known node is removed");
            fleet.by_agent.entry(node.agent).or_default().remove(&e.node);
            // A gang may span nodes once the large one is gone.
            *room += 1;
        }
        Event::DeviceMarked(e) => {
            fleet.devices.set_device_offered(e.device, e.offered);
            *room += 1;
        }
        Event::Taken(e) => fleet.devices.take(&e.grants),
        Event::Freed(e) => {
            fleet.devices.free(&e.grants);
            for grant in &e.grants {
                fleet.unclean.entry((grant.node, e.lease)).or_default().push(Freed { seq, grant: grant.clone() });
            }
        }
        Event::Cleared(e) => {
            for (lease, grant) in e.leases.iter().zip(&e.grants) {
                fleet.measured(*lease, grant);
            }
            fleet.devices.clear(&e.grants);
            *room += 1;
        }
    }
}

fn status(mark: Mark) -> NodeStatus {
    match mark {
        Mark::Offered => NodeStatus::Offered,
        Mark::Draining | Mark::Unfit => NodeStatus::Draining,
        Mark::Lost => NodeStatus::Lost,
    }
}
