//! The agents within the server's process: this machine, and the simulated servers. They run the loop that every agent runs.

use super::{Config, config::RunAs, first_key};
use crate::{
    agent::{Agent, Local, Own, Sessions, Setup, host},
    client::Target,
};
use anyhow::{Context as _, anyhow};
use drivers::simulated::{Behaviour, Simulated, demo};
use engine::{Handle, Rejected, Submission};
use protocol::Join;
use rental::{Command, Refusal, fleet};
use server::App;
use std::{path::Path, sync::Arc};
use tokio::runtime::Handle as Runtime;

/// Label that says that a node exists on paper only.
const SIMULATED: &str = "simulated";
/// Seed of the simulated servers: the same delays in every demo.
const SEED: u64 = 1;

/// What the agents are started with.
pub struct Around<'a> {
    /// The server.
    pub app: &'a App,
    /// Its runtime.
    pub runtime: &'a Runtime,
    /// How it is reached from this machine.
    pub target: &'a Target,
    /// Its folder.
    pub data: &'a Path,
}

/// Whether a process lease on this machine has root's rights: it runs as the server's own user where none is named.
pub fn leases_run_as_root(config: &Config, server_is_root: bool) -> bool {
    config.host.enabled && config.host.run_as.map_or(server_is_root, |run_as| run_as.user == 0)
}

/// Starts those that the configuration asks for.
pub fn start(config: &Config, around: &Around<'_>) -> anyhow::Result<Vec<Agent>> {
    let mut agents = Vec::new();
    if config.host.enabled {
        if leases_run_as_root(config, rustix::process::geteuid().is_root()) {
            tracing::warn!(
                "process leases run as root: name another user with [host] run_as and state, or rent to people you trust only"
            );
        }
        let settings = Own {
            state: config.host.state.clone().unwrap_or_else(|| around.data.join("leases")),
            containers: config.host.containers.clone(),
            max_processes: config.host.max_processes,
            run_as: config.host.run_as.map(|RunAs { user, group }| (user, group)),
            labels: [vec!["pool=host".to_owned()], config.host.labels.clone()].concat(),
        };
        agents.push(own(around, "host", |sessions| host(&settings, sessions))?);
    }
    if config.simulated.enabled {
        agents.push(own(around, SIMULATED, |sessions| Ok(simulated(sessions)))?);
    }
    Ok(agents)
}

fn own(around: &Around<'_>, name: &str, setup: impl FnOnce(Sessions) -> anyhow::Result<Setup>) -> anyhow::Result<Agent> {
    let handle = around.app.handle();
    pool(handle, name)?;
    let id = around.runtime.block_on(server::agents::enroll(around.app, name)).map_err(|p| anyhow!("{}", p.detail()))?;
    let key = Some(first_key::agents(handle, id)?);
    let sessions = Sessions { target: Target { key, ..around.target.clone() }, runtime: around.runtime.clone() };
    let uplink = Local::new(around.app.clone(), id, around.runtime.clone());
    Agent::start(setup(sessions)?, Arc::new(uplink)).context("starting an agent")
}

/// The pool of this name; made where it is missing.
fn pool(handle: &Handle, name: &str) -> anyhow::Result<()> {
    let command = Command::Fleet(fleet::Command::AddPool { name: name.into() });
    match handle.submit_blocking(Submission::plain("server", command)) {
        Ok(_) => Ok(()),
        Err(Rejected::Refused(refusal)) if matches!(*refusal, Refusal::Exists(_)) => Ok(()),
        Err(rejected) => Err(rejected).with_context(|| format!("making the pool {name}")),
    }
}

fn simulated(sessions: Sessions) -> Setup {
    let mut nodes = demo();
    for node in &mut nodes {
        node.labels = vec![SIMULATED.into(), format!("pool={SIMULATED}")];
        // They offer cards only: whoever rents CPU gets a machine that computes.
        node.cpu_milli = 0;
    }
    let join = Join { version: protocol::VERSION, hostname: SIMULATED.into(), nodes, capabilities: Vec::new() };
    let driver: crate::agent::MakeDriver =
        Box::new(|joined| Ok(Box::new(Simulated::new(&joined.log, Behaviour::default(), SEED))));
    Setup { name: "simulated", join, driver, sessions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_run_as_root_where_the_server_does_and_names_nobody_else_or_where_it_names_root() {
        for (text, server_is_root, is_root) in [
            ("", true, true),
            ("", false, false),
            ("[host]\nenabled = false", true, false),
            ("[host]\nrun_as = { user = 65534, group = 65534 }", true, false),
            ("[host]\nrun_as = { user = 0, group = 0 }", true, true),
        ] {
            let config: Config = toml::from_str(text).expect("it is a configuration");
            assert_eq!(leases_run_as_root(&config, server_is_root), is_root, "{text} {server_is_root}");
        }
    }
}
