//! The world of the measurement: a fleet of cards in shares, a tenant with money, agents that do nothing but say that they
//! did.

use anyhow::{Context as _, anyhow};
use engine::{Attach, Handle, Submission};
use futures_util::future::join_all;
use placement::{DeviceSpec, NodeSpec};
use rental::{
    Command, changed_since, fleet,
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

/// Cards of a node.
const CARDS: u64 = 8;
/// Shares of a card at most.
const SHARES: u64 = 8;
/// Agents, each with as many nodes as any other.
const AGENTS: u64 = 64;
/// An order of an eighth of a card.
pub const ORDER: &str = r#"{"size":{"share":{"compute":125,"memory_mib":10240}},"wait":false}"#;

const TENANT: TenantId = TenantId(1);

/// So many nodes have room for this many orders.
pub fn nodes_for(orders: u64) -> u64 {
    orders.div_ceil(CARDS * SHARES).next_multiple_of(AGENTS)
}

/// The fleet, in words.
pub fn described(nodes: u64) -> String {
    format!("{nodes} nodes of {CARDS} H100-80GB, each card in up to {SHARES} shares, {AGENTS} agents")
}

/// Fills an empty log; gives the secret of a member's key.
pub fn furnish(handle: &Handle, nodes: u64) -> anyhow::Result<String> {
    let device = DeviceSpec {
        id: DeviceId(0),
        model: "H100-80GB".into(),
        memory_mib: 81_920,
        tflops_milli: 989_000,
        max_shares: u8::try_from(SHARES)?,
    };
    let devices = vec![device; usize::try_from(CARDS)?];
    let spec = NodeSpec { pool: PoolId(1), cpu_milli: 128_000, memory_mib: 1_048_576, labels: Vec::new(), devices };
    let price = market::Price { sku: billing::Sku::Card("H100-80GB".into()), micro: Micro::from_cny(24) };
    let much = Ticks::from_cny(10_000_000_000);
    submit(handle, Command::Fleet(fleet::Command::AddPool { name: "cards".into() }), Attach::Nothing)?;
    for n in 1..=AGENTS {
        submit(handle, Command::Fleet(fleet::Command::JoinAgent { name: format!("agent-{n}") }), Attach::Nothing)?;
    }
    for n in 0..nodes {
        let (agent, name, spec) = (AgentId(1 + n % AGENTS), format!("node-{n}"), spec.clone());
        submit(handle, Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent, name, spec }), Attach::Nothing)?;
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
    for n in 1..=AGENTS {
        let (handle, over) = (handle.clone(), Arc::clone(&over));
        let begin = Instant::now() + poll * u32::try_from(n)? / u32::try_from(AGENTS)?;
        agents.spawn(serve_nodes(handle, AgentId(n), over, interval_at(begin, poll)));
    }
    while let Some(served) = agents.join_next().await {
        served.context("an agent's task")??;
    }
    Ok(())
}

async fn serve_nodes(handle: Handle, agent: AgentId, over: Arc<AtomicBool>, mut polls: Interval) -> anyhow::Result<()> {
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = None;
    loop {
        polls.tick().await;
        let last = over.load(Ordering::Relaxed);
        let (reports, seq) = handle.read(|state| (reports(state, agent, heard), state.seq));
        heard = Some(seq);
        if last && reports.is_empty() {
            return Ok(());
        }
        let submitted = reports.into_iter().map(|command| handle.submit(Submission::plain(agent.to_string(), command)));
        for answer in join_all(submitted).await {
            answer.map_err(|no| anyhow!("a report: {no}"))?;
        }
    }
}

/// About what has changed since the agent last heard, as a poll tells it.
fn reports(state: &rental::State, agent: AgentId, heard: Option<u64>) -> Vec<Command> {
    let sightings = changed_since(state, agent, heard).into_iter().filter_map(|wish| {
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
