//! `/v1/leases/{id}/logs` and `/exec`: what a workload writes, and commands beside it, through its agent.
//!
//! Frames of an exec session pass through as they are. To the agent: binary frames are input; a text frame is
//! `{"resize":{"columns":…,"rows":…}}` or `{"eof":true}`. From the agent: binary frames are output; the last one is a text
//! frame `{"exit":CODE}`.

use super::find;
use crate::{App, AtLeast, Caller, Params, Problem, bodies::words, path::Id, sessions::DIAL};
use axum::{
    body::Body,
    extract::{
        State, WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket, close_code, rejection::WebSocketUpgradeRejection},
    },
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::{SinkExt, StreamExt, future};
use protocol::{Instance, SessionKind};
use rental::{lease::Status, tenancy::Act};
use serde::Deserialize;
use std::convert::Infallible;
use tokio::time::timeout;
use units::{AgentId, LeaseId, NodeId};
use utoipa::{IntoParams, ToSchema};

/// Which output.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Output {
    /// Whether to stay for what comes.
    #[serde(default)]
    follow: bool,
    /// Only the last so many lines.
    tail: Option<u32>,
    /// Of which node; the first, unless told.
    #[param(value_type = Option<String>)]
    node: Option<NodeId>,
}

/// What the workload writes, as it comes.
#[utoipa::path(get, path = "/v1/leases/{id}/logs", tag = "leases", params(AtLeast, ("id" = String, Path), Output),
    responses((status = OK, body = str, content_type = "text/plain")))]
pub(super) async fn logs(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<LeaseId>,
    Params(output): Params<Output>,
) -> Result<Response, Problem> {
    caller.may(Act::Look)?;
    let (agent, instance) = place(&app, &caller, id, output.node).await?;
    let kind = SessionKind::Logs { follow: output.follow, tail: output.tail };
    let socket = open(&app, agent, instance, kind).await?;
    let bytes = |message| {
        future::ready(match message {
            Ok(Message::Binary(bytes)) => Some(Ok::<_, Infallible>(bytes)),
            Ok(Message::Text(text)) => Some(Ok(text.into())),
            _ => None,
        })
    };
    let output = socket.take_while(|message| future::ready(matches!(message, Ok(m) if !matches!(m, Message::Close(_)))));
    let output = output.filter_map(bytes).take_until(async move {
        tokio::select! {
            () = app.closed() => {}
            () = caller.lapsed(app.clone(), Act::Look) => {}
        }
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(output)).into_response())
}

/// The first text frame of an exec session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Exec {
    /// Command and arguments.
    argv: Vec<String>,
    /// Whether it gets a terminal.
    #[serde(default)]
    tty: bool,
    /// On which node; the first, unless told.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    node: Option<NodeId>,
}

/// Runs a command beside the workload. A WebSocket whose first text frame is `{"argv": […], "tty": false}`.
#[utoipa::path(get, path = "/v1/leases/{id}/exec", tag = "leases", params(("id" = String, Path)),
    responses((status = SWITCHING_PROTOCOLS, body = Exec)))]
pub(super) async fn exec(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<LeaseId>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    caller.may(Act::Rent)?;
    place(&app, &caller, id, None).await?;
    let upgrade = upgrade.map_err(|error| Problem::new("malformed", error.to_string()))?;
    Ok(upgrade.on_upgrade(async move |mut client| {
        if let Err(problem) = joined(&app, &caller, id, &mut client).await {
            let reason = format!("{}: {}", problem.code(), problem.detail()).chars().take(100).collect::<String>().into();
            let _ = client.send(Message::Close(Some(CloseFrame { code: close_code::POLICY, reason }))).await;
        }
    }))
}

async fn joined(app: &App, caller: &Caller, id: LeaseId, client: &mut WebSocket) -> Result<(), Problem> {
    let first = timeout(DIAL, client.recv()).await;
    let Ok(Some(Ok(Message::Text(text)))) = first else {
        return Err(Problem::new("malformed", "the first frame is text: {\"argv\": […], \"tty\": false}"));
    };
    let Exec { argv, tty, node } = serde_json::from_str(&text).map_err(|error| Problem::new("malformed", error.to_string()))?;
    if argv.is_empty() {
        return Err(Problem::field("/argv", "the first word names the program"));
    }
    words("/argv", &argv)?;
    let (agent, instance) = place(app, caller, id, node).await?;
    let workload = open(app, agent, instance, SessionKind::Exec { argv, tty }).await?;
    tokio::select! {
        () = splice(app, client, workload) => Ok(()),
        // Dropping the agent's socket closes it, which ends the command.
        () = caller.lapsed(app.clone(), Act::Rent) => Err(Problem::new("unauthenticated", "the key is not valid any more")),
    }
}

/// Passes frames both ways until one side closes.
async fn splice(app: &App, client: &mut WebSocket, workload: WebSocket) {
    let (mut to_client, from_client) = client.split();
    let (mut to_workload, from_workload) = workload.split();
    let up = async { from_client.forward(&mut to_workload).await };
    let down = async { from_workload.forward(&mut to_client).await };
    tokio::select! {
        _ = up => {}
        _ = down => {}
        () = app.closed() => {}
    }
    let _ = future::join(to_client.close(), to_workload.close()).await;
}

/// Where a lease of the caller's can be reached.
async fn place(app: &App, caller: &Caller, id: LeaseId, node: Option<NodeId>) -> Result<(AgentId, Instance), Problem> {
    let found = app.handle().read(|state| {
        let lease = find::owned(state, caller, id)?;
        let up = matches!(lease.status, Status::Starting | Status::Running | Status::Stopping(_));
        let member = lease.members.iter().filter(|_| up).find(|m| node.is_none_or(|node| node == m.grant.node));
        Some(member.and_then(|member| {
            let node = member.grant.node;
            let agent = state.fleet.nodes.get(&node)?.agent;
            Some((agent, Instance { lease: id, attempt: lease.attempt, node }))
        }))
    });
    match found {
        Some(Some(place)) => Ok(place),
        Some(None) if node.is_some() => Err(Problem::new("wrong_state", format!("{id} is not on that node now"))),
        Some(None) => Err(Problem::new("wrong_state", format!("{id} is not up now: of what it put out nothing is kept"))),
        None if find::closed(app, caller, id).await?.is_some() => Err(Problem::new("wrong_state", format!("{id} has ended"))),
        None => Err(Problem::not_found(id)),
    }
}

async fn open(app: &App, agent: AgentId, instance: Instance, kind: SessionKind) -> Result<WebSocket, Problem> {
    let socket = app.sessions().open(agent, instance, kind);
    match timeout(DIAL, socket).await {
        Ok(Ok(socket)) => Ok(socket),
        _ => Err(Problem::new("unreachable", format!("{} does not answer: its agent did not dial", instance.node))),
    }
}
