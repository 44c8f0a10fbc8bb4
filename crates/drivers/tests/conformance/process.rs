//! The suite on processes of this machine, and what only they can show.

use super::bench::{Backend, Bench, Kind};
use drivers::{
    Driver,
    host::{Cgroups, OutputLimits, ProcessSettings, Processes, ShimCommand},
};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use units::{LeaseId, Phase, Time, Workload};

/// Where this machine lets us, with control groups; `plain` without, as in an unprivileged container.
struct Machine {
    state: TempDir,
    cgroups: Cgroups,
    started: Instant,
}

impl Machine {
    fn grouped() -> Machine {
        Machine { cgroups: Cgroups::detect("suanzu-test"), ..Machine::plain() }
    }

    fn plain() -> Machine {
        let state = tempfile::tempdir().expect("a scratch folder");
        Machine { state, cgroups: Cgroups::default(), started: Instant::now() }
    }

    fn settings(&self) -> ProcessSettings {
        ProcessSettings {
            state: self.state.path().to_owned(),
            shim: ShimCommand { program: env!("CARGO_BIN_EXE_shim").into(), args: vec![] },
            output: OutputLimits::default(),
            max_processes: 100,
            run_as: None,
        }
    }
}

fn shell(script: &str) -> Workload {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    Workload { argv, grace_ms: 500, ..Workload::default() }
}

impl Backend for Machine {
    fn driver(&mut self, log: &str) -> Box<dyn Driver> {
        Box::new(Processes::new(log, self.settings(), self.cgroups.clone()).expect("the log's id is sound"))
    }

    fn workload(&self, kind: Kind) -> Workload {
        match kind {
            Kind::Waits => Workload { grace_ms: 500, ..Workload::default() },
            Kind::Exits(code) => shell(&format!("exit {code}")),
            Kind::Prints(line) => shell(&format!("echo {line}; sleep 600")),
            Kind::Detaches => shell(
                "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 600; sleep 600\" &) ; echo detached; sleep 600; sleep 600",
            ),
            Kind::Missing => Workload { argv: vec!["/no/such/program".into()], ..Workload::default() },
        }
    }

    fn processes(&self, log: &str, lease: LeaseId) -> usize {
        let mark = format!("SUANZU_WORKLOAD={log}/{lease}_");
        let marked = |pid: &String| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|line| line.starts_with(mark.as_bytes()))
        };
        let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
        let pids = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        pids.filter(|name| name.bytes().all(|b| b.is_ascii_digit())).filter(marked).count()
    }

    fn now(&self) -> Time {
        Time(i64::try_from(self.started.elapsed().as_millis()).expect("tests are short"))
    }

    fn pass(&mut self) {
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

mod grouped {
    use super::Machine;
    crate::conforms! { Some(Machine::grouped());
        a_lease_is_started_seen_ended_and_gone
        starting_again_makes_no_second_copy
        the_exit_status_is_kept
        the_output_is_kept
        a_missing_program_fails_and_says_why
        a_detached_tree_is_wholly_ended
        a_new_agent_adopts_what_runs
        a_new_agent_ends_what_is_no_longer_assigned
        another_logs_workload_is_left_alone
        an_end_right_after_the_start_leaves_nothing
        the_deadline_is_kept_without_an_agent
        a_moved_deadline_is_kept
        a_command_runs_beside_the_workload
        what_cannot_stand_in_a_command_is_refused
    }
}

mod plain {
    use super::Machine;
    crate::conforms! { Some(Machine::plain());
        a_lease_is_started_seen_ended_and_gone
        the_exit_status_is_kept
        a_detached_tree_is_wholly_ended
        a_new_agent_ends_what_is_no_longer_assigned
        the_deadline_is_kept_without_an_agent
        a_command_runs_beside_the_workload
    }
}

/// The shim of a lease, by its command line.
fn shim(machine: &Bench, lease: u64) -> Option<rustix::process::Pid> {
    let folder = format!("{}/lease-{lease}_1_node-1", machine.log);
    let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_it = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&folder)
    };
    pids.find(is_it).and_then(rustix::process::Pid::from_raw)
}

fn kill_shim(machine: &Bench, lease: u64) {
    let shim = shim(machine, lease).expect("it has one");
    rustix::process::kill_process(shim, rustix::process::Signal::KILL).expect("it is ours");
}

