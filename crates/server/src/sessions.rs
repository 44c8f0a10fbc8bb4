//! Sessions with a workload: a client waits, the agent is told at its next poll, dials once, and the two are joined.

use axum::extract::ws::WebSocket;
use protocol::{Instance, SessionKind, SessionOpen};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
    time::Duration,
};
use tokio::sync::{oneshot, watch};
use units::AgentId;

/// An agent that polls dials within a round trip; a container engine may take seconds to start a command.
pub(crate) const DIAL: Duration = Duration::from_secs(10);

/// Sessions that wait for their agent.
#[derive(Default)]
pub(crate) struct Sessions {
    waiting: Mutex<HashMap<String, Waiting>>,
    opened: watch::Sender<()>,
}

struct Waiting {
    agent: AgentId,
    instance: Instance,
    kind: SessionKind,
    told: bool,
    socket: oneshot::Sender<WebSocket>,
}

impl Sessions {
    /// Asks the agent for a session; the socket comes once it dials.
    pub fn open(&self, agent: AgentId, instance: Instance, kind: SessionKind) -> oneshot::Receiver<WebSocket> {
        let id = crate::secrets::generate("");
        let (socket, later) = oneshot::channel();
        let mut waiting = self.waiting();
        // Whoever asked and left is forgotten.
        waiting.retain(|_, session| !session.socket.is_closed());
        waiting.insert(id, Waiting { agent, instance, kind, told: false, socket });
        drop(waiting);
        self.opened.send_replace(());
        later
    }

    /// What the agent has not been told of yet; from now on it has.
    pub fn pending(&self, agent: AgentId) -> Vec<SessionOpen> {
        let mut waiting = self.waiting();
        let new = waiting.iter_mut().filter(|(_, session)| session.agent == agent && !session.told);
        new.map(|(id, session)| {
            session.told = true;
            SessionOpen { id: id.clone(), instance: session.instance, kind: session.kind.clone() }
        })
        .collect()
    }

    /// Changes whenever a session is opened.
    pub fn follow(&self) -> watch::Receiver<()> {
        self.opened.subscribe()
    }

    /// Whether this agent may dial this session.
    pub fn is_for(&self, id: &str, agent: AgentId) -> bool {
        self.waiting().get(id).is_some_and(|session| session.agent == agent)
    }

    /// The agent has dialled: its socket goes to whoever waits, once.
    pub fn dialled(&self, id: &str, socket: WebSocket) {
        if let Some(session) = self.waiting().remove(id) {
            // Nobody waits any more: dropping the socket closes it.
            let _ = session.socket.send(socket);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().expect("nothing panics while it holds this table")
    }
}
