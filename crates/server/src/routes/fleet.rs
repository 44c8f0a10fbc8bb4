//! `/v1/pools`, `/v1/nodes`, `/v1/devices`, `/v1/agents`: the operator's machines.

use crate::{
    App, AtLeast, Body, Caller, NoParams, Nothing, Page, Paged, Params, Problem, Written, agents,
    bodies::{Name, decimal},
    paging::List,
    path::Id,
};
use axum::{Json, extract::State};
use engine::Attach;
use rental::{
    Command, State as Core,
    fleet::{self, Mark},
    lease,
    placement::DeviceView,
    tenancy::{Act, IssueKey, Role},
};
use serde::{Deserialize, Serialize};
use units::{AgentId, DeviceId, LeaseId, NodeId, Owner, PoolId, Time};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(pools, add_pool))
        .routes(routes!(add_agent))
        .routes(routes!(nodes))
        .routes(routes!(node))
        .routes(routes!(drain_node))
        .routes(routes!(return_node))
        .routes(routes!(lose_node))
        .routes(routes!(remove_node))
        .routes(routes!(drain_device))
        .routes(routes!(return_device))
        .routes(routes!(clear_device))
}

/// A pool.
#[derive(Serialize, ToSchema)]
struct Pool {
    /// The id.
    #[schema(value_type = String)]
    id: PoolId,
    /// Its name.
    name: String,
}

/// A node.
#[derive(Serialize, ToSchema)]
struct Node {
    /// The id.
    #[schema(value_type = String)]
    id: NodeId,
    /// Its name.
    name: String,
    /// Its pool.
    #[schema(value_type = String)]
    pool: PoolId,
    /// Who runs leases on it.
    #[schema(value_type = String)]
    agent: AgentId,
    /// Its standing: `offered`, `draining`, `lost` or `unfit`.
    #[schema(value_type = String)]
    mark: Mark,
    /// When its agent was last heard; `null` before the first time since we started.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_heard: Option<Time>,
    /// How far the agent's clock is ahead of ours, in milliseconds.
    clock_off_ms: Option<i64>,
    /// Labels it carries.
    labels: Vec<String>,
    /// Cores, all and taken.
    cpu: Amount,
    /// Main memory in MiB, all and taken.
    memory_mib: Amount,
    /// Its cards.
    devices: Vec<Device>,
    /// Leases that have something on it.
    #[schema(value_type = Vec<String>)]
    leases: Vec<LeaseId>,
}

/// A divisible resource.
#[derive(Serialize, ToSchema)]
struct Amount {
    /// All of it.
    total: String,
    /// Held by leases.
    taken: String,
}

/// A card.
#[derive(Serialize, ToSchema)]
struct Device {
    /// The id.
    #[schema(value_type = String)]
    id: DeviceId,
    /// Its model.
    model: String,
    /// Its memory in MiB.
    memory_mib: u32,
    /// May be rented, as far as it goes itself.
    offered: bool,
    /// Compute that leases hold, in permille.
    taken_compute: u32,
    /// Memory that leases hold, in MiB.
    taken_memory_mib: u32,
    /// Freed, and not yet measured clean.
    unclean: bool,
}

/// All pools.
#[utoipa::path(get, path = "/v1/pools", tag = "fleet", params(AtLeast, Paged), responses((status = OK, body = Page<Pool>)))]
async fn pools(State(app): State<App>, caller: Caller, Params(paged): Params<Paged>) -> Result<Json<Page<Pool>>, Problem> {
    caller.may(Act::Operate)?;
    let all = |state: &Core| state.fleet.pools.iter().map(|(id, name)| Pool { id: *id, name: name.clone() }).collect();
    let list = List { caller: &caller, tenant: None, route: "pools" };
    Page::of(app.handle().read(all), &paged, &app, &list, |pool| pool.id.0).map(Json)
}

/// A name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// Unique, of 1 to 128 characters: letters, digits, '-', '_' and '.'.
    #[schema(value_type = String, example = "cards")]
    name: Name,
}

/// Makes a pool; one of the same name is found.
#[utoipa::path(post, path = "/v1/pools", tag = "fleet", request_body = Named, responses((status = CREATED, body = Pool)))]
async fn add_pool(State(app): State<App>, caller: Caller, body: Body<Named>) -> Result<Written<Pool>, Problem> {
    caller.may(Act::Operate)?;
    let (promise, name) = (body.idempotency(&caller), String::from(body.value.name));
    let command = Command::Fleet(fleet::Command::AddPool { name: name.clone() });
    let answer = app.submit(&caller, promise, command, Attach::Nothing).await?;
    let id = app.handle().read(|state| state.fleet.pools.iter().find(|(_, known)| **known == name).map(|(id, _)| *id));
    let id = id.ok_or_else(|| Problem::not_found(format!("pool '{name}'")))?;
    Ok(Written::created(app.seq_of(&answer), Pool { id, name }))
}

