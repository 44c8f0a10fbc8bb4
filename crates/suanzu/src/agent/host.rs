//! This machine as an agent's node.

use super::{MakeDriver, Setup, sessions::Sessions};
use anyhow::Context as _;
use drivers::host::{HostSettings, Machine, ShimCommand};
use protocol::{Capability, Join};
use std::path::{Path, PathBuf};

/// What is said about this machine; everything else is found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Where workloads and their output are kept.
    pub state: PathBuf,
    /// The container engine's socket, where it is not at one of the usual places.
    pub containers: Option<PathBuf>,
    /// Most processes and threads of one workload; 0 for no limit, `None` for the usual one.
    pub max_processes: Option<u32>,
    /// User and group that process leases run as; `None` for the agent's own.
    pub run_as: Option<(u32, u32)>,
    /// Labels of the node.
    pub labels: Vec<String>,
}

/// The setup of an agent for this machine.
pub fn host(own: &Own, sessions: Sessions) -> anyhow::Result<Setup> {
    let machine = survey(own)?;
    let node = machine.node(&node_name(), own.labels.clone())?;
    let join =
        Join { version: protocol::VERSION, hostname: node_name(), nodes: vec![node], capabilities: machine.capabilities() };
    let driver: MakeDriver = Box::new(move |joined| Ok(Box::new(machine.driver(&joined.log)?)));
    Ok(Setup { name: "host", join, driver, sessions })
}

fn survey(own: &Own) -> anyhow::Result<Machine> {
    let shim = ShimCommand::of_this_binary().context("finding this binary")?;
    let mut settings = HostSettings::from_environment(own.state.clone(), shim);
    settings.socket = own.containers.clone().or(settings.socket);
    settings.run_as = own.run_as;
    settings.max_processes = own.max_processes.unwrap_or(settings.max_processes);
    Ok(Machine::survey(settings))
}

/// The machine's own name.
pub fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What this machine can and cannot do for a lease, with the reasons.
pub fn capabilities(state: &Path) -> anyhow::Result<Vec<Capability>> {
    let own = Own { state: state.into(), containers: None, max_processes: None, run_as: None, labels: Vec::new() };
    Ok(survey(&own)?.capabilities())
}
