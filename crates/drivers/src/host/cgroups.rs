//! Control groups: limits for a workload, and the one list of its processes that none of them can leave.
//!
//! Hierarchies of version 1, version 2 and both side by side are used as they are mounted. Where a controller is
//! not at hand, that is said with its reason, and the workload runs without that limit.

use crate::Failure;
use protocol::Capability;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Controllers that carry a limit of ours.
const LIMITS: [&str; 3] = ["cpu", "memory", "pids"];

/// Controllers that are of use: version 1 counts CPU time in one of its own.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuacct", "memory", "pids"];

/// Microseconds over which a CPU limit is counted: the kernel's default period.
const CPU_PERIOD_US: u64 = 100_000;

/// Least quota that the kernel takes, in microseconds.
const LEAST_CPU_QUOTA_US: u64 = 1_000;

/// What one workload may use; 0 means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) cpu_milli: u32,
    pub(crate) memory_mib: u32,
    pub(crate) processes: u32,
}

/// One mounted hierarchy in which we have a folder of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    folder: PathBuf,
    unified: bool,
    controllers: Vec<&'static str>,
}

/// The hierarchies of this machine that we may use.
#[derive(Debug, Clone, Default)]
pub struct Cgroups {
    hierarchies: Vec<Hierarchy>,
    problems: Vec<String>,
}

impl Cgroups {
    /// Looks at what is mounted and makes a folder `name` in each hierarchy that is of use.
    pub fn detect(name: &str) -> Cgroups {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mut found = Cgroups::default();
        for (path, unified, controllers) in mounts.lines().filter_map(mounted) {
            match prepare(&path.join(name), unified, controllers) {
                Ok(hierarchy) => found.hierarchies.push(hierarchy),
                Err(error) => found.problems.push(format!("{}: {error}", path.display())),
            }
        }
        found
    }

    /// What can be limited here, and how or why not.
    pub fn capabilities(&self) -> Vec<Capability> {
        LIMITS.iter().map(|controller| self.capability(controller)).collect()
    }

    fn capability(&self, controller: &str) -> Capability {
        let name = format!("limit.{controller}");
        match self.hierarchies.iter().find(|h| h.controllers.contains(&controller)) {
            Some(hierarchy) => {
                let version = if hierarchy.unified { 2 } else { 1 };
                let reason = format!("control group version {version} at {}", hierarchy.folder.display());
                Capability { name, available: true, reason }
            }
            None if self.problems.is_empty() => {
                Capability { name, available: false, reason: "no hierarchy with this controller is mounted".into() }
            }
            None => Capability { name, available: false, reason: self.problems.join("; ") },
        }
    }

    /// The leaf folders that a workload of this name gets. They are made by [`create`].
    pub(crate) fn leaves(&self, workload: &str) -> Vec<PathBuf> {
        self.hierarchies.iter().map(|hierarchy| hierarchy.folder.join(workload)).collect()
    }

    /// Makes the leaf folders with their limits.
    pub(crate) fn create(&self, workload: &str, limits: Limits) -> Result<Vec<PathBuf>, Failure> {
        for hierarchy in &self.hierarchies {
            let leaf = hierarchy.folder.join(workload);
            let make = || {
                fs::create_dir_all(&leaf)?;
                hierarchy.controllers.iter().try_for_each(|c| limit(&leaf, c, hierarchy.unified, limits))
            };
            make().map_err(|source| Failure::passing(format!("limit {}", leaf.display()), source))?;
        }
        Ok(self.leaves(workload))
    }
}

/// One line of `/proc/self/mounts`: where, whether version 2, and which of our controllers it has.
fn mounted(line: &str) -> Option<(PathBuf, bool, Vec<&'static str>)> {
    let mut fields = line.split(' ').skip(1);
    let (path, kind, options) = (PathBuf::from(fields.next()?), fields.next()?, fields.next()?);
    let of = |names: &str, separator: char| {
        CONTROLLERS.into_iter().filter(|c| names.trim().split(separator).any(|name| name == *c)).collect::<Vec<_>>()
    };
    match kind {
        "cgroup2" => {
            let available = fs::read_to_string(path.join("cgroup.controllers")).unwrap_or_default();
            Some((path, true, of(&available, ' ')))
        }
        "cgroup" => Some((path, false, of(options, ','))).filter(|(_, _, controllers)| !controllers.is_empty()),
        _ => None,
    }
}

fn prepare(folder: &Path, unified: bool, controllers: Vec<&'static str>) -> io::Result<Hierarchy> {
    fs::create_dir_all(folder)?;
    if !unified {
        return Ok(Hierarchy { folder: folder.to_owned(), unified, controllers });
    }
    let root = folder.parent().expect("the folder lies in a mount");
    let enable = |at: &Path, controller: &str| fs::write(at.join("cgroup.subtree_control"), format!("+{controller}"));
    // Each alone: one that another program holds back must not take the others with it.
    let enabled = |c: &&str| enable(root, c).and_then(|()| enable(folder, c)).is_ok();
    let controllers = controllers.into_iter().filter(enabled).collect();
    Ok(Hierarchy { folder: folder.to_owned(), unified, controllers })
}