fn a_killed_shim_fails_the_lease_and_leaves_nothing(machine: Machine) {
    let mut bench = Bench::new(Box::new(machine));
    bench.run(1, Kind::Detaches);
    bench.until("both run", |bench| bench.last(1) == Some(Phase::Ready) && bench.count(1) >= 4);
    kill_shim(&bench, 1);
    bench.until("it has failed", |bench| matches!(bench.last(1), Some(Phase::Failed(_))));
    bench.end_and_wait(1);
}

#[test]
fn a_killed_shim_fails_the_lease_and_leaves_nothing_with_control_groups() {
    a_killed_shim_fails_the_lease_and_leaves_nothing(Machine::grouped());
}

#[test]
fn a_killed_shim_fails_the_lease_and_leaves_nothing_without_control_groups() {
    a_killed_shim_fails_the_lease_and_leaves_nothing(Machine::plain());
}

#[test]
fn a_shim_that_its_workload_stopped_once_is_continued() {
    let mut bench = Bench::new(Box::new(Machine::plain()));
    bench.run_exactly(1, shell("kill -STOP $PPID; sleep 600"), None);
    bench.until_ready(1);
    bench.end_and_wait(1);
}

fn a_workload_that_keeps_its_shim_stopped_is_ended_as_asked(machine: Machine) {
    let mut bench = Bench::new(Box::new(machine));
    let stops = "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 600\" &); while :; do kill -STOP $PPID; done";
    bench.run_exactly(1, shell(stops), None);
    bench.until("both run", |bench| bench.count(1) >= 3);
    bench.end_and_wait(1);
    let failed = |phase: &Phase| matches!(phase, Phase::Failed(_));
    let mut seen = bench.heard.iter().flat_map(|report| &report.observations);
    assert!(!seen.any(|seen| failed(&seen.phase)), "it was ended as asked: {:?}", bench.heard);
}

#[test]
fn a_workload_that_keeps_its_shim_stopped_is_ended_as_asked_with_control_groups() {
    a_workload_that_keeps_its_shim_stopped_is_ended_as_asked(Machine::grouped());
}

#[test]
fn a_workload_that_keeps_its_shim_stopped_is_ended_as_asked_without_control_groups() {
    a_workload_that_keeps_its_shim_stopped_is_ended_as_asked(Machine::plain());
}

#[test]
fn an_end_that_nobody_saw_counts_from_the_last_sign_of_life() {
    let mut bench = Bench::new(Box::new(Machine::plain()));
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    let running = Instant::now();
    bench.until_without_agent("it has run for a while", |_| running.elapsed() > Duration::from_secs(5));
    kill_shim(&bench, 1);
    let killed = Instant::now();
    bench.until_without_agent("its shim took it along", |bench| bench.count(1) == 0);
    bench.until_without_agent("nobody looks for a while", |_| killed.elapsed() > Duration::from_secs(3));
    bench.restart_agent();
    bench.tell_again();
    let away = killed.elapsed();
    bench.until("it has failed", |bench| matches!(bench.last(1), Some(Phase::Failed(_))));
    let ago = Duration::from_millis(bench.last_ago(1).expect("it was reported"));
    assert!(ago >= away, "charged for {:?} of no service", away - ago);
    assert!(ago < running.elapsed() - Duration::from_secs(2), "the last sign is near its end, not its start: {ago:?}");
    bench.end_and_wait(1);
}

/// The same folder with every file in it as another start of the machine would find it.
fn restart_machine(state: &Path) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("the kernel names its start");
    for folder in fs::read_dir(state).expect("it is there").flatten().filter(|entry| entry.path().is_dir()) {
        restart_machine(&folder.path());
        for file in ["order.json", "record.json", "alive.json"].map(|name| folder.path().join(name)) {
            if let Ok(text) = fs::read_to_string(&file) {
                fs::write(&file, text.replace(boot.trim(), "00000000-0000-0000-0000-000000000000")).expect("it is writable");
            }
        }
    }
}

