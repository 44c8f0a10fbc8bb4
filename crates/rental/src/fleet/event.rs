//! Facts about the fleet. They stand in the operator's part.

use crate::event::events;
use minicbor::{Decode, Encode};
use placement::NodeSpec;
use serde::{Deserialize, Serialize};
use units::{AgentId, DeviceId, Grant, LeaseId, NodeId, PoolId};

events! {
    /// A fact about the fleet.
    PoolAdded = "fleet.pool_added/1"
    AgentJoined = "fleet.agent_joined/1"
    NodeAdded = "fleet.node_added/1"
    NodeMarked = "fleet.node_marked/1"
    NodeRemoved = "fleet.node_removed/1"
    DeviceMarked = "fleet.device_marked/1"
    Taken = "fleet.taken/1"
    Freed = "fleet.freed/1"
    Cleared = "fleet.cleared/1"
}

/// A node's standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// May be rented.
    #[n(0)]
    Offered,
    /// Runs what it runs and takes nothing new.
    #[n(1)]
    Draining,
    /// Not seen: not on offer; what runs there is unknown, and still runs until proven otherwise.
    #[n(2)]
    Lost,
    /// Seen, but not to be trusted with new leases: its clock is off.
    #[n(3)]
    Unfit,
}

/// A pool came into being.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct PoolAdded {
    /// The pool.
    #[n(0)]
    pub pool: PoolId,
    /// Its name.
    #[n(1)]
    pub name: String,
}

/// An agent is known.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct AgentJoined {
    /// The agent.
    #[n(0)]
    pub agent: AgentId,
    /// Its name.
    #[n(1)]
    pub name: String,
}

/// A node came into the fleet.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct NodeAdded {
    /// The node.
    #[n(0)]
    pub node: NodeId,
    /// Who runs leases on it.
    #[n(1)]
    pub agent: AgentId,
    /// Its name.
    #[n(2)]
    pub name: String,
    /// Pool, CPU, memory, labels and devices.
    #[n(3)]
    pub spec: NodeSpec,
}

/// A node's standing changed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct NodeMarked {
    /// The node.
    #[n(0)]
    pub node: NodeId,
    /// Its standing from here on.
    #[n(1)]
    pub mark: Mark,
}

/// A node left the fleet.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct NodeRemoved {
    /// The node.
    #[n(0)]
    pub node: NodeId,
}

/// A device is on offer or not.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct DeviceMarked {
    /// The device.
    #[n(0)]
    pub device: DeviceId,
    /// Whether it may be rented.
    #[n(1)]
    pub offered: bool,
}

/// Capacity went to a lease.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Taken {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// What it got, by node.
    #[n(1)]
    pub grants: Vec<Grant>,
}

/// Capacity left a lease; it cannot be rented before it is cleared.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Freed {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// What it gave back, by node.
    #[n(1)]
    pub grants: Vec<Grant>,
}

/// Freed capacity is clean and on offer again.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Cleared {
    /// Which lease had it, one per grant.
    #[n(0)]
    pub leases: Vec<LeaseId>,
    /// What is clean.
    #[n(1)]
    pub grants: Vec<Grant>,
}
