//! `/v1/leases/{id}/receipt`: what was charged, why, and the proof that the journal says so.

use super::find;
use crate::{
    App, AtLeast, Caller, Params, Problem,
    bodies::{LeaseBody, Money, decimal},
    path::Id,
};
use axum::{Json, extract::State};
use engine::{proofs, views::Line};
use rental::tenancy::Act;
use serde::{Deserialize, Serialize};
use units::{LeaseId, Ticks, Time};
use utoipa::{IntoParams, ToSchema};

/// What a lease was charged.
#[derive(Serialize, ToSchema)]
pub(super) struct Receipt {
    /// The lease as it is now.
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
    let known = find::recorded_one(&app, &caller, id).await?.ok_or_else(|| Problem::not_found(id))?;
    let lease = find::one(&app, &caller, id).await?;
    let (lines, seqs) = app.ask(known.tenant, move |within| Ok((within.lines_of(id)?, within.seqs_of(id)?))).await?;
    let proof = match shape.proof {
        Some(false) => None,
        // A part tells of all that the entry did to the tenant, in whichever project.
        _ if caller.project.is_some() => None,
        _ => Some(prove(&app, known.tenant.into(), seqs).await?),
    };
    let total = lines.iter().map(Line::billed).sum::<Ticks>().into();
    let (runs, reason) = (known.attempts, known.reason.map(crate::bodies::reason_name));
    Ok(Json(Receipt { lease, lines: lines.iter().map(LineBody::from).collect(), total, runs, reason, proof }))
}

async fn prove(app: &App, owner: units::Owner, seqs: Vec<u64>) -> Result<Proof, Problem> {
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
