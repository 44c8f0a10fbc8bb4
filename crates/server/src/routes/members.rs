//! `/v1/projects` and `/v1/users`: the parts of a tenant, and the people in it.

use crate::{
    App, AtLeast, Body, Caller, OfTenant, Page, PagedOfTenant, Params, Problem, Written, bodies::Name, caller, paging::List,
    path::Id,
};
use axum::{Json, extract::State};
use engine::{Answer, Attach, Idempotency};
use rental::{
    Command, Event,
    tenancy::{self, Act, Role},
};
use serde::{Deserialize, Serialize};
use units::{ProjectId, TenantId, UserId};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(projects, add_project))
        .routes(routes!(users, add_user))
        .routes(routes!(set_role, remove_user))
}

/// A project.
#[derive(Serialize, ToSchema)]
struct Project {
    /// The id.
    #[schema(value_type = String)]
    id: ProjectId,
    /// A name for people.
    name: Option<String>,
}

/// A person.
#[derive(Serialize, ToSchema)]
struct User {
    /// The id.
    #[schema(value_type = String)]
    id: UserId,
    /// A name for people.
    name: Option<String>,
    /// What he may do at most; `null` once he is no member any more.
    role: Option<&'static str>,
}

/// A tenant's projects.
#[utoipa::path(get, path = "/v1/projects", tag = "tenants", params(AtLeast, PagedOfTenant),
    responses((status = OK, body = Page<Project>)))]
async fn projects(
    State(app): State<App>,
    caller: Caller,
    Params(of): Params<PagedOfTenant>,
) -> Result<Json<Page<Project>>, Problem> {
    caller.may(Act::Look)?;
    let tenant = caller.tenant(of.tenant)?;
    let own = |id: &ProjectId| caller.owns_in(tenant, *id);
    let ids: Vec<ProjectId> = app.handle().read(|state| state.tenancy.projects_of(tenant).filter(own).collect());
    let list = List { caller: &caller, tenant: Some(tenant), route: "projects" };
    let Page { items, next_page } = Page::of(ids, &of.page(), &app, &list, |id| id.0)?;
    let named = app.blocking(move |app| {
        let project = |id: ProjectId| Ok(Project { id, name: app.handle().directory(|directory| directory.name(id))? });
        items.into_iter().map(project).collect()
    });
    Ok(Json(Page { items: named.await?, next_page }))
}

/// A name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// For people; 1 to 128 characters.
    #[schema(value_type = String, example = "training")]
    name: Name,
}

/// Makes a project.
#[utoipa::path(post, path = "/v1/projects", tag = "tenants", params(OfTenant), request_body = Named,
    responses((status = CREATED, body = Project)))]
async fn add_project(
    State(app): State<App>,
    caller: Caller,
    Params(of): Params<OfTenant>,
    body: Body<Named>,
) -> Result<Written<Project>, Problem> {
    caller.may_for_all(Act::Manage)?;
    let tenant = caller.tenant(of.tenant)?;
    let (promise, name) = (body.idempotency(&caller), String::from(body.value.name));
    let command = tenancy::Command::CreateProject { tenant };
    let answer = submit(&app, &caller, promise, command, Attach::Name(name.clone())).await?;
    let id = answer.events().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::ProjectCreated(e)) => Some(e.project),
        _ => None,
    });
    let project = Project { id: id.expect("an entry that makes a project says which"), name: Some(name) };
    Ok(Written::created(app.seq_of(&answer), project))
}

/// A tenant's people.
#[utoipa::path(get, path = "/v1/users", tag = "tenants", params(AtLeast, PagedOfTenant), responses((status = OK, body = Page<User>)))]
async fn users(State(app): State<App>, caller: Caller, Params(of): Params<PagedOfTenant>) -> Result<Json<Page<User>>, Problem> {
    caller.may_for_all(Act::Look)?;
    let tenant = caller.tenant(of.tenant)?;
    let members = app.handle().read(|state| state.tenancy.tenants.get(&tenant).map(|known| known.members.clone()));
    let members = members.ok_or_else(|| Problem::not_found(tenant))?.into_iter().collect();
    let list = List { caller: &caller, tenant: Some(tenant), route: "users" };
    let Page { items, next_page } = Page::of(members, &of.page(), &app, &list, |(id, _)| id.0)?;
    let named = app.blocking(move |app| {
        let user = |(id, role): (UserId, Role)| {
            Ok(User { id, name: app.handle().directory(|directory| directory.name(id))?, role: Some(caller::name(role)) })
        };
        items.into_iter().map(user).collect()
    });
    Ok(Json(Page { items: named.await?, next_page }))
}

