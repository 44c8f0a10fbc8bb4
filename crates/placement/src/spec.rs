//! What a node brings into the fleet, and whether it is on offer. These stand in events, so they have stored forms.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use units::{DeviceId, PoolId};

/// A node as it joins the fleet.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct NodeSpec {
    /// The pool it is scheduled in.
    #[n(0)]
    pub pool: PoolId,
    /// CPU that leases may use, in thousandths of a core.
    #[n(1)]
    pub cpu_milli: u32,
    /// Main memory that leases may use, in MiB.
    #[n(2)]
    pub memory_mib: u32,
    /// Labels it carries, such as `region=north`.
    #[n(3)]
    pub labels: Vec<String>,
    /// Its GPUs; none for a CPU node.
    #[n(4)]
    pub devices: Vec<DeviceSpec>,
}

/// One GPU of a node.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// Its number, unique over the whole fleet.
    #[n(0)]
    pub id: DeviceId,
    /// The model's name, such as `A100-80GB`.
    #[n(1)]
    pub model: String,
    /// Memory in MiB.
    #[n(2)]
    pub memory_mib: u32,
    /// Dense FP16 TFLOPS × 1000, by the vendor's data sheet; 0: not rentable as units.
    #[n(3)]
    pub tflops_milli: u32,
    /// Most soft shares at a time; 0: rented whole only.
    #[n(4)]
    pub max_shares: u8,
}

/// Whether a node takes new leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    /// It does.
    #[n(0)]
    Offered,
    /// It runs what it has and takes nothing new.
    #[n(1)]
    Draining,
    /// It cannot be observed, so nothing of it is offered.
    #[n(2)]
    Lost,
}