#[test]
fn a_restart_of_the_machine_ends_service_no_later_than_the_restart() {
    let machine = Machine::plain();
    let state = machine.state.path().to_owned();
    let mut bench = Bench::new(Box::new(machine));
    bench.run(1, Kind::Waits);
    bench.run(2, Kind::Exits(3));
    bench.until_ready(1);
    bench.until("it has exited", |bench| bench.last(2) == Some(Phase::Exited(3)));
    // An exit is reported while its shim still clears up; no shim writes on after a restart.
    bench.until_without_agent("its shim has gone", |bench| shim(bench, 2).is_none());
    kill_shim(&bench, 1);
    bench.until_without_agent("its shim took it along", |bench| bench.count(1) == 0);
    restart_machine(&state);
    bench.restart_agent();
    bench.tell_again();
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime).tv_sec as u64 * 1_000;
    bench.until("it has failed", |bench| bench.last(1) == Some(Phase::Failed("the machine was restarted".into())));
    assert!(bench.last_ago(1) >= Some(up), "{:?} of {up} ms since the restart", bench.last_ago(1));
    bench.until("the other had exited", |bench| bench.last(2) == Some(Phase::Exited(3)));
    assert!(bench.last_ago(2) >= Some(up), "{:?} of {up} ms since the restart", bench.last_ago(2));
    bench.end_and_wait(1);
    bench.end_and_wait(2);
}

#[test]
fn hostile_log_ids_are_refused() {
    let machine = Machine::plain();
    for log in ["", "../aa", "aa/bb", "AA", "zz", "a a", "aa\0", &"a".repeat(65)] {
        assert!(Processes::new(log, machine.settings(), Cgroups::default()).is_err(), "{log:?}");
    }
}

#[test]
fn limits_hold_where_the_machine_can_and_are_said_where_it_cannot() {
    let machine = Machine::grouped();
    let capabilities = machine.cgroups.capabilities();
    assert_eq!(capabilities.len(), 3);
    assert!(capabilities.iter().all(|capability| !capability.reason.is_empty()));
    let limited = |name: &str| capabilities.iter().any(|c| c.name == name && c.available);
    let (pids, memory) = (limited("limit.pids"), limited("limit.memory"));
    let mut bench = Bench::new(Box::new(machine));
    // A bomb that would start 300 processes, and a hog that would take 256 MiB of the 64 it rents.
    let bomb = "i=0; while [ $i -lt 300 ]; do sleep 600 & i=$((i+1)); done; echo spared; sleep 600";
    bench.run_exactly(1, shell(bomb), None);
    bench.run_exactly(2, shell("head -c 268435456 /dev/zero | tail -c 268435456 >/dev/null && echo spared; sleep 600"), None);
    if pids {
        bench.until("the bomb is stopped", |bench| bench.last(1).is_some() && super::suite::output(bench, 1).contains("fork"));
    }
    if memory {
        bench.until("the hog is killed", |bench| {
            bench.last(2).is_some() && super::suite::output(bench, 2).to_lowercase().contains("killed")
        });
        assert!(!super::suite::output(&mut bench, 2).contains("spared"));
    }
    bench.end_and_wait(1);
    bench.end_and_wait(2);
}

#[test]
fn the_agents_own_environment_does_not_reach_a_workload() {
    let mut bench = Bench::new(Box::new(Machine::plain()));
    let mut workload = shell("env; echo end; sleep 600");
    workload.env = [("MINE", "yes"), ("SUANZU_LEASE", "lease-999"), ("CUDA_VISIBLE_DEVICES", "all")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    bench.run_exactly(7, workload, None);
    bench.until("it has printed", |bench| bench.last(7).is_some() && super::suite::output(bench, 7).contains("end"));
    let output = super::suite::output(&mut bench, 7);
    let lines: Vec<&str> = output.lines().collect();
    for expected in ["MINE=yes", "SUANZU_LEASE=lease-7", "CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES=void"] {
        assert!(lines.contains(&expected), "{expected} in {lines:?}");
    }
    assert!(!lines.iter().any(|line| line.starts_with("CARGO")), "the test's own environment: {lines:?}");
    bench.end_and_wait(7);
}

#[test]
fn a_terminal_is_a_terminal_and_has_a_size() {
    let mut bench = Bench::new(Box::new(Machine::grouped()));
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    let script = "read size; stty size; test -t 0 && echo terminal; exit 3";
    let argv = ["sh", "-c", script].map(str::to_owned);
    let mut session = bench.driver.exec(super::bench::instance(1), &argv, true).expect("it runs");
    session.control.resize(132, 43).expect("it has a terminal");
    std::io::Write::write_all(&mut session.input, b"go\n").expect("it reads");
    let mut output = String::new();
    std::io::Read::read_to_string(&mut session.output, &mut output).expect("it is text");
    assert!(output.contains("43 132") && output.contains("terminal"), "{output:?}");
    assert_eq!(session.control.wait().expect("it has ended"), 3);
    bench.end_and_wait(1);
}
