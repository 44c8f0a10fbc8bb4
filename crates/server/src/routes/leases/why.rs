//! `/v1/leases/{id}/why`: why it waits, why it stopped, what it costs, where it is — in sentences.

use super::find;
use crate::{App, AtLeast, Caller, NoParams, Params, Problem, bodies, path::Id};
use axum::{Json, extract::State};
use bodies::{LeaseBody, LeaseState};
use rental::{placement, tenancy::Act};
use serde::Serialize;
use units::LeaseId;
use utoipa::ToSchema;

/// An explanation.
#[derive(Serialize, ToSchema)]
pub(super) struct Why {
    /// The lease.
    #[schema(value_type = String)]
    lease: LeaseId,
    /// Where it is.
    state: LeaseState,
    /// In words, the most important first.
    sentences: Vec<String>,
    /// What would fit now, for one that waits.
    #[schema(value_type = Vec<Object>)]
    alternatives: Vec<serde_json::Value>,
}

/// Why a lease is where it is.
#[utoipa::path(get, path = "/v1/leases/{id}/why", tag = "leases", params(("id" = String, Path), AtLeast),
    responses((status = OK, body = Why)))]
pub(super) async fn show(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<LeaseId>,
    _: Params<NoParams>,
) -> Result<Json<Why>, Problem> {
    caller.may(Act::Look)?;
    let body = find::one(&app, &caller, id).await?;
    let waits = app.handle().read(|state| {
        let lease = find::owned(state, &caller, id).filter(|_| body.state == LeaseState::Queued)?;
        let fleet = state.fleet.devices();
        let now = placement::place(fleet, &lease.ask).err().map(|why| format!("Right now: {why}."));
        Some((now, placement::alternatives(fleet, &lease.ask).iter().map(bodies::alternative).collect()))
    });
    let (now, alternatives) = waits.unwrap_or_default();
    let sentences = where_it_is(&body).into_iter().chain(now).chain(what_it_costs(&body)).chain(where_it_runs(&body)).collect();
    Ok(Json(Why { lease: id, state: body.state, sentences, alternatives }))
}

fn where_it_is(body: &LeaseBody) -> Vec<String> {
    let LeaseBody { id, since, detail, .. } = body;
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let reason = body.reason.map_or("it was ended", bodies::reason_name);
    let place = body.place_in_queue.map(|place| format!("It is number {place} in the queue."));
    let progress = body.progress.as_ref().map(|progress| format!("Its node says: {progress}."));
    let first = match body.state {
        LeaseState::Queued => format!("{id} waits since {since}: there was no room{detail}."),
        LeaseState::Starting => format!("{id} has its place since {since} and is being started; nothing is charged yet."),
        LeaseState::Running => format!("{id} runs and is charged since {since}."),
        LeaseState::Stopping => {
            format!("{id} is charged no more since {since}, because {reason}{detail}; its node is clearing it away.")
        }
        LeaseState::Stopped => {
            format!("{id} is stopped since {since}, because {reason}{detail}. It costs nothing and may be started again.")
        }
        LeaseState::Ended => format!("{id} is over since {since}, because {reason}{detail}."),
    };
    std::iter::once(first).chain(place).chain(progress).collect()
}

fn what_it_costs(body: &LeaseBody) -> Vec<String> {
    let price = body.price_per_hour.as_ref().zip(body.sku.as_ref());
    let price = price.map(|(price, sku)| format!("An hour of it costs {} CNY, by the price of {sku}.", price.amount));
    let cost = format!("It has cost {} CNY until {}.", body.cost_so_far.amount, body.as_of);
    let funded = body.funded_until.map(|until| format!("What is held for it pays until {until}; the next hour is held then."));
    let end = body.until.map(|until| format!("It ends by itself at {until}."));
    price.into_iter().chain([cost]).chain(funded).chain(end).collect()
}

fn where_it_runs(body: &LeaseBody) -> Vec<String> {
    let grant = |grant: &bodies::GrantBody| {
        let devices: Vec<String> =
            grant.devices.iter().map(|d| format!("{} ‰ and {} MiB of {}", d.compute, d.memory_mib, d.device)).collect();
        let cards = if devices.is_empty() { String::new() } else { format!(", {}", devices.join(", ")) };
        format!("On {} it has {} cores and {} MiB{cards}.", grant.node, grant.cpu, grant.memory_mib)
    };
    let seen = body.last_seen.map(|seen| format!("It was last seen serving at {seen}."));
    body.grants.iter().map(grant).chain(seen).collect()
}
