//! What an agent and the server say to each other: versioned JSON bodies, and the few rules both sides share.
//!
//! An agent joins with what its nodes have, polls for what should run on them, and reports what it saw. Clocks
//! are never compared: deadlines travel as milliseconds from now, ages as milliseconds until now.
//!
//! Nothing of renting is known here, and nothing of how a workload is run.

mod join;
mod poll;
mod problem;
mod report;
mod set;

pub use join::{Capability, DeviceReport, Join, Joined, JoinedDevice, JoinedNode, NodeReport};
pub use poll::{AssignmentBody, Changes, Deadline, Poll, SessionKind, SessionOpen};
pub use problem::Problem;
pub use report::{Fault, Report, Usage};
pub use set::{Generation, Instance, digest, fingerprint, needs_full_set};

/// The version of these bodies. A server refuses a [`Join`] of another version with both numbers in its answer.
pub const VERSION: u32 = 1;