/// An agent with its key.
#[derive(Serialize, ToSchema)]
struct Enrolled {
    /// The agent.
    #[schema(value_type = String)]
    agent: AgentId,
    /// Its name.
    name: String,
    /// For `suanzu agent --join URL`, shown this once.
    secret: Option<String>,
    /// The entry.
    seq: u64,
}

/// Makes an agent known, and issues a key for it. An agent of the same name gets a further key.
#[utoipa::path(post, path = "/v1/agents", tag = "fleet", request_body = Named, responses((status = CREATED, body = Enrolled)))]
async fn add_agent(State(app): State<App>, caller: Caller, body: Body<Named>) -> Result<Written<Enrolled>, Problem> {
    caller.may(Act::Operate)?;
    let (promise, name) = (body.idempotency(&caller), String::from(body.value.name));
    let agent = agents::enroll(&app, &name).await?;
    let bounds =
        IssueKey { owner: Owner::OPERATOR, user: None, project: None, role: Role::Agent, expires: None, agent: Some(agent) };
    let issued = super::keys::issue(&app, &caller, promise, bounds, format!("agent {name}")).await?;
    Ok(Written::created(issued.seq, Enrolled { agent, name, secret: issued.secret, seq: issued.seq }))
}

/// All nodes.
#[utoipa::path(get, path = "/v1/nodes", tag = "fleet", params(AtLeast, Paged), responses((status = OK, body = Page<Node>)))]
async fn nodes(State(app): State<App>, caller: Caller, Params(paged): Params<Paged>) -> Result<Json<Page<Node>>, Problem> {
    caller.may(Act::Operate)?;
    let ids: Vec<NodeId> = app.handle().read(|state| state.fleet.nodes.keys().copied().collect());
    let list = List { caller: &caller, tenant: None, route: "nodes" };
    let Page { items, next_page } = Page::of(ids, &paged, &app, &list, |id| id.0)?;
    let found = app.handle().read(|state| items.into_iter().filter_map(|id| body_of(state, id)).collect());
    Ok(Json(Page { items: heard(&app, found), next_page }))
}

/// One node.
#[utoipa::path(get, path = "/v1/nodes/{id}", tag = "fleet", params(("id" = String, Path), AtLeast),
    responses((status = OK, body = Node)))]
async fn node(State(app): State<App>, caller: Caller, Id(id): Id<NodeId>, _: Params<NoParams>) -> Result<Json<Node>, Problem> {
    caller.may(Act::Operate)?;
    one(&app, id).map(Json)
}

/// Takes nothing new from now on.
#[utoipa::path(post, path = "/v1/nodes/{id}/drain", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn drain_node(
    State(app): State<App>,
    caller: Caller,
    Id(node): Id<NodeId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    change_node(&app, &caller, node, fleet::Command::MarkNode { node, mark: Mark::Draining }).await
}

/// On offer again.
#[utoipa::path(post, path = "/v1/nodes/{id}/return", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn return_node(
    State(app): State<App>,
    caller: Caller,
    Id(node): Id<NodeId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    change_node(&app, &caller, node, fleet::Command::MarkNode { node, mark: Mark::Offered }).await
}

/// It is gone for good: its leases are given up, charged to the last proof of their service.
#[utoipa::path(post, path = "/v1/nodes/{id}/lose", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn lose_node(
    State(app): State<App>,
    caller: Caller,
    Id(node): Id<NodeId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    let written = change_node(&app, &caller, node, fleet::Command::MarkNode { node, mark: Mark::Lost }).await?;
    loop {
        let leases = app.handle().read(|state| up_on(state, node));
        if leases.is_empty() {
            return Ok(Written { body: one(&app, node)?, ..written });
        }
        let proven = app.handle().liveness(|liveness| {
            let last = |up: &Up| (up.lease, liveness.last_served(up.lease, up.attempt).unwrap_or(up.ready));
            leases.iter().map(last).collect()
        });
        let command = Command::Lease(lease::Command::GiveUp { leases: proven });
        app.submit(&caller, None, command, Attach::Nothing).await?;
    }
}

/// A run that is up.
struct Up {
    lease: LeaseId,
    attempt: u32,
    /// When it became usable.
    ready: Time,
}

