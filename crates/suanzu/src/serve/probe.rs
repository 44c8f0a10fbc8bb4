//! What this machine can do for a lease: cards, containers, limits.

use crate::agent;
use std::path::PathBuf;

/// What was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Cards.
    Gpu,
    /// A container engine.
    Containers,
    /// Limits of CPU, memory and processes.
    Limits,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// What.
    pub what: What,
    /// Whether it stands.
    pub available: bool,
    /// How, or why not.
    pub reason: String,
}

/// Looks at this machine.
pub fn findings() -> Vec<Probed> {
    let containers = containers_socket(None);
    agent::capabilities(containers.as_deref())
        .into_iter()
        .map(|capability| {
            let what = match capability.name.as_str() {
                name if name.starts_with("containers") => What::Containers,
                name if name.starts_with("gpu") => What::Gpu,
                _ => What::Limits,
            };
            let reason = format!("{}: {}", capability.name, capability.reason);
            Probed { what, available: capability.available, reason }
        })
        .collect()
}

/// The container engine's socket: as named, by `SUANZU_CONTAINER_SOCKET`, or the first usual one that is there.
pub fn containers_socket(named: Option<PathBuf>) -> Option<PathBuf> {
    let told = named.or_else(|| std::env::var_os("SUANZU_CONTAINER_SOCKET").map(PathBuf::from));
    let usual = ["/run/podman/podman.sock", "/run/docker.sock", "/var/run/docker.sock"];
    told.or_else(|| usual.iter().map(PathBuf::from).find(|path| path.exists()))
}
