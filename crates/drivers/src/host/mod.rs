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
fn check_log(log: &str) -> Result<(), Failure> {
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
