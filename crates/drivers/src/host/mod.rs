//! This machine as a node: processes under shims, containers through their engine, GPUs through their driver.

mod cgroups;
mod clock;
mod container;
mod folder;
mod gpus;
mod logs;
mod machine;
mod process;
mod processes;
mod record;
mod session;
mod shim;
mod sign;

pub use cgroups::Cgroups;
pub use container::{ContainerSettings, Containers};
pub use folder::OutputLimits;
pub use gpus::{GpuSettings, Gpus};
pub use machine::{Host, HostSettings, Machine};
pub use process::{ProcessSettings, Processes};
pub use shim::{ShimCommand, shim_main};

use crate::{Failure, Order};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use units::Time;

/// A log's id must be safe as a name of folders, control groups and labels.
pub(crate) fn check_log(log: &str) -> Result<(), Failure> {
    let hex = log.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if hex && (1..=64).contains(&log.len()) {
        return Ok(());
    }
    Err(Failure::lasting("work for a log", format!("'{}' is not a log's id", log.escape_debug())))
}

/// Shims start at the root: a path that they are given must mean the same there.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|source| Failure::passing(format!("find {}", path.display()), source))
}

/// The environment of a workload: its own, then what the platform says, which it cannot override.
fn environment(order: &Order) -> Result<BTreeMap<String, String>, Failure> {
    let uuids: Vec<&str> = order.devices.iter().map(|device| device.uuid.as_str()).collect();
    let mut env = order.workload.env.clone();
    env.extend(order.env.clone());
    env.insert("SUANZU_LEASE".into(), order.instance.lease.to_string());
    env.insert("CUDA_VISIBLE_DEVICES".into(), uuids.join(","));
    // `void` keeps the NVIDIA container runtime away; an empty value would not (its user guide, environment variables).
    env.insert("NVIDIA_VISIBLE_DEVICES".into(), if uuids.is_empty() { "void".into() } else { uuids.join(",") });
    let unusable = |text: &str| text.contains('\0');
    let wrong = env.iter().find(|(name, value)| name.is_empty() || name.contains('=') || unusable(name) || unusable(value));
    match (wrong, order.workload.argv.iter().find(|word| unusable(word))) {
        (Some((name, _)), _) => {
            Err(Failure::lasting("start", format!("'{}' cannot stand in an environment", name.escape_debug())))
        }
        (None, Some(word)) => Err(Failure::lasting("start", format!("'{}' cannot be an argument", word.escape_debug()))),
        (None, None) => Ok(env),
    }
}

/// Longest time between TERM and KILL: what the server takes of an order. A longer one would be a lease that cannot be ended.
const LONGEST_GRACE_MS: u64 = 120_000;

/// The time between TERM and KILL of a workload, whoever ordered it.
fn grace_ms(order: &Order) -> u64 {
    u64::from(order.workload.grace_ms).min(LONGEST_GRACE_MS)
}

/// A deadline of the agent's time, in milliseconds since the machine's start.
fn deadline(stop_by: Option<Time>, now: Time) -> Option<u64> {
    stop_by.map(|stop_by| clock::since_boot_ms().saturating_add(u64::try_from(stop_by.since(now)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Generation, Instance};
    use units::{Grant, LeaseId, NodeId, Workload};

    fn order(grace_ms: u32) -> Order {
        let (lease, node) = (LeaseId(1), NodeId(1));
        Order {
            instance: Instance { lease, attempt: 1, node },
            born: Generation { epoch: 1, seq: 1 },
            node: "n".into(),
            workload: Workload { grace_ms, ..Workload::default() },
            grant: Grant { node, cpu_milli: 1_000, memory_mib: 64, slices: vec![], exclusive: false },
            devices: vec![],
            env: BTreeMap::new(),
            stop_by: None,
        }
    }

    #[test]
    fn no_order_has_a_grace_of_more_than_two_minutes() {
        let settings = ProcessSettings {
            state: "/nowhere".into(),
            shim: ShimCommand { program: "/nowhere".into(), args: vec![] },
            output: OutputLimits::default(),
            max_processes: 0,
            run_as: None,
        };
        let processes = Processes::new("ab", settings, Cgroups::default()).expect("the log's id is sound");
        for (ordered, kept) in [(0, 0), (119_999, 119_999), (120_000, 120_000), (120_001, 120_000), (u32::MAX, 120_000)] {
            assert_eq!(processes.order(&order(ordered)).expect("it can be run").grace_ms, kept);
            assert_eq!(grace_ms(&order(ordered)), kept);
        }
    }
}
