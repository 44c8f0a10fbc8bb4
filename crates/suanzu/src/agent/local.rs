//! The way to the server in this very process: the functions behind the routes, called directly.

use drivers::{Uplink, UplinkError};
use protocol::{Changes, Join, Joined, Poll, Problem, Report};
use server::{App, agents};
use std::time::Duration;
use tokio::runtime::Handle;
use units::AgentId;

/// An uplink within the process.
pub struct Local {
    app: App,
    agent: AgentId,
    runtime: Handle,
}

impl Local {
    /// An uplink for this agent, which is enrolled. Its calls block a thread outside of the runtime.
    pub fn new(app: App, agent: AgentId, runtime: Handle) -> Local {
        Local { app, agent, runtime }
    }
}

impl Uplink for Local {
    fn join(&self, join: &Join) -> Result<Joined, UplinkError> {
        self.runtime.block_on(agents::join(&self.app, self.agent, join)).map_err(refused)
    }

    fn poll(&self, poll: &Poll, wait: Duration) -> Result<Changes, UplinkError> {
        self.runtime.block_on(agents::poll(&self.app, self.agent, poll, wait)).map_err(refused)
    }

    fn report(&self, report: &Report) -> Result<(), UplinkError> {
        self.runtime.block_on(agents::report(&self.app, self.agent, report)).map_err(refused)
    }
}

fn refused(problem: server::Problem) -> UplinkError {
    UplinkError::Refused(Problem {
        code: problem.code().into(),
        status: problem.status().as_u16(),
        title: problem.code().into(),
        detail: problem.detail().into(),
        retryable: problem.retryable(),
    })
}
