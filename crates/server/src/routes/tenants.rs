//! `/v1/tenants`: who rents, and his limits.

use crate::{
    App, AtLeast, Body, Caller, NoParams, Nothing, Page, Paged, Params, Problem, Written,
    bodies::{Name, cny, decimal, milli},
    etag,
    paging::{self, List},
    path::Id,
};
use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use engine::Attach;
use rental::{
    Command, Event, State as Core,
    tenancy::{self, Act, IssueKey, Limits, Role},
};
use serde::{Deserialize, Serialize};
use units::{KeyId, ProjectId, TenantId};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show))
        .routes(routes!(limits, set_limits))
        .routes(routes!(close))
        .routes(routes!(open))
}

/// A tenant.
#[derive(Serialize, ToSchema)]
#[schema(as = Tenant)]
struct TenantBody {
    /// The id.
    #[schema(value_type = String)]
    id: TenantId,
    /// A name for people.
    name: Option<String>,
    /// Closed to new orders.
    closed: bool,
    /// What he may use at most.
    limits: LimitsBody,
    /// Leases that are not ended.
    leases: usize,
    /// Cards that count against his limit.
    cards: String,
    /// His projects.
    #[schema(value_type = Vec<String>)]
    projects: Vec<ProjectId>,
}

/// What a tenant may use at most; `null`: no limit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LimitsBody {
    /// Cards, whole and in part.
    #[schema(example = "8")]
    cards: Option<String>,
    /// Leases that are not ended.
    leases: Option<u32>,
    /// Charged over the tenant's life and held, together, in CNY.
    #[schema(example = "10000")]
    spend: Option<String>,
}

/// A tenant that has just been made.
#[derive(Serialize, ToSchema)]
struct Founded {
    /// The tenant.
    tenant: TenantBody,
    /// His first project.
    #[schema(value_type = String)]
    project: ProjectId,
    /// His first key: an admin's.
    #[schema(value_type = Option<String>)]
    key: Option<KeyId>,
    /// Its secret, shown this once; `null` in the answer to a repeat.
    secret: Option<String>,
    /// The entry.
    seq: u64,
}

/// All tenants.
#[utoipa::path(get, path = "/v1/tenants", tag = "tenants", params(AtLeast, Paged), responses((status = OK, body = Page<TenantBody>)))]
async fn list(State(app): State<App>, caller: Caller, Params(at): Params<Paged>) -> Result<Json<Page<TenantBody>>, Problem> {
    caller.may(Act::Operate)?;
    let limit = paging::limit(at.limit)?;
    let list = List { caller: &caller, tenant: None, route: "tenants" };
    let after = list.after(&app, at.page_token.as_deref())?.unwrap_or(0);
    let items = app.handle().read(|state| {
        let ids = state.tenancy.tenants.range(TenantId(after + 1)..).take(limit + 1).map(|(id, _)| *id);
        ids.filter_map(|id| body(state, id)).collect::<Vec<_>>()
    });
    let page = Page::cut(items, limit, &app, &list, |tenant| tenant.id.0);
    let items = app.blocking(move |app| page.items.into_iter().map(|tenant| named(app, tenant)).collect()).await?;
    Ok(Json(Page { items, next_page: page.next_page }))
}

/// A new tenant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Create {
    /// A name for people, of 1 to 128 characters.
    #[schema(value_type = String, example = "laboratory")]
    name: Name,
}

/// Makes a tenant, his first project, and his first admin's key.
#[utoipa::path(post, path = "/v1/tenants", tag = "tenants", request_body = Create, responses((status = CREATED, body = Founded)))]
async fn create(State(app): State<App>, caller: Caller, body: Body<Create>) -> Result<Written<Founded>, Problem> {
    caller.may(Act::Operate)?;
    let (promise, name) = (body.idempotency(&caller), String::from(body.value.name));
    let command = Command::Tenancy(tenancy::Command::CreateTenant);
    let answer = app.submit(&caller, promise, command, Attach::Name(name)).await?;
    let project = answer.events().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::ProjectCreated(e)) => Some((e.tenant, e.project)),
        _ => None,
    });
    let (tenant, project) = project.expect("a tenant is made with his first project");
    let mut seq = app.seq_of(&answer);
    let (mut key, mut secret) = (None, None);
    if !answer.repeated {
        let issued = super::keys::issue(&app, &caller, None, first_key(tenant), "first admin".into()).await?;
        (seq, key, secret) = (issued.seq, Some(issued.key), issued.secret);
    }
    let tenant = one(&app, tenant).await?;
    Ok(Written::created(seq, Founded { tenant, project, key, secret, seq }))
}

fn first_key(tenant: TenantId) -> IssueKey {
    IssueKey { owner: tenant.into(), user: None, project: None, role: Role::Admin, expires: None, agent: None }
}

