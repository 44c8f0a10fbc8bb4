//! The server's side of an agent's calls, as thin as the routes are: liveness is noted, bodies become commands.

use super::Plane;
use engine::{Liveness, Submission};
use protocol::{AssignmentBody, Changes, Deadline, Generation, Instance, Poll, Report, digest, needs_full_set};
use rental::{Command, assignments, changed_since, fleet, lease, lease::Sighting, stop_by};
use std::collections::BTreeMap;
use units::{AgentId, Assignment, TenantId, Time, Wanted};

/// Answers a poll; `None` while the control plane is down.
pub(crate) fn poll(plane: &mut Plane, poll: &Poll, now: Time) -> Option<Changes> {
    let clock = plane.clock(now);
    let engine = plane.engine()?;
    engine.liveness().heard(poll.agent, clock, Some(poll.clock));
    let epoch = engine.head().epoch.max(1);
    let state = plane.state()?;
    let generation = Generation { epoch, seq: state.seq };
    let all = assignments(&state, poll.agent);
    let digest = digest(&all);
    let changed = changed_since(&state, poll.agent, Some(poll.generation.seq));
    let full = needs_full_set(poll, generation, digest, !changed.is_empty());
    let sent = if full { all.clone() } else { changed };
    let stops = deadlines(&state, &all, clock);
    let stop_in = |a: &Assignment| stops.get(&Instance::of(a)).copied().flatten();
    let body = |a: &Assignment| AssignmentBody {
        assignment: a.clone(),
        workload: (a.wanted == Wanted::Run).then(|| plane.workload(a.lease)).flatten(),
        ready: is_ready(&state, a),
        stop_in_ms: stop_in(a),
        env: BTreeMap::new(),
    };
    let known = |a: &Assignment| sent.iter().any(|s| Instance::of(s) == Instance::of(a));
    let moved = all.iter().filter(|a| a.wanted == Wanted::Run && !known(a));
    Some(Changes {
        generation,
        full,
        assignments: sent.iter().map(body).collect(),
        deadlines: moved.map(|a| Deadline { instance: Instance::of(a), stop_in_ms: stop_in(a) }).collect(),
        digest,
        now: clock,
        sessions: Vec::new(),
        measure_clean: state.fleet.unclean_of(poll.agent),
    })
}

fn is_ready(state: &rental::State, a: &Assignment) -> bool {
    let member = state.lease.get(a.lease).and_then(|lease| lease.member(a.grant.node));
    member.is_some_and(|member| member.seen == lease::Seen::Ready)
}

/// Milliseconds until the money of each assignment's tenant ends.
fn deadlines(state: &rental::State, all: &[Assignment], clock: Time) -> BTreeMap<Instance, Option<u64>> {
    let mut of_tenant: BTreeMap<TenantId, Option<Time>> = BTreeMap::new();
    let mut stops = BTreeMap::new();
    for assignment in all {
        let Some(lease) = state.lease.get(assignment.lease) else { continue };
        let stop = *of_tenant.entry(lease.tenant).or_insert_with(|| stop_by(state, lease.tenant, clock));
        let left = stop.map(|at| u64::try_from(at.since(clock)).unwrap_or(0));
        stops.insert(Instance::of(assignment), left);
    }
    stops
}

/// Takes a report in. What it leads to counts once the plane's turn is done.
pub(crate) fn report(plane: &mut Plane, report: &Report, now: Time) -> bool {
    let clock = plane.clock(now);
    let Some(engine) = plane.engine() else { return false };
    engine.liveness().heard(report.agent, clock, None);
    let served: Vec<Instance> = report.serving.iter().filter(|i| is_current(plane, report.agent, **i)).copied().collect();
    let Some(engine) = plane.engine() else { return false };
    for instance in served {
        engine.liveness().served(instance.lease, instance.attempt, instance.node, clock);
    }
    let commands = commands(&engine.liveness(), report, clock);
    for command in commands {
        // Refusals are answers too: what moved on meanwhile is none of the agent's business.
        let _ = plane.submit(now, Submission::plain(report.agent.to_string(), command));
    }
    true
}

fn is_current(plane: &Plane, agent: AgentId, instance: Instance) -> bool {
    let Some(state) = plane.state() else { return false };
    let owned = state.fleet.nodes.get(&instance.node).is_some_and(|node| node.agent == agent);
    owned && state.lease.get(instance.lease).is_some_and(|l| l.attempt == instance.attempt && l.member(instance.node).is_some())
}

fn commands(liveness: &Liveness, report: &Report, clock: Time) -> Vec<Command> {
    let sightings: Vec<_> =
        report.observations.iter().map(|seen| Sighting { seen: seen.clone(), since: liveness.began(seen, clock) }).collect();
    let mut commands: Vec<_> = lease::Command::reports(sightings).into_iter().map(Command::Lease).collect();
    if !report.clean.is_empty() {
        let heard = Some(report.generation.seq);
        commands.push(Command::Fleet(fleet::Command::Clear { devices: report.clean.clone(), heard }));
    }
    for fault in &report.faults {
        commands.push(Command::Fleet(fleet::Command::MarkDevice { device: fault.device, offered: false }));
    }
    commands
}
