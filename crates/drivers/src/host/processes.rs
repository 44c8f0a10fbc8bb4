//! Processes of this machine as `/proc` shows them: who they are, who started them, and how to signal just them.

use super::clock;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, thread,
    time::Duration,
};

/// One process, told apart from any later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Its number.
    pub(crate) pid: i32,
    /// Clock ticks from the machine's start to its own.
    pub(crate) start_ticks: u64,
    /// Which start of the machine.
    pub(crate) boot: String,
}

impl Mark {
    /// The calling process.
    pub(crate) fn own() -> Mark {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Mark { pid, start_ticks: stat(pid).map_or(0, |stat| stat.start_ticks), boot: clock::boot_id() }
    }

    /// Whether this very process still runs; one that was stopped does.
    pub(crate) fn is_alive(&self) -> bool {
        self.stat().is_some()
    }

    /// Sends a signal to this very process, if it still runs.
    pub(crate) fn signal(&self, signal: Signal) {
        self.stat().iter().for_each(|stat| stat.signal(signal));
    }

    /// Kills it and waits for its end, though not for long; whether it has ended.
    pub(crate) fn kill(&self) -> bool {
        self.signal(Signal::KILL);
        // A killed process is gone within milliseconds, unless the kernel holds it in a device's driver.
        (0..100).any(|_| {
            let ended = !self.is_alive();
            if !ended {
                thread::sleep(Duration::from_millis(5));
            }
            ended
        })
    }

    fn stat(&self) -> Option<Stat> {
        let is_it = |stat: &Stat| stat.start_ticks == self.start_ticks && !stat.is_dead();
        stat(self.pid).filter(is_it).filter(|_| self.boot == clock::boot_id())
    }
}

/// The line of `/proc/PID/stat`, as far as it is needed (proc_pid_stat(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) start_ticks: u64,
    state: char,
}

impl Stat {
    /// A zombie has ended and only waits for its parent to hear of it.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Sends a signal to this very process. One that has ended meanwhile gets none, nor does another of its number.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        // The handle is of whoever has the number now: only if that is still the same one may it be signalled.
        if stat(self.pid).is_some_and(|now| now.start_ticks == self.start_ticks) {
            // It may end between the two calls; then there is nothing left to signal.
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

/// One process, if it is there.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, also spaces and parentheses: fields are counted after the last one.
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some(Stat {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

/// Every process that has not ended.
pub(crate) fn all() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(stat).filter(|stat| !stat.is_dead()).collect()
}

/// What `root` started, and what that started, and so on; not itself.
pub(crate) fn descendants(root: i32) -> Vec<Stat> {
    let mut by_parent: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for stat in all() {
        by_parent.entry(stat.parent).or_default().push(stat);
    }
    let (mut found, mut next) = (Vec::new(), vec![root]);
    while let Some(parent) = next.pop() {
        let children = by_parent.remove(&parent).unwrap_or_default();
        next.extend(children.iter().map(|child| child.pid));
        found.extend(children);
    }
    found
}

/// Every process that was started with this line in its environment.
pub(crate) fn with_environment(line: &str) -> Vec<Stat> {
    let holds = |stat: &Stat| {
        let environment = fs::read(format!("/proc/{}/environ", stat.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == line.as_bytes())
    };
    all().into_iter().filter(holds).collect()
}

/// Each process once.
pub(crate) fn distinct(stats: impl IntoIterator<Item = Stat>) -> Vec<Stat> {
    let mut seen = BTreeSet::new();
    stats.into_iter().filter(|stat| seen.insert(stat.pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_start() {
        let own = Mark::own();
        assert!(own.is_alive());
        assert!(!Mark { start_ticks: own.start_ticks + 1, ..own.clone() }.is_alive(), "a reused number");
        assert!(!Mark { boot: "another".into(), ..own }.is_alive(), "a number from before the restart");
    }

    #[test]
    fn a_child_is_found_from_its_parent_and_by_its_environment() {
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("60").env("SUANZU_TEST", "one of a kind").spawn().expect("sleep exists");
        let pid = i32::try_from(child.id()).expect("pids fit");
        let own = Mark::own().pid;
        assert!(descendants(own).iter().any(|stat| stat.pid == pid));
        // Between fork and exec the child still has this process's environment.
        while fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.starts_with(b"sleep")) {
            std::thread::yield_now();
        }
        let marked = with_environment("SUANZU_TEST=one of a kind");
        assert_eq!(marked.iter().map(|stat| stat.pid).collect::<Vec<_>>(), [pid]);
        marked[0].signal(Signal::KILL);
        assert!(!child.wait().expect("it is our child").success());
    }
}
