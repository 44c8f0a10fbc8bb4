//! The way to the server in this very process: the functions behind the routes, called directly.

use drivers::{Uplink, UplinkError};
use protocol::{Changes, Join, Joined, Poll, Problem, Report};
use server::{App, agents};
use std::{sync::mpsc, time::Duration};
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

    /// Waits for a task: a runtime that is shut down ends the call, and not the thread that waits for it.
    fn wait<T: Send + 'static>(
        &self,
        call: impl Future<Output = Result<T, server::Problem>> + Send + 'static,
    ) -> Result<T, UplinkError> {
        let (answer, later) = mpsc::channel();
        self.runtime.spawn(async move {
            // Whoever waits outlives the task.
            let _ = answer.send(call.await);
        });
        match later.recv() {
            Ok(answer) => answer.map_err(refused),
            Err(_) => Err(UplinkError::Unreachable("the server is being stopped".into())),
        }
    }
}

impl Uplink for Local {
    fn join(&self, join: &Join) -> Result<Joined, UplinkError> {
        let (app, agent, join) = (self.app.clone(), self.agent, join.clone());
        self.wait(async move { agents::join(&app, agent, &join).await })
    }

    fn poll(&self, poll: &Poll, wait: Duration) -> Result<Changes, UplinkError> {
        let (app, agent, poll) = (self.app.clone(), self.agent, poll.clone());
        self.wait(async move { agents::poll(&app, agent, &poll, wait).await })
    }

    fn report(&self, report: &Report) -> Result<(), UplinkError> {
        let (app, agent, report) = (self.app.clone(), self.agent, report.clone());
        self.wait(async move { agents::report(&app, agent, &report).await })
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
