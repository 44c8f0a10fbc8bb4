//! What a figure was measured on: without it a figure says nothing.

use serde::{Deserialize, Serialize};
use std::{fs, path::Path, thread};

/// A machine, as far as figures depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Main memory in MiB; 0 where it cannot be told.
    pub memory_mib: u64,
    /// The kernel's name and release.
    pub system: String,
    /// The file system of the folder that the benchmark works in.
    pub file_system: String,
    /// Whether the build was optimised: figures of one that was not are of no use.
    pub optimised: bool,
}

impl Machine {
    /// Looks at this machine and at the file system under `folder`.
    pub fn look(folder: &Path) -> Machine {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Machine {
            cpu: field(&cpuinfo, "model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_mib: field(&meminfo, "MemTotal").and_then(|kib| kib.split(' ').next()?.parse().ok()).unwrap_or(0_u64) / 1024,
            system: format!("{} {}", std::env::consts::OS, release.trim()),
            file_system: file_system(folder).unwrap_or_else(|| "unknown".into()),
            optimised: !cfg!(debug_assertions),
        }
    }
}

/// The first value of a field in a file of `name : value` lines.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The type of the mount that the folder lies under: the one with the longest path before it.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    // A later mount on the same path hides an earlier one.
    let under = mounts.filter(|(path, _)| folder.starts_with(path)).max_by_key(|(path, _)| path.len());
    under.map(|(_, kind)| kind.to_owned())
}
