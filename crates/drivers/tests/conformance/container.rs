//! The suite on containers, where an engine is at hand: `SUANZU_CONTAINER_SOCKET`, with `SUANZU_TEST_IMAGE` on it.

use super::bench::{Backend, Bench, Kind, instance, skipped};
use drivers::{
    Driver, GrantedDevice, Order,
    host::{ContainerSettings, Containers, OutputLimits, ShimCommand},
};
use protocol::Generation;
use std::{
    env, fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use units::{Grant, LeaseId, NodeId, Phase, Runtime, Share, Time, Workload};

struct Engine {
    state: TempDir,
    socket: PathBuf,
    image: String,
    started: Instant,
}

/// The engine, or a visible word that there is none.
fn engine() -> Option<Engine> {
    let (Some(socket), Ok(image)) = (env::var_os("SUANZU_CONTAINER_SOCKET"), env::var("SUANZU_TEST_IMAGE")) else {
        skipped("no container engine (SUANZU_CONTAINER_SOCKET and SUANZU_TEST_IMAGE are not set)");
        return None;
    };
    let state = tempfile::tempdir().expect("a scratch folder");
    Some(Engine { state, socket: socket.into(), image, started: Instant::now() })
}

impl Engine {
    fn settings(&self) -> ContainerSettings {
        ContainerSettings {
            socket: self.socket.clone(),
            state: self.state.path().to_owned(),
            shim: ShimCommand { program: env!("CARGO_BIN_EXE_shim").into(), args: vec![] },
            output: OutputLimits::default(),
            max_processes: 100,
            network: Some("none".into()),
            device_kind: "nvidia.com/gpu".into(),
        }
    }

    fn connect(&self, log: &str) -> Containers {
        Containers::new(log, self.settings()).expect("the engine answers")
    }

    fn running(&self, argv: &[&str]) -> Workload {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Workload { runtime: Runtime::Container(self.image.clone()), argv, grace_ms: 1_000, ..Workload::default() }
    }
}

impl Backend for Engine {
    fn driver(&mut self, log: &str) -> Box<dyn Driver> {
        Box::new(self.connect(log))
    }

    fn workload(&self, kind: Kind) -> Workload {
        let shell = |script: &str| self.running(&["sh", "-c", script]);
        match kind {
            Kind::Waits => self.running(&["sleep", "600"]),
            Kind::Exits(code) => shell(&format!("exit {code}")),
            Kind::Prints(line) => shell(&format!("echo {line}; sleep 600")),
            Kind::Detaches => {
                shell("trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 600; sleep 600\" &) ; sleep 600; sleep 600")
            }
            Kind::Missing => self.running(&["/no/such/program"]),
        }
    }

    fn processes(&self, log: &str, lease: LeaseId) -> usize {
        let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let marked = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let has = |line: &str| environment.split(|byte| *byte == 0).any(|entry| entry == line.as_bytes());
            has(&format!("SUANZU_LEASE={lease}")) && has(&format!("TEST_LOG={log}"))
        };
        pids.filter(marked).count()
    }

    fn now(&self) -> Time {
        Time(i64::try_from(self.started.elapsed().as_millis()).expect("tests are short"))
    }

    fn pass(&mut self) {
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

crate::conforms! { engine();
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

#[test]
fn a_missing_image_fails_with_its_reason() {
    let Some(engine) = engine() else { return };
    let image = "localhost/suanzu-no-such-image:1".to_owned();
    let workload = Workload { runtime: Runtime::Container(image.clone()), ..engine.running(&["sleep", "600"]) };
    let mut bench = Bench::new(Box::new(engine));
    bench.run_exactly(1, workload, None);
    bench.until("it has failed", |bench| matches!(bench.last(1), Some(Phase::Failed(reason)) if reason.contains(&image)));
    bench.end_and_wait(1);
}

#[test]
fn limits_hold_inside() {
    let Some(engine) = engine() else { return };
    // Half a core, 64 MiB and 100 processes, as the bench grants them; from whichever version of control groups.
    let script = "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max \
                  /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max \
                  /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; echo end; sleep 600";
    let workload = engine.running(&["sh", "-c", script]);
    let mut bench = Bench::new(Box::new(engine));
    bench.run_exactly(1, workload, None);
    bench.until("it has printed", |bench| bench.last(1).is_some() && super::suite::output(bench, 1).contains("end"));
    let output = super::suite::output(&mut bench, 1);
    for limit in ["67108864", "50000", "100"] {
        assert!(output.split_whitespace().any(|word| word == limit), "{limit} in {output}");
    }
    bench.end_and_wait(1);
}

#[test]
fn devices_are_given_or_refused_aloud_but_never_left_out() {
    let Some(engine) = engine() else { return };
    let mut driver = engine.connect(&super::bench::fresh_log());
    let gpu = driver.capabilities().into_iter().find(|c| c.name == "containers.gpu").expect("it is always said");
    let order = Order {
        instance: instance(1),
        born: Generation { epoch: 1, seq: 1 },
        node: "n".into(),
        workload: engine.running(&["sleep", "600"]),
        grant: Grant { node: NodeId(1), cpu_milli: 0, memory_mib: 0, slices: vec![], exclusive: false },
        devices: vec![GrantedDevice { uuid: "GPU-none".into(), index: 0, share: Share { compute: 1000, memory_mib: 1 } }],
        env: Default::default(),
        stop_by: None,
    };
    let started = driver.start(&order, engine.now());
    if gpu.available {
        // There is no such device: the engine must say so, and nothing may run without it.
        let mut bench = Bench::new(Box::new(engine));
        bench.driver = Box::new(driver);
        bench.until("it has failed", |bench| {
            let seen = bench.driver.look(instance(1), Time(0)).ok().flatten();
            seen.is_some_and(|seen| matches!(seen.phase, Phase::Failed(_)))
        });
    } else {
        let refused = started.expect_err("it must not run without its device");
        assert!(!refused.retryable && refused.reason.contains("newer is needed"), "{refused}");
    }
}

/// A Podman of a test's own, on the same storage, that may be killed without disturbing others.
struct Service {
    socket: PathBuf,
    process: Child,
}

impl Service {
    fn start(socket: PathBuf) -> Option<Service> {
        let mut podman = Command::new("podman");
        podman.args(["system", "service", "--time=0", &format!("unix://{}", socket.display())]);
        let process = podman.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        Some(Service { socket, process })
    }

    fn kill(&mut self) {
        self.process.kill().expect("it is ours");
        self.process.wait().expect("it is ours");
        // As after a crash: a socket that nobody listens on.
        assert!(self.socket.exists());
    }

    fn restart(&mut self) {
        let socket = self.socket.clone();
        fs::remove_file(&socket).expect("it is stale");
        *self = Service::start(socket).expect("it started before");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have been killed by the test.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn an_engine_that_goes_away_costs_no_lease_and_no_deadline() {
    let Some(mut engine) = engine() else { return };
    engine.socket = engine.state.path().join("own.sock");
    let Some(mut service) = Service::start(engine.socket.clone()) else {
        skipped("no podman of our own to kill");
        return;
    };
    let workload = engine.workload(Kind::Waits);
    let deadline = Instant::now() + Duration::from_secs(30);
    while Containers::new("aa", engine.settings()).is_err() {
        assert!(Instant::now() < deadline, "the service comes up");
        std::thread::park_timeout(Duration::from_millis(50));
    }
    let mut bench = Bench::new(Box::new(engine));
    bench.run_exactly(1, workload, None);
    bench.until_ready(1);
    service.kill();
    for _ in 0..20 {
        bench.step();
    }
    assert_eq!(bench.last(1), Some(Phase::Ready), "that nobody answers proves nothing");
    assert!(bench.count(1) >= 1, "and the lease runs on");
    bench.move_deadline(1, Some(0));
    bench.step();
    service.restart();
    bench.until("the deadline is kept all the same", |bench| bench.last(1) == Some(Phase::OutOfFunds));
    bench.end_and_wait(1);
}

/// Every process of a lease: its watcher, by the command line, and its own.
fn kill_with_watcher(bench: &Bench, lease: u64) {
    let folder = format!("{}/lease-{lease}_1_node-1", bench.log);
    let own = format!("SUANZU_LEASE=lease-{lease}");
    let log = format!("TEST_LOG={}", bench.log);
    let entries = fs::read_dir("/proc").expect("there is a /proc").flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        let words = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let (line, environment) = (words("cmdline"), words("environ"));
        let has = |line: &str| environment.split(|byte| *byte == 0).any(|entry| entry == line.as_bytes());
        if String::from_utf8_lossy(&line).contains(&folder) || (has(&own) && has(&log)) {
            let pid = rustix::process::Pid::from_raw(pid).expect("it is listed");
            // One may take another along.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

#[test]
fn an_end_that_only_the_engine_saw_counts_at_its_own_time() {
    let Some(engine) = engine() else { return };
    let mut bench = Bench::new(Box::new(engine));
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    let ready = Instant::now();
    bench.until_without_agent("its process runs", |bench| bench.count(1) >= 1);
    bench.until_without_agent("it has run for a while", |_| ready.elapsed() > Duration::from_secs(2));
    kill_with_watcher(&bench, 1);
    let killed = Instant::now();
    bench.until_without_agent("nobody looks for a while", |bench| {
        bench.count(1) == 0 && killed.elapsed() > Duration::from_secs(4)
    });
    bench.restart_agent();
    bench.tell_again();
    let (away, run) = (killed.elapsed(), ready.elapsed());
    bench.until("it has ended", |bench| bench.last(1) == Some(Phase::Exited(137)));
    let ago = Duration::from_millis(bench.last_ago(1).expect("it was reported"));
    // The engine hears of an end a moment after it.
    assert!(ago + Duration::from_secs(1) >= away, "charged for {:?} of no service", away - ago);
    assert!(ago < run, "it was seen to run: {ago:?} of {run:?}");
    bench.end_and_wait(1);
}

#[test]
fn an_engine_that_is_not_there_is_a_failure_and_no_panic() {
    let socket = PathBuf::from("/nowhere/engine.sock");
    let state = tempfile::tempdir().expect("a scratch folder");
    let engine = Engine { state, socket, image: String::new(), started: Instant::now() };
    assert!(Containers::new("aa", engine.settings()).is_err_and(|failure| failure.retryable));
}
