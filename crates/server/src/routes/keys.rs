//! `/v1/keys`: secrets that open this API.

use crate::{
    App, AtLeast, Body, Caller, OfTenant, Page, PagedOfTenant, Params, Problem, Written,
    bodies::{Name, instant},
    caller,
    paging::List,
    path::Id,
    secrets,
};
use axum::{Json, extract::State};
use engine::{Attach, Idempotency};
use rental::{
    Command, Event,
    tenancy::{self, Act, IssueKey, Key, Role},
};
use serde::{Deserialize, Serialize};
use units::{AgentId, KeyId, Owner, ProjectId, TenantId, Time, UserId};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke))
}

/// A key. Its secret is not kept, only a hash of it.
#[derive(Serialize, ToSchema)]
#[schema(as = Key)]
struct KeyBody {
    /// The id.
    #[schema(value_type = String)]
    id: KeyId,
    /// A name for people.
    name: Option<String>,
    /// What it may do at most.
    role: &'static str,
    /// On whose behalf.
    #[schema(value_type = Option<String>)]
    user: Option<UserId>,
    /// Only this project.
    #[schema(value_type = Option<String>)]
    project: Option<ProjectId>,
    /// The agent it speaks for.
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// Void from then on.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires: Option<Time>,
    /// Ended before its time.
    revoked: bool,
}

/// A key that has just been issued.
#[derive(Serialize, ToSchema)]
pub(super) struct Issued {
    /// The id.
    #[schema(value_type = String)]
    pub key: KeyId,
    /// The secret, shown this once; `null` in the answer to a repeat.
    pub secret: Option<String>,
    /// The entry.
    pub seq: u64,
}

/// The bounds of a new key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Issue {
    /// What it may do at most.
    #[schema(value_type = String, example = "member")]
    role: Role,
    /// A name for people, of 1 to 128 characters.
    #[schema(value_type = Option<String>)]
    name: Option<Name>,
    /// On whose behalf: it never outranks him.
    #[schema(value_type = Option<String>)]
    user: Option<UserId>,
    /// Only this project.
    #[schema(value_type = Option<String>)]
    project: Option<ProjectId>,
    /// Void from then on.
    #[serde(default, deserialize_with = "instant")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires: Option<Time>,
}

/// A tenant's keys; the operator's own where he names no tenant.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(AtLeast, PagedOfTenant), responses((status = OK, body = Page<KeyBody>)))]
async fn list(State(app): State<App>, caller: Caller, Params(of): Params<PagedOfTenant>) -> Result<Json<Page<KeyBody>>, Problem> {
    caller.may_for_all(Act::Manage)?;
    let owner = owner(&caller, of.tenant)?;
    let keys: Vec<KeyBody> = app.handle().read(|state| {
        let own = state.tenancy.keys.iter().filter(|(_, key)| key.owner == owner);
        own.map(|(id, key)| body(*id, key)).collect()
    });
    let list = List { caller: &caller, tenant: owner.tenant(), route: "keys" };
    let Page { mut items, next_page } = Page::of(keys, &of.page(), &app, &list, |key| key.id.0)?;
    let named = app.blocking(move |app| {
        app.handle()
            .directory(|directory| items.iter_mut().try_for_each(|key| directory.label(key.id).map(|name| key.name = name)))?;
        Ok(items)
    });
    Ok(Json(Page { items: named.await?, next_page }))
}

/// Issues a key; its secret is in the answer and nowhere else.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", params(OfTenant), request_body = Issue,
    responses((status = CREATED, body = Issued)))]
async fn create(
    State(app): State<App>,
    caller: Caller,
    Params(of): Params<OfTenant>,
    body: Body<Issue>,
) -> Result<Written<Issued>, Problem> {
    caller.may_for_all(Act::Manage)?;
    let owner = owner(&caller, of.tenant)?;
    let promise = body.idempotency(&caller);
    let Issue { role, name, user, project, expires } = body.value;
    let bounds = IssueKey { owner, user, project, role, expires, agent: None };
    let issued = issue(&app, &caller, promise, bounds, name.map_or_else(String::new, Into::into)).await?;
    Ok(Written::created(issued.seq, issued))
}

/// Ends a key at once.
#[utoipa::path(delete, path = "/v1/keys/{id}", tag = "keys", params(("id" = String, Path), OfTenant),
    responses((status = OK, body = KeyBody)))]
async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Id(key): Id<KeyId>,
    Params(of): Params<OfTenant>,
) -> Result<Written<KeyBody>, Problem> {
    caller.may_for_all(Act::Manage)?;
    let owner = match (caller.is_operator(), of.tenant) {
        // The operator addresses any key by its id alone.
        (true, None) => app.handle().read(|state| state.tenancy.keys.get(&key).map_or(Owner::OPERATOR, |key| key.owner)),
        _ => owner(&caller, of.tenant)?,
    };
    let command = Command::Tenancy(tenancy::Command::RevokeKey { owner, key });
    let answer = app.submit(&caller, None, command, Attach::Nothing).await?;
    let revoked = app.handle().read(|state| state.tenancy.keys.get(&key).map(|known| body(key, known)));
    Ok(Written::changed(app.seq_of(&answer), revoked.ok_or_else(|| Problem::not_found(key))?))
}

/// Issues a key within these bounds.
pub(super) async fn issue(
    app: &App,
    caller: &Caller,
    promise: Option<Idempotency>,
    bounds: IssueKey,
    label: String,
) -> Result<Issued, Problem> {
    let (secret, hash) = secrets::api_key();
    let command = Command::Tenancy(tenancy::Command::IssueKey(bounds));
    let answer = app.submit(caller, promise, command, Attach::Key { hash, label }).await?;
    let key = answer.events().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::KeyIssued(e)) => Some(e.key),
        _ => None,
    });
    let key = key.expect("an entry that issues a key says which");
    // The first answer's secret is not kept, so a repeat cannot show it.
    Ok(Issued { key, secret: (!answer.repeated).then_some(secret), seq: app.seq_of(&answer) })
}

fn owner(caller: &Caller, named: Option<TenantId>) -> Result<Owner, Problem> {
    match named {
        None => Ok(caller.owner),
        Some(tenant) => caller.tenant(Some(tenant)).map(Owner::from),
    }
}

fn body(id: KeyId, key: &Key) -> KeyBody {
    KeyBody {
        id,
        name: None,
        role: caller::name(key.role),
        user: key.user,
        project: key.project,
        agent: key.agent,
        expires: key.expires,
        revoked: key.revoked,
    }
}
