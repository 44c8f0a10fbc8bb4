//! `/v1/leases/{id}/receipt`: what was charged, why, and the proof that the journal says so.

use super::find;
use crate::{
    App, AtLeast, Caller, Params, Problem,
    bodies::{LeaseBody, Money, decimal, hourly, reason_name},
    params,
    path::Id,
};
use axum::{Json, extract::State};
use engine::{proofs, views::Line};
use rental::{Event, lease, money, tenancy::Act};
use serde::{Deserialize, Serialize};
use units::{LeaseId, Owner, Rate, Ticks, Time};
use utoipa::{IntoParams, ToSchema};

/// What a lease was charged. All of it follows from the parts in `proof`, and `suanzu verify` works it out from them again, but
/// for what they do not hold: of `lease` its `name`, `last_seen`, `progress`, `place_in_queue` and whether it is `simulated`;
/// while it is not over `as_of` and `seq` too, and while it runs `cost_so_far` and `funded_until`. What came after the last part
/// does not show unless that is the lease's end.
#[derive(Serialize, ToSchema)]
pub(super) struct Receipt {
    /// The lease as of the entry `seq`. Here `price_per_hour` is what was last recorded: where it was placed or charged.
    lease: LeaseBody,
    /// Every charge and every reversal, in the order they were booked.
    lines: Vec<LineBody>,
    /// The sum of the lines.
    total: Money,
    /// How often it ran.
    runs: u32,
    /// Why it ended, if it did.
    reason: Option<&'static str>,
    /// The owner's parts of the journal that concern the lease: `suanzu verify` checks them. `null` for a key of one project,
    /// for a part may tell of the tenant's other projects too.
    proof: Option<Proof>,
}

/// One line.
#[derive(Serialize, ToSchema)]
struct LineBody {
    /// `charged`, `reversed` or `lost`.
    kind: String,
    /// First millisecond.
    #[schema(value_type = String, format = DateTime)]
    from: Time,
    /// First millisecond after it.
    #[schema(value_type = String, format = DateTime)]
    until: Time,
    /// Seconds between them, to the millisecond.
    #[schema(example = "83.214")]
    seconds: String,
    /// What was used.
    sku: String,
    /// How much of it.
    quantity: String,
    /// Its price per hour of one whole, in CNY.
    unit_price: String,
    /// What it adds to the bill.
    amount: Money,
    /// The entry that booked it.
    seq: u64,
}

/// A file for `suanzu verify`.
#[derive(Serialize, ToSchema)]
struct Proof {
    /// As `journal` documents it.
    #[schema(value_type = Object)]
    bundle: serde_json::Value,
}

/// What to leave out.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Shape {
    /// `false`: without the proof, which for a long lease is large.
    proof: Option<bool>,
}

/// What a lease was charged, with the proof.
#[utoipa::path(get, path = "/v1/leases/{id}/receipt", tag = "leases", params(AtLeast, ("id" = String, Path), Shape),
    responses((status = OK, body = Receipt)))]
pub(super) async fn show(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<LeaseId>,
    Params(shape): Params<Shape>,
) -> Result<Json<Receipt>, Problem> {
    caller.may(Act::Look)?;
    // The lease first: what the views tell is cut at its entry, so that nothing of the receipt is newer than the rest.
    let mut lease = find::one(&app, &caller, id).await?;
    params::catch_up(&app, lease.seq).await?;
    let known = find::recorded_one(&app, &caller, id).await?.ok_or_else(|| Problem::not_found(id))?;
    let (mut lines, mut seqs) = app.ask(known.tenant, move |within| Ok((within.lines_of(id)?, within.seqs_of(id)?))).await?;
    lines.retain(|line| line.seq <= lease.seq);
    seqs.retain(|seq| *seq <= lease.seq);
    let owner = Owner::from(known.tenant);
    lease.price_per_hour = stated_rate(&app, owner, id, seqs.clone()).await?.map(hourly);
    let proof = match shape.proof {
        Some(false) => None,
        // A part tells of all that the entry did to the tenant, in whichever project.
        _ if caller.project.is_some() => None,
        _ => Some(prove(&app, owner, seqs).await?),
    };
    let total = lines.iter().map(Line::billed).sum::<Ticks>().into();
    let (runs, reason) = (lease.attempt, lease.reason.map(reason_name));
    Ok(Json(Receipt { lease, lines: lines.iter().map(LineBody::from).collect(), total, runs, reason, proof }))
}

/// At which rate the lease was last placed, resized or charged. The price of this moment is in nobody's part but the operator's.
async fn stated_rate(app: &App, owner: Owner, id: LeaseId, seqs: Vec<u64>) -> Result<Option<Rate>, Problem> {
    app.blocking(move |app| {
        let mut resized = None;
        for seq in seqs.into_iter().rev() {
            let parts = proofs::parts(app.handle(), owner, &[seq])?;
            for event in parts.iter().flat_map(|part| &part.events).rev() {
                match event {
                    Event::Lease(_, lease::Event::Placed(e)) if e.lease == id => {
                        return Ok(Some(e.micro.rate(resized.unwrap_or(e.milli))));
                    }
                    Event::Money(_, money::Event::Charged(e)) if e.lease == id => {
                        return Ok(Some(e.micro.rate(resized.unwrap_or(e.milli))));
                    }
                    Event::Lease(_, lease::Event::Resized(e)) if e.lease == id && !e.grants.is_empty() => {
                        resized = resized.or(Some(e.milli));
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    })
    .await
}

async fn prove(app: &App, owner: Owner, seqs: Vec<u64>) -> Result<Proof, Problem> {
    let checkpoint = proofs::checkpoint_over(app.handle(), seqs.last().copied().unwrap_or(0)).await?;
    app.blocking(move |app| {
        let json = proofs::bundle(app.handle(), owner, &seqs, &checkpoint)?;
        Ok(Proof { bundle: serde_json::from_str(&json).expect("a bundle is JSON") })
    })
    .await
}

impl From<&Line> for LineBody {
    fn from(line: &Line) -> LineBody {
        let ms = line.until.since(line.from);
        LineBody {
            kind: line.kind.to_string(),
            from: line.from,
            until: line.until,
            seconds: format!("{}.{:03}", ms / 1000, ms % 1000),
            sku: line.sku.clone(),
            quantity: decimal(line.milli),
            unit_price: line.micro.to_string(),
            amount: line.billed().into(),
            seq: line.seq,
        }
    }
}
