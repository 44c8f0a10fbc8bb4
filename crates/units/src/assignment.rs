//! What should run on a node, and what was seen there: the two sides of every reconcile.

use crate::{Grant, LeaseId, NodeId};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// One lease's wish for one node.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Assignment {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// Rises with every start of the lease: a report of an older attempt is stale.
    #[n(1)]
    pub attempt: u32,
    /// Sequence number of the entry that last changed this assignment.
    #[n(2)]
    pub changed: u64,
    /// Whether the workload should run or be ended.
    #[n(3)]
    pub wanted: Wanted,
    /// What it may use on this node.
    #[n(4)]
    pub grant: Grant,
}

/// What the core wants of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Started if it is not running, left alone if it is.
    #[n(0)]
    Run,
    /// Ended with its whole process tree, and reported as [`Phase::Gone`].
    #[n(1)]
    End,
}

/// What an agent saw of one workload on one node.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Observation {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// The attempt that was seen.
    #[n(1)]
    pub attempt: u32,
    /// Where.
    #[n(2)]
    pub node: NodeId,
    /// Its state.
    #[n(3)]
    pub phase: Phase,
    /// Milliseconds since the phase began; since the last sign of life, where nobody saw service end. By the node's monotonic
    /// clock. Over a restart of the node the difference of its wall clock takes its place, never its instant.
    #[n(4)]
    pub ago_ms: u64,
}

/// The state of a workload as an agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Being prepared; the text says what is going on (`pulling image 43 %`). Never journaled.
    #[n(0)]
    Starting(#[n(0)] String),
    /// All of it is usable.
    #[n(1)]
    Ready,
    /// It ended by itself with this exit code (128 + signal where a signal ended it).
    #[n(2)]
    Exited(#[n(0)] i32),
    /// It could not be started, or the platform failed it (device lost, image missing).
    #[n(3)]
    Failed(#[n(0)] String),
    /// Nothing of it is left on the node: processes, containers, cgroups.
    #[n(4)]
    Gone,
    /// The node ended it because the money that covers it ran out at the deadline it was given.
    #[n(5)]
    OutOfFunds,
}
