//! `/v1/entries/{seq}/part`, `/v1/proof/bundle`: the owner's own parts with proofs; `/checkpoint`, `/tile/…`: the log.

use crate::{App, AtLeast, Caller, NoParams, OfTenant, Params, Problem, bodies::instant, path::Id};
use axum::{
    extract::State,
    http::{Uri, header},
    response::{IntoResponse, Response},
};
use engine::proofs;
use rental::tenancy::Act;
use serde::Deserialize;
use units::{Owner, TenantId, Time};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(part)).routes(routes!(bundle)).routes(routes!(checkpoint)).routes(routes!(tile))
}

/// The caller's part of an entry, with its proof, as a bundle of one.
#[utoipa::path(get, path = "/v1/entries/{seq}/part", tag = "proofs", params(AtLeast, ("seq" = u64, Path), OfTenant),
    responses((status = OK, body = Object)))]
async fn part(
    State(app): State<App>,
    caller: Caller,
    Id(seq): Id<u64>,
    Params(of): Params<OfTenant>,
) -> Result<Response, Problem> {
    caller.may_for_all(Act::Look)?;
    let owner = owner(&caller, of.tenant)?;
    let there = app.blocking(move |app| Ok(!proofs::parts(app.handle(), owner, &[seq])?.is_empty())).await?;
    if !there {
        return Err(Problem::not_found(format!("part of yours in entry {seq}")));
    }
    file(&app, owner, vec![seq]).await
}

/// Which parts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Over {
    /// First instant; the beginning, unless told.
    #[serde(default, deserialize_with = "instant")]
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// First instant after it; now, unless told.
    #[serde(default, deserialize_with = "instant")]
    #[param(value_type = Option<String>)]
    until: Option<Time>,
    /// The operator says whose; without it his own.
    #[param(value_type = Option<String>)]
    tenant: Option<TenantId>,
}

/// The caller's parts of a time, with their proofs: a file that `suanzu verify` checks.
#[utoipa::path(get, path = "/v1/proof/bundle", tag = "proofs", params(AtLeast, Over), responses((status = OK, body = Object)))]
async fn bundle(State(app): State<App>, caller: Caller, Params(over): Params<Over>) -> Result<Response, Problem> {
    caller.may_for_all(Act::Look)?;
    let owner = owner(&caller, over.tenant)?;
    let (from, until) = (over.from.unwrap_or(Time(i64::MIN)), over.until.unwrap_or(Time::MAX));
    let seqs = app.ask(engine::Scope::Owner(owner), move |within| within.seqs(from, until)).await?;
    file(&app, owner, seqs).await
}

/// Where the log ends, signed.
#[utoipa::path(get, path = "/checkpoint", tag = "proofs", security(()), params(AtLeast),
    responses((status = OK, body = str, content_type = "text/plain")))]
async fn checkpoint(State(app): State<App>, uri: Uri, _: Params<NoParams>) -> Result<Response, Problem> {
    // A log that is so young that nothing was signed yet is signed now.
    proofs::checkpoint_over(app.handle(), 0).await?;
    published(&app, uri.path()).await
}

/// Hash tiles and leaf data, as C2SP `tlog-tiles` names them.
#[utoipa::path(get, path = "/tile/{*path}", tag = "proofs", security(()), params(("path" = String, Path)),
    responses((status = OK, body = Vec<u8>, content_type = "application/octet-stream")))]
async fn tile(State(app): State<App>, uri: Uri) -> Result<Response, Problem> {
    published(&app, uri.path()).await
}

async fn published(app: &App, path: &str) -> Result<Response, Problem> {
    let name = path.trim_start_matches('/').to_owned();
    let kind = if name == "checkpoint" { "text/plain; charset=utf-8" } else { "application/octet-stream" };
    // A full tile never changes; a partial one is replaced by a wider one, a checkpoint by a later one.
    let kept = if name == "checkpoint" || name.contains(".p/") { "no-cache" } else { "public, max-age=31536000, immutable" };
    let found = app.blocking(move |app| Ok(proofs::published(app.handle(), &name)?)).await?;
    let bytes = found.ok_or_else(|| Problem::not_found("such part of the log"))?;
    Ok(([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, kept)], bytes).into_response())
}

async fn file(app: &App, owner: Owner, seqs: Vec<u64>) -> Result<Response, Problem> {
    let checkpoint = proofs::checkpoint_over(app.handle(), seqs.last().copied().unwrap_or(0)).await?;
    let json = app.blocking(move |app| Ok(proofs::bundle(app.handle(), owner, &seqs, &checkpoint)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Whose parts: the caller's own, or for the operator those of the tenant he names.
pub(super) fn owner(caller: &Caller, named: Option<TenantId>) -> Result<Owner, Problem> {
    match named {
        None => Ok(caller.owner),
        Some(tenant) => caller.tenant(Some(tenant)).map(Owner::from),
    }
}
