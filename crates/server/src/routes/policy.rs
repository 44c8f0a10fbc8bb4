//! `/v1/policy`: the rules of the house.

use crate::{App, AtLeast, Body, Caller, NoParams, Params, Problem, etag};
use axum::{extract::State, http::HeaderMap, response::Response};
use engine::Attach;
use rental::{
    Command,
    market::{self, Policy},
    tenancy::Act,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show, put))
}

/// The rules of the house. All durations in milliseconds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Policy)]
struct PolicyBody {
    /// How long a lease runs on, charged as debt, after balance and credit ended.
    arrears_grace_ms: i64,
    /// Least compute of a share, in permille of a card.
    share_compute: u32,
    /// Least memory of a share, in MiB.
    share_memory_mib: u32,
    /// Once the head of the queue has waited so long, nobody overtakes it.
    queue_bound_ms: i64,
    /// A node not heard of for so long is not offered any more.
    unseen_after_ms: i64,
    /// A node not heard of for so long has lost its leases. 0: only the operator gives them up.
    lost_after_ms: i64,
    /// A node whose clock is off by more takes no new lease.
    clock_off_ms: i64,
}

/// The rules in force, with their version.
#[utoipa::path(get, path = "/v1/policy", tag = "prices", params(AtLeast), responses((status = OK, body = PolicyBody)))]
async fn show(State(app): State<App>, caller: Caller, _: Params<NoParams>) -> Result<Response, Problem> {
    caller.may(Act::Operate)?;
    Ok(etag::tagged(present(&app)))
}

/// Sets the rules. Needs `If-Match`.
#[utoipa::path(put, path = "/v1/policy", tag = "prices", params(("If-Match" = String, Header)), request_body = PolicyBody,
    responses((status = OK, body = PolicyBody)))]
async fn put(State(app): State<App>, caller: Caller, headers: HeaderMap, body: Body<PolicyBody>) -> Result<Response, Problem> {
    caller.may(Act::Operate)?;
    let _turn = app.turn().await;
    let promise = body.idempotency(&caller);
    if app.first_answer(promise).await?.is_none() {
        etag::check(&headers, &etag::of(&present(&app)))?;
    }
    let command = Command::Market(market::Command::SetPolicy(body.value.into()));
    let answer = app.submit(&caller, promise, command, Attach::Nothing).await?;
    let mut response = etag::tagged(present(&app));
    response.headers_mut().insert("x-suanzu-seq", app.seq_of(&answer).into());
    Ok(response)
}

fn present(app: &App) -> PolicyBody {
    app.handle().read(|state| state.market.policy.clone().into())
}

impl From<Policy> for PolicyBody {
    fn from(policy: Policy) -> PolicyBody {
        PolicyBody {
            arrears_grace_ms: policy.arrears_grace_ms,
            share_compute: policy.share_compute,
            share_memory_mib: policy.share_memory_mib,
            queue_bound_ms: policy.queue_bound_ms,
            unseen_after_ms: policy.unseen_after_ms,
            lost_after_ms: policy.lost_after_ms,
            clock_off_ms: policy.clock_off_ms,
        }
    }
}

impl From<PolicyBody> for Policy {
    fn from(body: PolicyBody) -> Policy {
        Policy {
            arrears_grace_ms: body.arrears_grace_ms,
            share_compute: body.share_compute,
            share_memory_mib: body.share_memory_mib,
            queue_bound_ms: body.queue_bound_ms,
            unseen_after_ms: body.unseen_after_ms,
            lost_after_ms: body.lost_after_ms,
            clock_off_ms: body.clock_off_ms,
        }
    }
}
