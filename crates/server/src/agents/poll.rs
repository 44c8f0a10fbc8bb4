//! The long poll: what changed on an agent's nodes, with what it needs to carry it out.

use super::Told;
use crate::{App, Problem};
use protocol::{AssignmentBody, Changes, Deadline, Generation, Instance, Poll, fingerprint, needs_full_set};
use rental::{State, assignments, changed_since, lease::Seen, stop_by, wanted};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout_at};
use units::{AgentId, Assignment, DeviceId, LeaseId, TenantId, Time, Wanted, Workload};

/// Changes are gathered for so long, so that an agent is not woken by every single order.
const GATHER: Duration = Duration::from_millis(50);
/// Deadlines are looked at anew so often: looking costs a walk over the leases of every tenant on the agent's nodes.
const LOOK: Duration = Duration::from_secs(1);
/// A deadline that moved by less is not worth a message.
const MOVED_MS: i64 = 1000;
/// A proxy in between closes what is silent for longer.
const LONGEST: Duration = Duration::from_secs(55);

/// What is new for the agent; waits up to `wait` for something to be.
pub async fn poll(app: &App, agent: AgentId, poll: &Poll, wait: Duration) -> Result<Changes, Problem> {
    if poll.agent != agent {
        return Err(Problem::new("forbidden", format!("this key speaks for {agent}, not for {}", poll.agent)));
    }
    let handle = app.handle();
    handle.liveness(|liveness| liveness.heard(agent, handle.now(), Some(poll.clock)));
    let end = Instant::now() + wait.min(LONGEST);
    let (mut head, mut opened) = (handle.follow(), app.sessions().follow());
    let mut looked: Option<Instant> = None;
    let mut closing = false;
    loop {
        head.borrow_and_update();
        opened.borrow_and_update();
        let sessions = app.sessions().pending(agent);
        let touched = handle.read(|state| touched(state, agent, poll.generation.seq));
        if touched && looked.is_some() {
            // More of the same kind may be about to come.
            sleep(GATHER).await;
        }
        let now = !sessions.is_empty() || closing || Instant::now() >= end;
        if now || touched || looked.is_none_or(|at| at.elapsed() >= LOOK) {
            let found = handle.read(|state| look(app, state, agent, poll));
            if now || found.is_news() {
                return answer(app, agent, found, sessions);
            }
            looked = Some(Instant::now());
        }
        tokio::select! {
            _ = timeout_at((Instant::now() + LOOK).min(end), head.changed()) => {}
            _ = opened.changed() => {}
            () = app.closed() => closing = true,
        }
    }
}

/// Whether anything changed on the agent's nodes. Looked at with every entry, so it walks nodes, not leases.
fn touched(state: &State, agent: AgentId, seq: u64) -> bool {
    state.fleet.nodes_of(agent).any(|node| state.lease.node_changed(node) > seq)
}

/// What a look at the state found.
struct Found {
    generation: Generation,
    full: bool,
    touched: bool,
    assignments: Vec<Assignment>,
    /// Of these, what is known to be usable.
    ready: HashSet<Instance>,
    digest: u64,
    /// Of every instance that should run.
    deadlines: HashMap<Instance, Option<Time>>,
    /// Those that moved since the agent was told.
    moved: Vec<Instance>,
    measure_clean: Vec<DeviceId>,
    now: Time,
}

impl Found {
    fn is_news(&self) -> bool {
        self.full || self.touched || !self.moved.is_empty()
    }
}

fn look(app: &App, state: &State, agent: AgentId, poll: &Poll) -> Found {
    let now = app.handle().now();
    // An empty journal has no epoch yet; an agent's first set must not look like none.
    let generation = Generation { epoch: app.handle().head().epoch.max(1), seq: state.seq };
    let wishes: Vec<(Instance, Wanted)> =
        wanted(state, agent).map(|(lease, attempt, node, wish)| (Instance { lease, attempt, node }, wish)).collect();
    let digest = wishes.iter().fold(0, |sum, (instance, wish)| sum ^ fingerprint(*instance, *wish));
    let touched = touched(state, agent, poll.generation.seq);
    let full = needs_full_set(poll, generation, digest, touched);
    let deadlines = deadlines(state, &wishes, now);
    let moved = if full { Vec::new() } else { moved(app, agent, poll.generation, &deadlines) };
    let assignments = match (full, touched) {
        (true, _) => assignments(state, agent),
        (false, true) => changed_since(state, agent, Some(poll.generation.seq)),
        (false, false) => Vec::new(),
    };
    let measure_clean = state.fleet.unclean_of(agent);
    let is_ready = |a: &&Assignment| {
        let member = state.lease.get(a.lease).and_then(|lease| lease.member(a.grant.node));
        member.is_some_and(|member| member.seen == Seen::Ready)
    };
    let ready = assignments.iter().filter(is_ready).map(Instance::of).collect();
    Found { generation, full, touched, assignments, ready, digest, deadlines, moved, measure_clean, now }
}