/// A new member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewUser {
    /// For people; 1 to 128 characters. It is kept erasable, beside the journal.
    #[schema(value_type = String, example = "training")]
    name: Name,
    /// `viewer`, `member` or `admin`.
    #[schema(value_type = String)]
    role: Role,
}

/// Takes a person in. A key for him is issued at `/v1/keys`.
#[utoipa::path(post, path = "/v1/users", tag = "tenants", params(OfTenant), request_body = NewUser,
    responses((status = CREATED, body = User)))]
async fn add_user(
    State(app): State<App>,
    caller: Caller,
    Params(of): Params<OfTenant>,
    body: Body<NewUser>,
) -> Result<Written<User>, Problem> {
    caller.may_for_all(Act::Manage)?;
    let tenant = caller.tenant(of.tenant)?;
    let promise = body.idempotency(&caller);
    let NewUser { name, role } = body.value;
    let name = String::from(name);
    let command = tenancy::Command::SetMember { tenant, user: None, role: Some(role) };
    let answer = submit(&app, &caller, promise, command, Attach::Name(name.clone())).await?;
    let id = answer.events().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::MemberSet(e)) => Some(e.user),
        _ => None,
    });
    let id = id.expect("an entry that takes a person in says whom");
    Ok(Written::created(app.seq_of(&answer), User { id, name: Some(name), role: Some(caller::name(role)) }))
}

/// Another role.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRole {
    /// `viewer`, `member` or `admin`.
    #[schema(value_type = String)]
    role: Role,
}

/// Gives a member another role; his keys never outrank him, at once.
#[utoipa::path(put, path = "/v1/users/{id}", tag = "tenants", params(("id" = String, Path), OfTenant), request_body = NewRole,
    responses((status = OK, body = User)))]
async fn set_role(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<UserId>,
    Params(of): Params<OfTenant>,
    body: Body<NewRole>,
) -> Result<Written<User>, Problem> {
    caller.may_for_all(Act::Manage)?;
    let (promise, role) = (body.idempotency(&caller), Some(body.value.role));
    set(&app, &caller, promise, (home(&app, &caller, of.tenant, id)?, id, role)).await
}

/// Removes a member; his keys are void at once.
#[utoipa::path(delete, path = "/v1/users/{id}", tag = "tenants", params(("id" = String, Path), OfTenant),
    responses((status = OK, body = User)))]
async fn remove_user(
    State(app): State<App>,
    caller: Caller,
    Id(id): Id<UserId>,
    Params(of): Params<OfTenant>,
) -> Result<Written<User>, Problem> {
    caller.may_for_all(Act::Manage)?;
    set(&app, &caller, None, (home(&app, &caller, of.tenant, id)?, id, None)).await
}

/// Whose member it is: the caller's tenant, or for the operator the one whom it is a member of.
fn home(app: &App, caller: &Caller, named: Option<TenantId>, id: UserId) -> Result<TenantId, Problem> {
    if !caller.is_operator() || named.is_some() {
        return caller.tenant(named);
    }
    let home = app.handle().read(|state| {
        let mut tenants = state.tenancy.tenants.iter();
        tenants.find(|(_, tenant)| tenant.members.contains_key(&id)).map(|(tenant, _)| *tenant)
    });
    home.ok_or_else(|| Problem::not_found(id))
}

async fn set(
    app: &App,
    caller: &Caller,
    promise: Option<Idempotency>,
    (tenant, id, role): (TenantId, UserId, Option<Role>),
) -> Result<Written<User>, Problem> {
    let command = tenancy::Command::SetMember { tenant, user: Some(id), role };
    let answer = submit(app, caller, promise, command, Attach::Nothing).await?;
    let name = app.blocking(move |app| Ok(app.handle().directory(|directory| directory.name(id))?)).await?;
    Ok(Written::changed(app.seq_of(&answer), User { id, name, role: role.map(caller::name) }))
}

async fn submit(
    app: &App,
    caller: &Caller,
    promise: Option<Idempotency>,
    command: tenancy::Command,
    attach: Attach,
) -> Result<Answer, Problem> {
    app.submit(caller, promise, Command::Tenancy(command), attach).await
}
