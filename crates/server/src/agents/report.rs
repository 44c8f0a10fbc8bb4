//! What an agent saw: each difference becomes a command; proofs of service and progress stay in memory.

use crate::{App, Problem};
use engine::Submission;
use futures_util::future::join_all;
use protocol::{Instance, Report};
use rental::{Command, State, fleet, lease, lease::Sighting};
use units::{AgentId, DeviceId, NodeId, Phase};

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

/// What is kept in memory only.
fn note(app: &App, agent: AgentId, report: &Report) {
    let now = app.handle().now();
    let serving: Vec<_> = app.handle().read(|state| {
        let holds = |instance: &&Instance| {
            let lease = state.lease.get(instance.lease).filter(|lease| lease.attempt == instance.attempt);
            lease.is_some_and(|lease| lease.member(instance.node).is_some())
        };
        report.serving.iter().filter(holds).copied().collect()
    });
    app.handle().liveness(|liveness| {
        liveness.heard(agent, now, None);
        serving.into_iter().for_each(|Instance { lease, node, .. }| liveness.served(lease, node, now));
    });
    let mut tables = app.agents().tables();
    for seen in &report.observations {
        match &seen.phase {
            Phase::Starting(what) => tables.progress.insert(seen.lease, what.clone()),
            _ => tables.progress.remove(&seen.lease),
        };
        if matches!(seen.phase, Phase::Gone | Phase::Exited(_) | Phase::Failed(_) | Phase::OutOfFunds) {
            tables.usage.remove(&Instance { lease: seen.lease, attempt: seen.attempt, node: seen.node });
        }
    }
    for usage in &report.usage {
        tables.usage.insert(usage.instance, usage.clone());
    }
}
