//! The world of the measurement: a fleet of cards in shares, a tenant with money, an agent on each node that does nothing but
//! say that it did.

use anyhow::{Context as _, anyhow};
use engine::{Attach, Handle, Submission};
use futures_util::future::join_all;
use placement::{DeviceSpec, NodeSpec};
use rental::{
    Command, assignments, fleet,
    lease::{self, Sighting},
    market, money,
    tenancy::{self, IssueKey, Role},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, Interval, MissedTickBehavior, interval_at},
};
use units::{AgentId, DeviceId, Micro, Observation, Phase, PoolId, TenantId, Ticks, Time, Wanted};

/// The fleet, in words.
pub const FLEET: &str = "64 nodes of 8 H100-80GB with an agent each, each card in up to 8 shares";
/// An order of an eighth of a card.
pub const ORDER: &str = r#"{"size":{"share":{"compute":125,"memory_mib":10240}},"wait":false}"#;

/// Nodes, each with an agent of its own.
const NODES: u64 = 64;
const TENANT: TenantId = TenantId(1);

/// Fills an empty log; gives the secret of a member's key.
pub fn furnish(handle: &Handle) -> anyhow::Result<String> {
    let device =
        DeviceSpec { id: DeviceId(0), model: "H100-80GB".into(), memory_mib: 81_920, tflops_milli: 989_000, max_shares: 8 };
    let spec =
        NodeSpec { pool: PoolId(1), cpu_milli: 128_000, memory_mib: 1_048_576, labels: Vec::new(), devices: vec![device; 8] };
    let price = market::Price { sku: billing::Sku::Card("H100-80GB".into()), micro: Micro::from_cny(24) };
    let much = Ticks::from_cny(10_000_000_000);
    submit(handle, Command::Fleet(fleet::Command::AddPool { name: "cards".into() }), Attach::Nothing)?;
    for n in 1..=NODES {
        submit(handle, Command::Fleet(fleet::Command::JoinAgent { name: format!("agent-{n}") }), Attach::Nothing)?;
        let node = fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(n), name: format!("node-{n}"), spec: spec.clone() };
        submit(handle, Command::Fleet(node), Attach::Nothing)?;
    }
    let publish = market::Command::PublishPrices { from: handle.now(), prices: vec![price] };
    submit(handle, Command::Market(publish), Attach::Nothing)?;
    submit(handle, Command::Tenancy(tenancy::Command::CreateTenant), Attach::Nothing)?;
    let top_up = money::Command::TopUp { tenant: TENANT, payment: "all".into(), ticks: much };
    submit(handle, Command::Money(top_up), Attach::Nothing)?;
    key(handle)
}

fn key(handle: &Handle) -> anyhow::Result<String> {
    let secret = "sz_measured".to_owned();
    let hash = ring::digest::digest(&ring::digest::SHA256, secret.as_bytes());
    let hash: [u8; 32] = hash.as_ref().try_into().context("SHA-256 has 32 bytes")?;
    let (owner, role) = (TENANT.into(), Role::Member);
    let bounds = IssueKey { owner, user: None, project: None, role, expires: None, agent: None };
    let command = Command::Tenancy(tenancy::Command::IssueKey(bounds));
    submit(handle, command, Attach::Key { hash, label: "measured".into() })?;
    Ok(secret)
}

fn submit(handle: &Handle, command: Command, attach: Attach) -> anyhow::Result<()> {
    let kind = command.kind();
    let answer = handle.submit_blocking(Submission { attach, ..Submission::plain("operator", command) });
    answer.map(|_| ()).map_err(|no| anyhow!("{kind}: {no}"))
}

/// Has every agent report what is ready and what is gone, until it is over and nothing is left. They look one after the other,
/// each once per `poll`.
pub async fn serve_leases(handle: Handle, over: Arc<AtomicBool>, poll: Duration) -> anyhow::Result<()> {
    let mut agents = JoinSet::new();
    for n in 1..=NODES {
        let (handle, over) = (handle.clone(), Arc::clone(&over));
        let begin = Instant::now() + poll * u32::try_from(n)? / u32::try_from(NODES)?;
        agents.spawn(serve_node(handle, AgentId(n), over, interval_at(begin, poll)));
    }
    while let Some(served) = agents.join_next().await {
        served.context("an agent's task")??;
    }
    Ok(())
}

async fn serve_node(handle: Handle, agent: AgentId, over: Arc<AtomicBool>, mut polls: Interval) -> anyhow::Result<()> {
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        polls.tick().await;
        let last = over.load(Ordering::Relaxed);
        let reports = handle.read(|state| reports(state, agent));
        if last && reports.is_empty() {
            return Ok(());
        }
        let submitted = reports.into_iter().map(|command| handle.submit(Submission::plain(agent.to_string(), command)));
        for answer in join_all(submitted).await {
            answer.map_err(|no| anyhow!("a report: {no}"))?;
        }
    }
}

fn reports(state: &rental::State, agent: AgentId) -> Vec<Command> {
    let sightings = assignments(state, agent).into_iter().filter_map(|wish| {
        let starting = state.lease.get(wish.lease).is_some_and(|l| l.status == lease::Status::Starting);
        let phase = match wish.wanted {
            Wanted::Run if starting => Phase::Ready,
            Wanted::Run => return None,
            Wanted::End => Phase::Gone,
        };
        let seen = Observation { lease: wish.lease, attempt: wish.attempt, node: wish.grant.node, phase, ago_ms: 0 };
        Some(Sighting { seen, since: Time::MAX })
    });
    lease::Command::reports(sightings).into_iter().map(Command::Lease).collect()
}
