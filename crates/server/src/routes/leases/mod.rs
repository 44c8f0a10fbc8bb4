//! `/v1/leases`: orders, what is rented, and what can be done with it.

mod change;
mod find;
mod order;
mod receipt;
mod session;
mod why;

use crate::{
    App, AtLeast, Caller, Page, Params, Problem,
    bodies::{LeaseBody, LeaseState},
    paging::{self, List},
    params,
    path::Id,
};
use axum::{Json, extract::State};
use engine::{
    Scope,
    views::{LeaseFilter, Page as Stretch, Standing},
};
use rental::tenancy::Act;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};
use units::{LeaseId, ProjectId, TenantId};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, order::create))
        .routes(routes!(show))
        .merge(change::router())
        .routes(routes!(receipt::show))
        .routes(routes!(why::show))
        .routes(routes!(session::logs))
        .routes(routes!(session::exec))
}

/// Which leases.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Only in this state; `ended` for those that are over, `all` for all. Without it: all that are not over.
    state: Option<String>,
    /// Only of this project.
    #[param(value_type = Option<String>)]
    project: Option<ProjectId>,
    /// The operator says whose; without it he sees all.
    #[param(value_type = Option<String>)]
    tenant: Option<TenantId>,
    /// 1 to 1000, 50 unless told.
    limit: Option<usize>,
    /// From the page before.
    page_token: Option<String>,
}

/// What is rented.
#[utoipa::path(get, path = "/v1/leases", tag = "leases", params(AtLeast, Which), responses((status = OK, body = Page<LeaseBody>)))]
async fn list(State(app): State<App>, caller: Caller, Params(which): Params<Which>) -> Result<Json<Page<LeaseBody>>, Problem> {
    caller.may(Act::Look)?;
    let tenant = if caller.is_operator() { which.tenant } else { Some(caller.tenant(which.tenant)?) };
    let limit = paging::limit(which.limit)?;
    let list = List { caller: &caller, tenant, route: "leases" };
    let after = list.after(&app, which.page_token.as_deref())?.map(LeaseId);
    let project = caller.project.or(which.project);
    if caller.project.is_some() && which.project.is_some_and(|asked| Some(asked) != caller.project) {
        return Ok(Json(Page::whole(Vec::new())));
    }
    let items = match which.state.as_deref() {
        Some(state @ ("ended" | "all")) => {
            let standings = if state == "ended" { vec![Standing::Ended] } else { Vec::new() };
            let filter = LeaseFilter { standings, project };
            let stretch = Stretch { after, limit: u32::try_from(limit + 1).unwrap_or(u32::MAX), newest_first: true };
            find::recorded(&app, tenant.map_or(Scope::All, Scope::from), filter, stretch).await?
        }
        state => {
            let only = state.map(find::state_named).transpose()?;
            find::live(&app, tenant, after, limit + 1, move |lease| {
                project.is_none_or(|p| lease.project == p) && only.is_none_or(|only| only == LeaseState::from(lease.status))
            })
            .await?
        }
    };
    Ok(Json(Page::cut(items, limit, &app, &list, |lease| lease.id.0)))
}

/// For what to wait.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Until {
    /// How long to wait for the state, such as `30s`.
    wait: Option<String>,
    /// The state to wait for; several with commas. Without it: any other than the present one.
    state: Option<String>,
}

/// One lease; with `wait`, once it is in a state.
#[utoipa::path(get, path = "/v1/leases/{id}", tag = "leases", params(AtLeast, ("id" = String, Path), Until),
    responses((status = OK, body = LeaseBody)))]
async fn show(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<LeaseId>,
    Params(until): Params<Until>,
) -> Result<Json<LeaseBody>, Problem> {
    caller.may_with(Act::Look, id)?;
    let end = Instant::now() + params::wait(until.wait.as_deref())?;
    let wanted = until.state.as_deref().unwrap_or_default().split(',').filter(|s| !s.is_empty());
    let wanted: Vec<LeaseState> = wanted.map(find::state_named).collect::<Result<_, _>>()?;
    let mut head = app.handle().follow();
    let first = find::state_of(&app, &caller, id);
    loop {
        head.borrow_and_update();
        let now = find::state_of(&app, &caller, id);
        let there = if wanted.is_empty() { now != first } else { now.is_none_or(|now| wanted.contains(&now)) };
        if there || now.is_none() || Instant::now() >= end {
            return find::one(&app, &caller, id).await.map(Json);
        }
        tokio::select! {
            _ = timeout_at(end, head.changed()) => {}
            () = app.closed() => return find::one(&app, &caller, id).await.map(Json),
        }
    }
}
