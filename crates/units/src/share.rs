//! How much of which device. A whole card is a share of all of it: one quantity, counted in one way.

use crate::{DeviceId, NodeId};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// A part of one GPU: compute in permille of the card, memory in MiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Share {
    /// Compute, in permille of the card (1000 = all of it).
    #[n(0)]
    pub compute: u32,
    /// Memory in MiB.
    #[n(1)]
    pub memory_mib: u32,
}

impl Share {
    /// Compute of a whole card, in permille.
    pub const WHOLE: u32 = 1000;
}

/// A share of a named device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Slice {
    /// The device.
    #[n(0)]
    pub device: DeviceId,
    /// How much of it.
    #[n(1)]
    pub share: Share,
}

/// What a lease gets on one node. A lease on several nodes has one grant per node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Grant {
    /// The node.
    #[n(0)]
    pub node: NodeId,
    /// CPU in thousandths of a core.
    #[n(1)]
    pub cpu_milli: u32,
    /// Main memory in MiB.
    #[n(2)]
    pub memory_mib: u32,
    /// Devices, ascending by id; empty for CPU alone.
    #[n(3)]
    pub slices: Vec<Slice>,
    /// The whole server is taken: nothing else may run on the node.
    #[n(4)]
    pub exclusive: bool,
}
