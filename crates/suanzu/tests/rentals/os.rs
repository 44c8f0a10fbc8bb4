//! What the operating system says is running.

use rustix::process::{Pid, Signal, kill_process};
use std::{collections::BTreeSet, fs};

/// A name in the environment of a test's workload.
pub const MARK: &str = "SUANZU_TEST_MARK";

/// Every process that was started with this mark and has not ended.
pub fn marked(mark: &str) -> BTreeSet<u32> {
    let line = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == line.as_bytes())
    })
    .collect()
}

/// Those of them that sleep: a shell on its way to them comes and goes, they stay.
pub fn sleepers(mark: &str) -> BTreeSet<u32> {
    let sleeps = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"sleep") && !line.starts_with(b"sh\0")
    };
    marked(mark).into_iter().filter(sleeps).collect()
}

/// Every process whose command line holds this text.
pub fn named(text: &str) -> BTreeSet<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let line = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.filter(|pid| String::from_utf8_lossy(&line(*pid)).contains(text)).collect()
}

/// Ends one process without a chance to do anything. It may have ended already.
pub fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, Signal::KILL);
}

/// A mark that no other test has.
pub fn mark(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}
