//! The long poll: what should run on an agent's nodes, and what a person wants to see of it.

use crate::{Generation, Instance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{AgentId, Assignment, DeviceId, Time, Workload};

/// `POST /v1/agent/poll?wait=…`: asks for what changed. Answered at once when something did, else after the wait
/// with no assignments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// Who asks.
    pub agent: AgentId,
    /// How far it has heard; [`Generation::NONE`] asks for the full set.
    pub generation: Generation,
    /// [`crate::digest`] of the assignments it holds.
    pub digest: u64,
    /// The agent's wall clock: only for measuring how far it is off.
    pub clock: Time,
}

/// The answer to [`Poll`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// How far this answer goes.
    pub generation: Generation,
    /// Whether `assignments` is the full set; otherwise it holds what changed since the agent's generation.
    pub full: bool,
    /// What should run, and what should be ended.
    pub assignments: Vec<AssignmentBody>,
    /// Deadlines that moved, of assignments that did not change.
    #[serde(default)]
    pub deadlines: Vec<Deadline>,
    /// [`crate::digest`] of the full set at `generation`.
    pub digest: u64,
    /// The server's clock: only for measuring how far the agent is off.
    pub now: Time,
    /// Sessions to open: each is dialled once.
    #[serde(default)]
    pub sessions: Vec<SessionOpen>,
    /// Every device that is freed and waits to be measured clean.
    #[serde(default)]
    pub measure_clean: Vec<DeviceId>,
}

/// One assignment with what the agent needs to carry it out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignmentBody {
    /// The wish itself.
    pub assignment: Assignment,
    /// What to run; `None` where it is only to be ended.
    pub workload: Option<Workload>,
    /// The server has heard that it is usable there: if it is not there any more it was lost, and is not started again.
    #[serde(default)]
    pub ready: bool,
    /// Milliseconds from now until balance, credit and grace end; `None` where nothing bounds it.
    pub stop_in_ms: Option<u64>,
    /// Environment that the platform adds to the workload's own, such as the lease's own key.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

impl AssignmentBody {
    /// Which workload on which node this is about.
    pub fn instance(&self) -> Instance {
        Instance::of(&self.assignment)
    }
}

/// A deadline that moved because the tenant paid, or burns faster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadline {
    /// Whose.
    pub instance: Instance,
    /// Milliseconds from now; `None` where nothing bounds it any more.
    pub stop_in_ms: Option<u64>,
}

/// A session that the agent dials at `/v1/agent/sessions/{id}`, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpen {
    /// Single-use secret name.
    pub id: String,
    /// The workload it concerns.
    pub instance: Instance,
    /// What is wanted of it.
    pub kind: SessionKind,
}

/// What a session does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// Runs a command inside the lease.
    Exec {
        /// Command and arguments.
        argv: Vec<String>,
        /// Whether it gets a terminal.
        tty: bool,
    },
    /// Reads the workload's output.
    Logs {
        /// Whether it stays open for what comes.
        follow: bool,
        /// Only the last so many lines; `None` for all that is kept.
        tail: Option<u32>,
    },
}
