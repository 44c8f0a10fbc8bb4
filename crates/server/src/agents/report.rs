//! What an agent saw: each difference becomes a command; proofs of service and progress stay in memory.

use crate::{App, Problem};
use engine::Submission;
use futures_util::future::join_all;
use protocol::{Instance, Report};
use rental::{Command, State, fleet, lease, lease::Sighting};
use std::collections::HashSet;
use units::{AgentId, DeviceId, NodeId, Observation, Phase};

/// Takes a report in. One about a node or a device of another agent is refused as a whole.
pub async fn report(app: &App, agent: AgentId, report: &Report) -> Result<(), Problem> {
    if report.agent != agent {
        return Err(Problem::new("forbidden", format!("this key speaks for {agent}, not for {}", report.agent)));
    }
    app.handle().read(|state| check_own(state, agent, report))?;
    let now = app.handle().now();
    note(app, agent, report);
    let observed = report.observations.iter().filter(|seen| !matches!(seen.phase, Phase::Starting(_)));
    let observed =
        observed.map(|seen| Sighting { seen: seen.clone(), since: app.handle().liveness(|liveness| liveness.began(seen, now)) });
    let observed = lease::Command::reports(observed).into_iter().map(Command::Lease);
    // What was heard under another leadership may be of entries that were lost.
    let heard = if report.generation.epoch == app.handle().head().epoch { report.generation.seq } else { 0 };
    let clear = || fleet::Command::Clear { devices: report.clean.clone(), heard: Some(heard) };
    let clean = (!report.clean.is_empty()).then(clear);
    let faults = report.faults.iter().map(|fault| fleet::Command::MarkDevice { device: fault.device, offered: false });
    let commands: Vec<_> = observed.chain(clean.into_iter().chain(faults).map(Command::Fleet)).collect();
    // All at once, in order: they share the batch, and so one wait for the disk.
    let actor = agent.to_string();
    let answers =
        join_all(commands.into_iter().map(|command| app.handle().submit(Submission::plain(actor.clone(), command)))).await;
    answers.into_iter().try_for_each(|answer| answer.map(|_| ()).map_err(Problem::from))
}

fn check_own(state: &State, agent: AgentId, report: &Report) -> Result<(), Problem> {
    let own_node = |node: NodeId| match state.fleet.nodes.get(&node).is_some_and(|known| known.agent == agent) {
        true => Ok(()),
        false => Err(Problem::not_found(node)),
    };
    let own_device = |device: DeviceId| match state.fleet.devices().device(device) {
        Some(known) => own_node(known.node()).map_err(|_| Problem::not_found(device)),
        None => Err(Problem::not_found(device)),
    };
    report.observations.iter().try_for_each(|seen| own_node(seen.node))?;
    report.serving.iter().try_for_each(|instance| own_node(instance.node))?;
    report.usage.iter().try_for_each(|usage| own_node(usage.instance.node))?;
    report.clean.iter().chain(report.faults.iter().map(|fault| &fault.device)).try_for_each(|device| own_device(*device))
}

/// What is kept in memory only, of what is current: an agent may name any lease beside a node of its own.
fn note(app: &App, agent: AgentId, report: &Report) {
    let now = app.handle().now();
    let seen = report.observations.iter().map(instance);
    let named = report.serving.iter().copied().chain(seen).chain(report.usage.iter().map(|usage| usage.instance));
    let current: HashSet<Instance> = app.handle().read(|state| named.filter(|named| is_current(state, *named)).collect());
    app.handle().liveness(|liveness| {
        liveness.heard(agent, now, None);
        for Instance { lease, attempt, node } in report.serving.iter().copied().filter(|serving| current.contains(serving)) {
            liveness.served(lease, attempt, node, now);
        }
    });
    let mut tables = app.agents().tables();
    for seen in report.observations.iter().filter(|seen| current.contains(&instance(seen))) {
        match &seen.phase {
            Phase::Starting(what) => tables.progress.insert(seen.lease, what.clone()),
            _ => tables.progress.remove(&seen.lease),
        };
    }
    for usage in report.usage.iter().filter(|usage| current.contains(&usage.instance)) {
        tables.usage.insert(usage.instance, usage.clone());
    }
    let is_over =
        |seen: &&Observation| matches!(seen.phase, Phase::Gone | Phase::Exited(_) | Phase::Failed(_) | Phase::OutOfFunds);
    for over in report.observations.iter().filter(is_over) {
        tables.usage.remove(&instance(over));
    }
}

fn instance(seen: &Observation) -> Instance {
    Instance { lease: seen.lease, attempt: seen.attempt, node: seen.node }
}

fn is_current(state: &State, Instance { lease, attempt, node }: Instance) -> bool {
    state.lease.get(lease).is_some_and(|lease| lease.attempt == attempt && lease.member(node).is_some())
}
