//! `/v1/agent`: what agents ask and say, in the bodies of crate `protocol`.

use crate::{App, Body, Caller, Params, Problem, agents, params, path::Id};
use axum::{
    Json,
    extract::{DefaultBodyLimit, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::StatusCode,
    response::Response,
};
use protocol::{Changes, Join, Joined, Poll, Report};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

/// A report about a hundred thousand leases is 16 MB.
const LIMIT: usize = 16 << 20;

pub(super) fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new().routes(routes!(join)).routes(routes!(poll)).routes(routes!(report)).routes(routes!(dial));
    routes.layer(DefaultBodyLimit::max(LIMIT))
}

/// An agent introduces its nodes.
#[utoipa::path(post, path = "/v1/agent/join", tag = "agent", request_body = Object, responses((status = OK, body = Object)))]
async fn join(State(app): State<App>, caller: Caller, body: Body<Join>) -> Result<Json<Joined>, Problem> {
    let agent = caller.agent()?;
    agents::join(&app, agent, &body.value).await.map(Json)
}

/// How long to wait.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wait {
    /// Such as `30s`.
    wait: Option<String>,
}

/// An agent asks what changed, and waits for it.
#[utoipa::path(post, path = "/v1/agent/poll", tag = "agent", params(Wait), request_body = Object,
    responses((status = OK, body = Object)))]
async fn poll(
    State(app): State<App>,
    caller: Caller,
    Params(wait): Params<Wait>,
    body: Body<Poll>,
) -> Result<Json<Changes>, Problem> {
    let agent = caller.agent()?;
    agents::poll(&app, agent, &body.value, params::wait(wait.wait.as_deref())?).await.map(Json)
}

/// An agent says what it saw.
#[utoipa::path(post, path = "/v1/agent/report", tag = "agent", request_body = Object, responses((status = NO_CONTENT)))]
async fn report(State(app): State<App>, caller: Caller, body: Body<Report>) -> Result<StatusCode, Problem> {
    let agent = caller.agent()?;
    agents::report(&app, agent, &body.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// An agent dials a session that a poll told it of. A WebSocket.
#[utoipa::path(get, path = "/v1/agent/sessions/{id}", tag = "agent", params(("id" = String, Path)),
    responses((status = SWITCHING_PROTOCOLS)))]
async fn dial(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let agent = caller.agent()?;
    if !app.sessions().is_for(&id, agent) {
        return Err(Problem::not_found("such session"));
    }
    let upgrade = upgrade.map_err(|error| Problem::new("malformed", error.to_string()))?;
    Ok(upgrade.on_upgrade(async move |socket| app.sessions().dialled(&id, socket)))
}
