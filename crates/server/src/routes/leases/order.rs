//! `POST /v1/leases`: an order, or with `validate_only` what it would lead to.

use crate::{
    App, Body, Caller, Params, Problem, Written,
    bodies::{self, GrantBody, LeaseBody, LeaseState, Money, Order, hourly},
};
use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use engine::Attach;
use rental::{Command, Event, lease, money, tenancy::Act};
use serde::{Deserialize, Serialize};
use units::{TenantId, Ticks};
use utoipa::{IntoParams, ToSchema};

/// Whether to order.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct How {
    /// `true`: only say what it would lead to.
    #[serde(default)]
    validate_only: bool,
    /// The operator says for whom.
    #[param(value_type = Option<String>)]
    tenant: Option<TenantId>,
}

/// What an order would lead to now. Nothing was written.
#[derive(Serialize, ToSchema)]
struct Quote {
    /// `starting` or `queued`; `null` where it would be refused.
    state: Option<LeaseState>,
    /// What is charged for.
    sku: Option<String>,
    /// What an hour would cost.
    price_per_hour: Option<Money>,
    /// What would be held at once.
    hold: Money,
    /// Where it would go.
    placement: Vec<GrantBody>,
    /// Why it would wait or be refused.
    refusal: Option<Why>,
}

/// Why an order would not run now.
#[derive(Serialize, ToSchema)]
struct Why {
    /// The code that a refusal would have.
    code: &'static str,
    /// In words.
    detail: String,
    /// Counted reasons.
    reasons: Vec<String>,
    /// What would fit instead.
    #[schema(value_type = Vec<Object>)]
    alternatives: Vec<serde_json::Value>,
}

/// Orders a lease. Needs `Idempotency-Key`, unless it only asks.
#[utoipa::path(post, path = "/v1/leases", tag = "leases", params(How, ("Idempotency-Key" = Option<String>, Header)),
    request_body = Order, responses((status = CREATED, body = LeaseBody), (status = OK, body = Quote)))]
pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    Params(how): Params<How>,
    mut body: Body<Order>,
) -> Result<Response, Problem> {
    caller.may(Act::Rent)?;
    let tenant = caller.tenant(how.tenant)?;
    let order = &mut body.value;
    let project = app.handle().read(|state| order.project(&caller, tenant, state))?;
    let command = Command::Lease(lease::Command::Request(Box::new(order.request(&caller, tenant, project)?)));
    let workload = order.workload()?;
    if how.validate_only {
        return quote(&app, &command).map(|quote| Json(quote).into_response());
    }
    let name: Option<String> = order.name.take().map(Into::into);
    let workload = Attach::Workload(Box::new(workload));
    let attach = match name.clone() {
        Some(name) => Attach::All(vec![workload, Attach::Name(name)]),
        None => workload,
    };
    let answer = app.submit(&caller, body.promised(&caller)?, command, attach).await?;
    let seq = app.seq_of(&answer);
    // A repeat whose key was used for something that is no order never gets here: the request's hash differs.
    let lease = bodies::ordered(answer.events(), answer.time, seq, name).expect("an accepted order has its lease in the entry");
    Ok(Written::created(seq, lease).into_response())
}

fn quote(app: &App, command: &Command) -> Result<Quote, Problem> {
    let nothing =
        Quote { state: None, sku: None, price_per_hour: None, hold: Ticks::ZERO.into(), placement: Vec::new(), refusal: None };
    match app.handle().preview(command) {
        Ok(events) => Ok(events.iter().fold(nothing, foresee)),
        Err(refusal) => {
            let problem = Problem::from(refusal);
            if matches!(problem.code(), "invalid" | "not_found" | "forbidden") {
                return Err(problem);
            }
            let why = Why {
                code: problem.code(),
                detail: problem.detail().to_owned(),
                reasons: problem.reasons().to_vec(),
                alternatives: problem.alternatives().to_vec(),
            };
            Ok(Quote { refusal: Some(why), ..nothing })
        }
    }
}

fn foresee(mut quote: Quote, event: &Event) -> Quote {
    match event {
        Event::Lease(_, lease::Event::Placed(e)) => {
            quote.state = Some(LeaseState::Starting);
            quote.sku = Some(e.sku.to_string());
            quote.price_per_hour = Some(hourly(e.micro.rate(e.milli)));
            quote.placement = e.grants.iter().map(Into::into).collect();
        }
        Event::Lease(_, lease::Event::Queued(e)) => {
            quote.state = Some(LeaseState::Queued);
            let (reasons, alternatives) = (Vec::new(), Vec::new());
            quote.refusal = Some(Why { code: "no_capacity", detail: e.why.clone(), reasons, alternatives });
        }
        Event::Money(_, money::Event::Held(e)) => quote.hold = e.moves.iter().map(|m| m.ticks).sum::<Ticks>().into(),
        _ => {}
    }
    quote
}