fn limit(leaf: &Path, controller: &str, unified: bool, limits: Limits) -> io::Result<()> {
    let set = |file: &str, value: String| fs::write(leaf.join(file), value);
    let quota = (u64::from(limits.cpu_milli) * CPU_PERIOD_US / 1_000).max(LEAST_CPU_QUOTA_US);
    let bytes = u64::from(limits.memory_mib) << 20;
    match (controller, unified) {
        ("cpu", true) if limits.cpu_milli > 0 => set("cpu.max", format!("{quota} {CPU_PERIOD_US}")),
        ("cpu", false) if limits.cpu_milli > 0 => {
            set("cpu.cfs_period_us", CPU_PERIOD_US.to_string()).and_then(|()| set("cpu.cfs_quota_us", quota.to_string()))
        }
        ("memory", true) if bytes > 0 => {
            set("memory.max", bytes.to_string())?;
            // Swap would let a workload exceed what it rents; where the kernel accounts none there is no such file.
            let swap = leaf.join("memory.swap.max");
            if swap.exists() { fs::write(swap, "0") } else { Ok(()) }
        }
        ("memory", false) if bytes > 0 => set("memory.limit_in_bytes", bytes.to_string()),
        ("pids", _) if limits.processes > 0 => set("pids.max", limits.processes.to_string()),
        _ => Ok(()),
    }
}

/// Puts a process into leaf folders; what it starts from then on is in them too.
pub(crate) fn attach(leaves: &[PathBuf], pid: i32) -> io::Result<()> {
    leaves.iter().try_for_each(|leaf| fs::write(leaf.join("cgroup.procs"), pid.to_string()))
}

/// The processes in leaf folders.
pub(crate) fn processes(leaves: &[PathBuf]) -> Vec<i32> {
    let listed = leaves.iter().filter_map(|leaf| fs::read_to_string(leaf.join("cgroup.procs")).ok());
    listed.flat_map(|list| list.lines().filter_map(|line| line.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Removes leaf folders; fails while a process is in one.
pub(crate) fn remove(leaves: &[PathBuf]) -> Result<(), Failure> {
    for leaf in leaves {
        match fs::remove_dir(leaf) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::passing(format!("remove {}", leaf.display()), error)),
        }
    }
    Ok(())
}

/// CPU time in milliseconds and memory in MiB of leaf folders; what is not accounted is 0.
pub(crate) fn usage(leaves: &[PathBuf]) -> (u64, u32) {
    let first = |file: &str, read: &dyn Fn(&str) -> Option<u64>| {
        leaves.iter().find_map(|leaf| read(fs::read_to_string(leaf.join(file)).ok()?.trim()))
    };
    let number = |text: &str| text.parse().ok();
    // Both versions have a file of this name; only the second one's has this line.
    let microseconds = |text: &str| text.lines().find_map(|line| line.strip_prefix("usage_usec ")?.parse().ok());
    let cpu_ms = first("cpuacct.usage", &number).map(|ns| ns / 1_000_000);
    let cpu_ms = cpu_ms.or_else(|| Some(first("cpu.stat", &microseconds)? / 1_000)).unwrap_or(0);
    let memory = first("memory.current", &number).or_else(|| first("memory.usage_in_bytes", &number)).unwrap_or(0);
    (cpu_ms, u32::try_from(memory >> 20).unwrap_or(u32::MAX))
}

/// The leaf folders that a process is in, whoever made them.
pub(crate) fn of_process(pid: i64) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted: Vec<_> = mounts.lines().filter_map(mounted).collect();
    let lines = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    // cgroups(7): hierarchy, controllers (none: version 2), path beneath the mount.
    let leaf = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (names, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let is_it = |unified: bool, controllers: &[&str]| match names {
            "" => unified,
            names => !unified && names.split(',').any(|name| controllers.contains(&name)),
        };
        let (mount, ..) = mounted.iter().find(|(_, unified, controllers)| is_it(*unified, controllers))?;
        Some(mount.join(path))
    };
    lines.lines().filter_map(leaf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_both_versions_are_understood() {
        let v1 = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0";
        assert_eq!(mounted(v1), Some((PathBuf::from("/sys/fs/cgroup/cpu,cpuacct"), false, vec!["cpu", "cpuacct"])));
        assert_eq!(mounted("cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0"), None);
        assert_eq!(mounted("tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0"), None);
        let v2 = mounted("cgroup2 /nowhere cgroup2 rw,relatime 0 0");
        assert_eq!(v2, Some((PathBuf::from("/nowhere"), true, vec![])));
    }

    #[test]
    fn a_limit_that_cannot_be_set_is_said_with_its_reason() {
        let nothing = Cgroups { hierarchies: vec![], problems: vec!["/sys/fs/cgroup: Read-only file system".into()] };
        let capabilities = nothing.capabilities();
        assert_eq!(capabilities.len(), LIMITS.len());
        assert!(capabilities.iter().all(|c| !c.available && c.reason.contains("Read-only")));
    }
}
