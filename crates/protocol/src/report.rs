//! What an agent saw: differences, proofs of service, devices measured clean, faults.

use crate::{Generation, Instance};
use serde::{Deserialize, Serialize};
use units::{AgentId, DeviceId, Observation};

/// `POST /v1/agent/report`. A report that says nothing new writes nothing; repeating one is harmless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Who saw it.
    pub agent: AgentId,
    /// How far the reporter had heard when it looked: a report may arrive late, or twice.
    #[serde(default)]
    pub generation: Generation,
    /// Phases that differ from the last accepted report.
    #[serde(default)]
    pub observations: Vec<Observation>,
    /// Devices measured clean, if they were freed by an entry that `generation` covers.
    #[serde(default)]
    pub clean: Vec<DeviceId>,
    /// Proof of service: what is running and usable right now.
    #[serde(default)]
    pub serving: Vec<Instance>,
    /// Devices that cannot serve.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// What workloads use right now, where it is measured.
    #[serde(default)]
    pub usage: Vec<Usage>,
}

impl Report {
    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.observations.is_empty()
            && self.clean.is_empty()
            && self.serving.is_empty()
            && self.faults.is_empty()
            && self.usage.is_empty()
    }
}

/// A device that cannot serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Which.
    pub device: DeviceId,
    /// Why, for an operator.
    pub reason: String,
}

/// What one workload uses on one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Whose.
    pub instance: Instance,
    /// CPU time consumed since it started, in milliseconds.
    pub cpu_ms: u64,
    /// Main memory in use, in MiB.
    pub memory_mib: u32,
    /// GPU memory in use over its devices, in MiB.
    pub gpu_memory_mib: u32,
}
