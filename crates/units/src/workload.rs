//! What to run: kept in the directory (it may hold secrets), never in the journal.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A program to run for a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// How it is run.
    pub runtime: Runtime,
    /// Command and arguments. Empty: the image's own command (container), or a placeholder that waits (process).
    #[serde(default)]
    pub argv: Vec<String>,
    /// Environment, beside what the agent adds (`SUANZU_LEASE`, visible devices).
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Milliseconds between TERM and KILL when it is ended.
    #[serde(default = "default_grace_ms")]
    pub grace_ms: u32,
}

/// Ten seconds: what Docker gives a container between TERM and KILL.
fn default_grace_ms() -> u32 {
    10_000
}

/// How a workload is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// A process tree of the host, under a shim.
    Process,
    /// A container of this image, through the container engine.
    Container(String),
}

impl Default for Workload {
    fn default() -> Self {
        Workload { runtime: Runtime::Process, argv: Vec::new(), env: BTreeMap::new(), grace_ms: default_grace_ms() }
    }
}
