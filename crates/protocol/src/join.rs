//! The first exchange: an agent says which nodes it has, the server says what it calls them.

use serde::{Deserialize, Serialize};
use units::{AgentId, DeviceId, NodeId};

/// `POST /v1/agent/join`: an agent introduces itself and the nodes it owns. Repeated after each restart and
/// whenever what it owns has changed; the same names and uuids keep their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    /// Version of these bodies: [`crate::VERSION`].
    pub version: u32,
    /// The machine's own name.
    pub hostname: String,
    /// Every node of this agent.
    pub nodes: Vec<NodeReport>,
    /// What the machine can do for a lease, and what it cannot, with the reason.
    #[serde(default)]
    pub capabilities: Vec<Capability>,
}

/// One node as its agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Its name, unique within its pool.
    pub name: String,
    /// CPU in thousandths of a core.
    pub cpu_milli: u32,
    /// Main memory in MiB.
    pub memory_mib: u32,
    /// Labels that an ask may require, such as `region=cn-east` or `simulated`.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Its GPUs, by index.
    #[serde(default)]
    pub devices: Vec<DeviceReport>,
}

/// One GPU as its driver describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// The vendor's lasting name of this very card, such as `GPU-8f6e…`.
    pub uuid: String,
    /// The model as the fleet knows it, such as `A100-80GB`.
    pub model: String,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Dense FP16 throughput in thousandths of a TFLOPS; 0 where it is not known.
    pub tflops_milli: u64,
    /// How many leases may share it at once (1: whole cards only).
    pub max_shares: u32,
    /// Its place in the node, from 0.
    pub index: u32,
}

/// Something a machine can or cannot do for a lease, said aloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// What, such as `limit.memory`, `containers` or `gpu`.
    pub name: String,
    /// Whether it stands.
    pub available: bool,
    /// How, or why not.
    pub reason: String,
}

/// The answer to [`Join`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// What the agent is called from now on.
    pub agent: AgentId,
    /// The journal's id in hexadecimal. It marks every workload, so that an agent never ends another log's.
    pub log: String,
    /// The agent's nodes.
    pub nodes: Vec<JoinedNode>,
}

/// The id of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedNode {
    /// The name it was reported with.
    pub name: String,
    /// Its id.
    pub node: NodeId,
    /// Its GPUs.
    pub devices: Vec<JoinedDevice>,
}

/// The id of one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedDevice {
    /// The uuid it was reported with.
    pub uuid: String,
    /// Its id.
    pub device: DeviceId,
}
