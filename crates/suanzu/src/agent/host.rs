//! This machine as an agent's node.

use super::{MakeDriver, sessions::Sessions};
use anyhow::Context as _;
use drivers::host::{Cgroups, OutputLimits, ProcessSettings, Processes, ShimCommand};
use protocol::{Capability, Join, NodeReport};
use std::path::{Path, PathBuf};

/// How leases are run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSettings {
    /// Where workloads and their output are kept.
    pub state: PathBuf,
    /// The container engine's socket, if there is to be one.
    pub containers: Option<PathBuf>,
    /// Most processes and threads of one workload; 0 for no limit.
    pub max_processes: u32,
    /// Labels of the node.
    pub labels: Vec<String>,
}

/// The setup of an agent for this machine.
pub fn host(settings: &HostSettings, sessions: Sessions) -> anyhow::Result<super::Setup> {
    let shim = ShimCommand::of_this_binary().context("finding this binary")?;
    let cgroups = Cgroups::detect("suanzu");
    let join = Join {
        version: protocol::VERSION,
        hostname: node_name(),
        nodes: vec![node(settings)],
        capabilities: cgroups.capabilities(),
    };
    let settings = settings.clone();
    let driver: MakeDriver = Box::new(move |joined| {
        let processes = ProcessSettings {
            state: settings.state.join("processes"),
            shim: shim.clone(),
            output: OutputLimits::default(),
            max_processes: settings.max_processes,
            run_as: None,
        };
        Ok(Box::new(Processes::new(&joined.log, processes, cgroups.clone())?))
    });
    Ok(super::Setup { name: "host", join, driver, sessions })
}

/// The machine's own name.
pub fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn node(settings: &HostSettings) -> NodeReport {
    let cores = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX / 1000));
    NodeReport {
        name: node_name(),
        cpu_milli: cores.saturating_mul(1000),
        memory_mib: memory_mib(),
        labels: settings.labels.clone(),
        devices: Vec::new(),
    }
}

fn memory_mib() -> u32 {
    let info = rustix::system::sysinfo();
    let bytes = u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit));
    u32::try_from(bytes / 1_048_576).unwrap_or(u32::MAX)
}

/// What this machine can and cannot do for a lease.
pub fn capabilities(_containers: Option<&Path>) -> Vec<Capability> {
    Cgroups::detect("suanzu").capabilities()
}