/// The runs that are up on a node, at most as many as one entry takes.
fn up_on(state: &Core, node: NodeId) -> Vec<Up> {
    let up = state.lease.on_node(node).filter(|l| matches!(l.status, lease::Status::Starting | lease::Status::Running));
    up.take(rental::GATHER_LEASES).map(|l| Up { lease: l.id, attempt: l.attempt, ready: l.ready.unwrap_or(l.since) }).collect()
}

/// Takes an empty node out of the fleet.
#[utoipa::path(post, path = "/v1/nodes/{id}/remove", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn remove_node(
    State(app): State<App>,
    caller: Caller,
    Id(node): Id<NodeId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    caller.may(Act::Operate)?;
    let last = one(&app, node)?;
    let command = Command::Fleet(fleet::Command::RemoveNode { node });
    let answer = app.submit(&caller, None, command, Attach::Nothing).await?;
    Ok(Written::changed(app.seq_of(&answer), last))
}

/// Not on offer from now on.
#[utoipa::path(post, path = "/v1/devices/{id}/drain", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn drain_device(
    State(app): State<App>,
    caller: Caller,
    Id(device): Id<DeviceId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    change_device(&app, &caller, device, fleet::Command::MarkDevice { device, offered: false }).await
}

/// On offer again.
#[utoipa::path(post, path = "/v1/devices/{id}/return", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn return_device(
    State(app): State<App>,
    caller: Caller,
    Id(device): Id<DeviceId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    change_device(&app, &caller, device, fleet::Command::MarkDevice { device, offered: true }).await
}

/// Declares a freed device clean, where no agent can measure it.
#[utoipa::path(post, path = "/v1/devices/{id}/clear", tag = "fleet", params(("id" = String, Path)), request_body = Nothing,
    responses((status = OK, body = Node)))]
async fn clear_device(
    State(app): State<App>,
    caller: Caller,
    Id(device): Id<DeviceId>,
    _: Body<Nothing>,
) -> Result<Written<Node>, Problem> {
    change_device(&app, &caller, device, fleet::Command::Clear { devices: vec![device], heard: None }).await
}

async fn change_device(app: &App, caller: &Caller, device: DeviceId, command: fleet::Command) -> Result<Written<Node>, Problem> {
    caller.may(Act::Operate)?;
    let node = app.handle().read(|state| state.fleet.devices().device(device).map(DeviceView::node));
    change_node(app, caller, node.ok_or_else(|| Problem::not_found(device))?, command).await
}

async fn change_node(app: &App, caller: &Caller, node: NodeId, command: fleet::Command) -> Result<Written<Node>, Problem> {
    caller.may(Act::Operate)?;
    let answer = app.submit(caller, None, Command::Fleet(command), Attach::Nothing).await?;
    Ok(Written::changed(app.seq_of(&answer), one(app, node)?))
}

fn one(app: &App, id: NodeId) -> Result<Node, Problem> {
    let found = app.handle().read(|state| body_of(state, id)).ok_or_else(|| Problem::not_found(id))?;
    Ok(heard(app, vec![found]).remove(0))
}

fn heard(app: &App, mut nodes: Vec<Node>) -> Vec<Node> {
    app.handle().liveness(|liveness| {
        for node in &mut nodes {
            node.last_heard = liveness.last_heard(node.agent);
            node.clock_off_ms = liveness.clock_off_ms(node.agent);
        }
    });
    nodes
}

fn body_of(state: &Core, id: NodeId) -> Option<Node> {
    let known = state.fleet.nodes.get(&id)?;
    let view = state.fleet.devices().node(id)?;
    let (cpu, memory) = (view.cpu_milli(), view.memory_mib());
    Some(Node {
        id,
        name: known.name.clone(),
        pool: view.pool(),
        agent: known.agent,
        mark: known.mark,
        last_heard: None,
        clock_off_ms: None,
        labels: view.labels().map(str::to_owned).collect(),
        cpu: Amount { total: decimal(cpu.total.into()), taken: decimal(cpu.taken.into()) },
        memory_mib: Amount { total: memory.total.to_string(), taken: memory.taken.to_string() },
        devices: view.devices().map(device).collect(),
        leases: state.lease.on_node(id).map(|lease| lease.id).collect(),
    })
}

fn device(device: DeviceView<'_>) -> Device {
    Device {
        id: device.id(),
        model: device.model().to_owned(),
        memory_mib: device.memory_mib(),
        offered: device.is_in_service(),
        taken_compute: device.taken().compute,
        taken_memory_mib: device.taken().memory_mib,
        unclean: device.unclean().compute > 0,
    }
}
