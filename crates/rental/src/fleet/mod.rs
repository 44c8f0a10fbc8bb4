//! Servers and cards: what is there, what is on offer, what is taken, what waits to be measured clean.

mod add;
mod event;
mod mark;
mod state;

pub use event::*;
pub(crate) use mark::give_back;
pub(crate) use state::apply;
pub use state::{Node, State};

use crate::{Refusal, State as Root};
use placement::NodeSpec;
use units::{AgentId, DeviceId, NodeId, PoolId};

/// What can be done to the fleet.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A new pool.
    AddPool {
        /// Its name, unique.
        name: String,
    },
    /// An agent that will own nodes; known by its name, so that a second join is no second agent.
    JoinAgent {
        /// Its name, unique.
        name: String,
    },
    /// A new node of a pool, with its devices numbered from the fleet's counter.
    AddNode {
        /// Its pool.
        pool: PoolId,
        /// Who runs leases on it.
        agent: AgentId,
        /// Its name, unique.
        name: String,
        /// What it has. Device ids are given by the core; those in it are ignored.
        spec: NodeSpec,
    },
    /// Another standing of a node: offered, draining or lost.
    MarkNode {
        /// The node.
        node: NodeId,
        /// Its standing from now on.
        mark: Mark,
    },
    /// Takes an empty node out of the fleet.
    RemoveNode {
        /// The node.
        node: NodeId,
    },
    /// Offers a device or not.
    MarkDevice {
        /// The device.
        device: DeviceId,
        /// Whether it may be rented.
        offered: bool,
    },
    /// Devices measured clean: they may be rented again.
    Clear {
        /// Devices that were freed. Those that do not wait for it are passed over.
        devices: Vec<DeviceId>,
        /// The last entry that the one who measured had heard of. What later entries freed is passed over: a report may
        /// arrive late. `None`: measured just now.
        heard: Option<u64>,
    },
}

impl Command {
    /// The kind in the entry's header.
    pub fn kind(&self) -> &'static str {
        match self {
            Command::AddPool { .. } => "fleet.add_pool",
            Command::JoinAgent { .. } => "fleet.join_agent",
            Command::AddNode { .. } => "fleet.add_node",
            Command::MarkNode { .. } => "fleet.mark_node",
            Command::RemoveNode { .. } => "fleet.remove_node",
            Command::MarkDevice { .. } => "fleet.mark_device",
            Command::Clear { .. } => "fleet.clear",
        }
    }
}

pub(crate) fn decide(root: &Root, command: &Command) -> Result<Vec<crate::Event>, Refusal> {
    let fleet = &root.fleet;
    let events = match command {
        Command::AddPool { name } => add::pool(fleet, name),
        Command::JoinAgent { name } => add::agent(fleet, name),
        Command::AddNode { pool, agent, name, spec } => add::node(fleet, *pool, *agent, name, spec),
        Command::MarkNode { node, mark } => mark::node(fleet, *node, *mark),
        Command::RemoveNode { node } => mark::remove(root, *node),
        Command::MarkDevice { device, offered } => mark::device(fleet, *device, *offered),
        Command::Clear { devices, heard } => Ok(mark::clear(fleet, devices, *heard)),
    }?;
    Ok(events.into_iter().map(crate::Event::Fleet).collect())
}
