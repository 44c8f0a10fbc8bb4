//! The seam between an agent's loop and its server: the same loop runs inside the server's process and over HTTP.

use protocol::{Changes, Join, Joined, Poll, Problem, Report};
use std::time::Duration;

/// A way to a server. Calls block; a poll and a report may be under way at the same time.
pub trait Uplink: Send + Sync {
    /// Introduces the agent and its nodes.
    fn join(&self, join: &Join) -> Result<Joined, UplinkError>;

    /// Asks for what changed, and waits up to `wait` for it.
    fn poll(&self, poll: &Poll, wait: Duration) -> Result<Changes, UplinkError>;

    /// Says what was seen. After an `Ok` the report need not be repeated.
    fn report(&self, report: &Report) -> Result<(), UplinkError>;
}

/// Why the server could not be reached or did not agree.
#[derive(Debug, thiserror::Error)]
pub enum UplinkError {
    /// The server said no.
    #[error("{} ({}): {}", .0.title, .0.code, .0.detail)]
    Refused(Problem),
    /// No answer came. The workloads run on; the call is repeated.
    #[error("the server does not answer: {0}")]
    Unreachable(String),
}
