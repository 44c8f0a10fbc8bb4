//! Facts about the fleet, in the operator's part.

use super::{Grant, facts};
use minicbor::Decode;

facts! {
    "fleet.pool_added/1" => PoolAdded
    "fleet.agent_joined/1" => AgentJoined
    "fleet.node_added/1" => NodeAdded
    "fleet.node_marked/1" => NodeMarked
    "fleet.node_removed/1" => NodeRemoved
    "fleet.device_marked/1" => DeviceMarked
    "fleet.taken/1" => Taken
    "fleet.freed/1" => Freed
    "fleet.cleared/1" => Cleared
}

#[derive(Decode)]
pub struct PoolAdded {
    #[n(0)]
    pub pool: u64,
}

#[derive(Decode)]
pub struct AgentJoined {
    #[n(0)]
    pub agent: u64,
}

#[derive(Decode)]
pub struct NodeAdded {
    #[n(0)]
    pub node: u64,
    #[n(1)]
    pub agent: u64,
    #[n(3)]
    pub spec: NodeSpec,
}

#[derive(Decode)]
pub struct NodeSpec {
    #[n(0)]
    pub pool: u64,
    #[n(1)]
    pub cpu: u32,
    #[n(2)]
    pub memory: u32,
    #[n(4)]
    pub devices: Vec<DeviceSpec>,
}

#[derive(Decode)]
pub struct DeviceSpec {
    #[n(0)]
    pub id: u64,
    #[n(1)]
    pub model: String,
    #[n(2)]
    pub memory: u32,
    #[n(3)]
    pub tflops: u32,
    #[n(4)]
    pub max_shares: u8,
}

#[derive(Decode)]
pub struct NodeMarked {
    #[n(0)]
    pub node: u64,
    /// 0 is offered; every other mark takes nothing new.
    #[n(1)]
    pub mark: u8,
}

#[derive(Decode)]
pub struct NodeRemoved {
    #[n(0)]
    pub node: u64,
}

#[derive(Decode)]
pub struct DeviceMarked {
    #[n(0)]
    pub device: u64,
    #[n(1)]
    pub offered: bool,
}

#[derive(Decode)]
pub struct Taken {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub grants: Vec<Grant>,
}

#[derive(Decode)]
pub struct Freed {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub grants: Vec<Grant>,
}

#[derive(Decode)]
pub struct Cleared {
    #[n(0)]
    pub leases: Vec<u64>,
    #[n(1)]
    pub grants: Vec<Grant>,
}