/// One tenant; a tenant's key sees its own.
#[utoipa::path(get, path = "/v1/tenants/{id}", tag = "tenants", params(("id" = String, Path), AtLeast),
    responses((status = OK, body = TenantBody)))]
async fn show(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<TenantId>,
    _: Params<NoParams>,
) -> Result<Json<TenantBody>, Problem> {
    caller.may(Act::Look)?;
    let tenant = caller.tenant(Some(id))?;
    one(&app, tenant).await.map(Json)
}

/// A tenant's limits, with their version.
#[utoipa::path(get, path = "/v1/tenants/{id}/limits", tag = "tenants", params(("id" = String, Path), AtLeast),
    responses((status = OK, body = LimitsBody)))]
async fn limits(State(app): State<App>, caller: Caller, Id(id): Id<TenantId>, _: Params<NoParams>) -> Result<Response, Problem> {
    caller.may(Act::Look)?;
    let tenant = caller.tenant(Some(id))?;
    Ok(etag::tagged(one(&app, tenant).await?.limits))
}

/// Sets a tenant's limits. Needs `If-Match`.
#[utoipa::path(put, path = "/v1/tenants/{id}/limits", tag = "tenants",
    params(("id" = String, Path), ("If-Match" = String, Header)), request_body = LimitsBody,
    responses((status = OK, body = LimitsBody)))]
async fn set_limits(
    State(app): State<App>,
    caller: Caller,
    Id(tenant): Id<TenantId>,
    headers: HeaderMap,
    body: Body<LimitsBody>,
) -> Result<Response, Problem> {
    caller.may(Act::Operate)?;
    let _turn = app.turn().await;
    let (promise, limits) = (body.idempotency(&caller), body.value.limits()?);
    if app.first_answer(promise).await?.is_none() {
        etag::check(&headers, &etag::of(&one(&app, tenant).await?.limits))?;
    }
    let command = Command::Tenancy(tenancy::Command::SetLimits { tenant, limits });
    let answer = app.submit(&caller, promise, command, Attach::Nothing).await?;
    let mut response = etag::tagged(one(&app, tenant).await?.limits);
    response.headers_mut().insert("x-suanzu-seq", app.seq_of(&answer).into());
    Ok(response.into_response())
}

/// Closes a tenant to new orders.
#[utoipa::path(post, path = "/v1/tenants/{id}/close", tag = "tenants", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = TenantBody)))]
async fn close(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<TenantId>,
    body: Body<Nothing>,
) -> Result<Written<TenantBody>, Problem> {
    set_closed(&app, &caller, id, &body, true).await
}

/// Opens a tenant to orders again.
#[utoipa::path(post, path = "/v1/tenants/{id}/open", tag = "tenants", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = TenantBody)))]
async fn open(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<TenantId>,
    body: Body<Nothing>,
) -> Result<Written<TenantBody>, Problem> {
    set_closed(&app, &caller, id, &body, false).await
}

async fn set_closed(
    app: &App,
    caller: &Caller,
    tenant: TenantId,
    body: &Body<Nothing>,
    closed: bool,
) -> Result<Written<TenantBody>, Problem> {
    caller.may(Act::Operate)?;
    let command = Command::Tenancy(tenancy::Command::CloseTenant { tenant, closed });
    let answer = app.submit(caller, body.idempotency(caller), command, Attach::Nothing).await?;
    Ok(Written::changed(app.seq_of(&answer), one(app, tenant).await?))
}

async fn one(app: &App, id: TenantId) -> Result<TenantBody, Problem> {
    let found = app.handle().read(|state| body(state, id)).ok_or_else(|| Problem::not_found(id))?;
    app.blocking(move |app| named(app, found)).await
}

fn body(state: &Core, id: TenantId) -> Option<TenantBody> {
    let tenant = state.tenancy.tenants.get(&id)?;
    let Limits { cards_milli, leases, spend } = &tenant.limits;
    let limits = LimitsBody { cards: cards_milli.map(decimal), leases: *leases, spend: spend.map(|spend| spend.amount()) };
    Some(TenantBody {
        id,
        name: None,
        closed: tenant.closed,
        limits,
        leases: state.lease.count_of(id),
        cards: decimal(state.lease.cards_milli_of(id)),
        projects: state.tenancy.projects_of(id).collect(),
    })
}

fn named(app: &App, tenant: TenantBody) -> Result<TenantBody, Problem> {
    let name = app.handle().directory(|directory| directory.name(tenant.id))?;
    Ok(TenantBody { name, ..tenant })
}

impl LimitsBody {
    fn limits(&self) -> Result<Limits, Problem> {
        Ok(Limits {
            cards_milli: self.cards.as_deref().map(|cards| milli("/cards", cards)).transpose()?,
            leases: self.leases,
            spend: self.spend.as_deref().map(|spend| cny("/spend", spend)).transpose()?,
        })
    }
}
