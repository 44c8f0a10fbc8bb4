//! What can be done with a lease: stop, start, destroy, extend, resize.

use super::find;
use crate::{
    App, Body, Caller, Nothing, Problem, Written,
    bodies::{LeaseBody, SizeBody, instant},
    path::Id,
};
use axum::extract::State;
use engine::{Answer, Attach, Idempotency};
use rental::{Command, lease, tenancy::Act};
use serde::Deserialize;
use units::{LeaseId, TenantId, Time};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(stop))
        .routes(routes!(start))
        .routes(routes!(destroy))
        .routes(routes!(extend))
        .routes(routes!(resize))
}

type Changed = Result<Written<LeaseBody>, Problem>;

/// Ends the workload and its charge; the lease may be started again.
#[utoipa::path(post, path = "/v1/leases/{id}/stop", tag = "leases", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = LeaseBody)))]
async fn stop(State(app): State<App>, caller: Caller, Id(lease): Id<LeaseId>, body: Body<Nothing>) -> Changed {
    caller.may_with(Act::Rent, lease)?;
    let promise = body.idempotency(&caller);
    end(&app, &caller, lease, promise, |tenant| lease::Command::Stop { tenant, lease }).await
}

/// Ends the lease for good.
#[utoipa::path(post, path = "/v1/leases/{id}/destroy", tag = "leases", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = LeaseBody)))]
async fn destroy(State(app): State<App>, caller: Caller, Id(lease): Id<LeaseId>, body: Body<Nothing>) -> Changed {
    caller.may(Act::Rent)?;
    let promise = body.idempotency(&caller);
    end(&app, &caller, lease, promise, |tenant| lease::Command::Destroy { tenant, lease }).await
}

/// Whether to wait.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Start {
    /// Whether to wait where there is no room; so unless told.
    #[serde(default = "yes")]
    wait: bool,
}

fn yes() -> bool {
    true
}

/// Starts a stopped lease again.
#[utoipa::path(post, path = "/v1/leases/{id}/start", tag = "leases", params(("id" = String, Path)), request_body = Start,
    responses((status = OK, body = LeaseBody)))]
async fn start(State(app): State<App>, caller: Caller, Id(lease): Id<LeaseId>, body: Body<Start>) -> Changed {
    caller.may(Act::Rent)?;
    let (promise, wait) = (body.idempotency(&caller), body.value.wait);
    change(&app, &caller, lease, promise, |tenant| lease::Command::Start { tenant, lease, wait }).await
}

/// Another end.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Extend {
    /// The end; `null`: until stopped.
    #[serde(default, deserialize_with = "instant")]
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
}

/// Gives a lease another end.
#[utoipa::path(post, path = "/v1/leases/{id}/extend", tag = "leases", params(("id" = String, Path)), request_body = Extend,
    responses((status = OK, body = LeaseBody)))]
async fn extend(State(app): State<App>, caller: Caller, Id(lease): Id<LeaseId>, body: Body<Extend>) -> Changed {
    caller.may(Act::Rent)?;
    let (promise, until) = (body.idempotency(&caller), body.value.until);
    change(&app, &caller, lease, promise, |tenant| lease::Command::Extend { tenant, lease, until }).await
}

/// Another size.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Resize {
    /// The size from now on.
    size: SizeBody,
}

/// Gives a lease another size.
#[utoipa::path(post, path = "/v1/leases/{id}/resize", tag = "leases", params(("id" = String, Path)), request_body = Resize,
    responses((status = OK, body = LeaseBody)))]
async fn resize(State(app): State<App>, caller: Caller, Id(lease): Id<LeaseId>, body: Body<Resize>) -> Changed {
    caller.may(Act::Rent)?;
    let (promise, size) = (body.idempotency(&caller), body.value.size.size("/size")?);
    change(&app, &caller, lease, promise, |tenant| lease::Command::Resize { tenant, lease, size }).await
}

/// As [`change`]; but to end what is over is to find it so.
async fn end(
    app: &App,
    caller: &Caller,
    id: LeaseId,
    promise: Option<Idempotency>,
    command: impl FnOnce(TenantId) -> lease::Command,
) -> Changed {
    if find::state_of(app, caller, id).is_none()
        && let Some(over) = find::closed(app, caller, id).await?
    {
        // Under a key of another request it is refused all the same.
        app.first_answer(promise).await?;
        return Ok(Written::changed(over.seq, over));
    }
    change(app, caller, id, promise, command).await
}

async fn change(
    app: &App,
    caller: &Caller,
    id: LeaseId,
    promise: Option<Idempotency>,
    command: impl FnOnce(TenantId) -> lease::Command,
) -> Changed {
    let answer = match app.handle().read(|state| find::owned(state, caller, id).map(|lease| lease.tenant)) {
        Some(tenant) => app.submit(caller, promise, Command::Lease(command(tenant)), Attach::Nothing).await?,
        None => repeated(app, caller, id, promise).await?,
    };
    let body = find::one(app, caller, id).await?;
    Ok(Written::changed(app.seq_of(&answer), body))
}

/// What has ended cannot be changed; but who says again what was done gets the same answer.
async fn repeated(app: &App, caller: &Caller, id: LeaseId, promise: Option<Idempotency>) -> Result<Answer, Problem> {
    let over = find::closed(app, caller, id).await?.ok_or_else(|| Problem::not_found(id))?;
    let first = app.first_answer(promise).await?;
    first.ok_or_else(|| Problem::new("wrong_state", format!("{} has ended", over.id)))
}