/// Until when each instance may run if nothing is heard from here: its own end, or the end of the tenant's money.
fn deadlines(state: &State, wishes: &[(Instance, Wanted)], now: Time) -> HashMap<Instance, Option<Time>> {
    let mut by_tenant: HashMap<TenantId, Option<Time>> = HashMap::new();
    let mut deadline = |instance: &Instance| {
        let lease = state.lease.get(instance.lease)?;
        let money = *by_tenant.entry(lease.tenant).or_insert_with(|| stop_by(state, lease.tenant, now));
        [money, lease.ask.interval.until].into_iter().flatten().min()
    };
    wishes.iter().filter(|(_, wish)| *wish == Wanted::Run).map(|(instance, _)| (*instance, deadline(instance))).collect()
}

/// Deadlines that differ from what the agent was told. If it has not heard the last answer, all count as new.
fn moved(app: &App, agent: AgentId, heard: Generation, deadlines: &HashMap<Instance, Option<Time>>) -> Vec<Instance> {
    let tables = app.agents().tables();
    let told = tables.told.get(&agent).filter(|told| told.generation == heard);
    let differs = |instance: &Instance, deadline: &Option<Time>| match told.and_then(|told| told.deadlines.get(instance)) {
        None => deadline.is_some(),
        Some(before) => match (before, deadline) {
            (Some(before), Some(now)) => before.since(*now).abs() >= MOVED_MS,
            (before, now) => before != now,
        },
    };
    deadlines.iter().filter(|(instance, deadline)| differs(instance, deadline)).map(|(instance, _)| *instance).collect()
}

fn answer(app: &App, agent: AgentId, found: Found, sessions: Vec<protocol::SessionOpen>) -> Result<Changes, Problem> {
    let now = found.now;
    let in_ms = |instance: &Instance| {
        let deadline = found.deadlines.get(instance).copied().flatten();
        deadline.map(|at| u64::try_from(at.since(now).max(0)).unwrap_or(0))
    };
    let workloads = workloads(app, &found.assignments)?;
    let body = |assignment: &Assignment| {
        let instance = Instance::of(assignment);
        let run = assignment.wanted == Wanted::Run;
        AssignmentBody {
            stop_in_ms: in_ms(&instance),
            workload: run.then(|| workloads.get(&instance.lease).cloned().unwrap_or_default()),
            ready: found.ready.contains(&instance),
            env: if run { platform_env(app, instance.lease) } else { BTreeMap::new() },
            assignment: assignment.clone(),
        }
    };
    let assignments: Vec<AssignmentBody> = found.assignments.iter().map(body).collect();
    let told = |instance: &Instance| found.assignments.iter().any(|a| Instance::of(a) == *instance);
    let moved = found.moved.iter().filter(|instance| !told(instance));
    let deadlines = moved.map(|instance| Deadline { instance: *instance, stop_in_ms: in_ms(instance) }).collect();
    let (generation, full, digest, measure_clean) = (found.generation, found.full, found.digest, found.measure_clean);
    app.agents().tables().told.insert(agent, Told { generation, deadlines: found.deadlines });
    Ok(Changes { generation, full, assignments, deadlines, digest, now, sessions, measure_clean })
}

fn workloads(app: &App, assignments: &[Assignment]) -> Result<HashMap<LeaseId, Workload>, Problem> {
    let mut found = HashMap::new();
    if assignments.is_empty() {
        return Ok(found);
    }
    app.handle().directory(|directory| {
        for assignment in assignments.iter().filter(|a| a.wanted == Wanted::Run) {
            if let Some(workload) = directory.workload(assignment.lease)? {
                found.insert(assignment.lease, workload);
            }
        }
        Ok(found)
    })
}

/// So that a workload can ask about itself, and end itself.
fn platform_env(app: &App, lease: LeaseId) -> BTreeMap<String, String> {
    BTreeMap::from([("SUANZU_URL".into(), app.config().public_url.clone()), ("SUANZU_KEY".into(), app.lease_secret(lease))])
}
