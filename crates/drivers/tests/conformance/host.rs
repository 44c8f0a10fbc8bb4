//! One driver over processes and containers: each lease reaches the right one, and one that is down does not hold up
//! the other.

use super::bench::{Backend, Bench, Kind, skipped};
use drivers::{
    Driver,
    host::{HostSettings, Machine, ShimCommand},
};
use std::{
    env,
    path::PathBuf,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use units::{LeaseId, Phase, Runtime, Time, Workload};

struct Whole {
    state: TempDir,
    socket: Option<PathBuf>,
    started: Instant,
}

impl Whole {
    fn with(socket: Option<PathBuf>) -> Whole {
        Whole { state: tempfile::tempdir().expect("a scratch folder"), socket, started: Instant::now() }
    }

    fn machine(&self) -> Machine {
        let shim = ShimCommand { program: env!("CARGO_BIN_EXE_shim").into(), args: vec![] };
        let settings = HostSettings::from_environment(self.state.path().to_owned(), shim);
        Machine::survey(HostSettings { socket: self.socket.clone(), network: Some("none".into()), ..settings })
    }
}

impl Backend for Whole {
    fn driver(&mut self, log: &str) -> Box<dyn Driver> {
        Box::new(self.machine().driver(log).expect("the log's id is sound"))
    }

    fn workload(&self, kind: Kind) -> Workload {
        let argv = match kind {
            Kind::Exits(code) => vec!["sh".to_owned(), "-c".to_owned(), format!("exit {code}")],
            _ => vec!["sleep".to_owned(), "600".to_owned()],
        };
        Workload { argv, grace_ms: 500, ..Workload::default() }
    }

    fn processes(&self, _log: &str, _lease: LeaseId) -> usize {
        0
    }

    fn now(&self) -> Time {
        Time(i64::try_from(self.started.elapsed().as_millis()).expect("tests are short"))
    }

    fn pass(&mut self) {
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn container(image: String) -> Workload {
    let argv = vec!["sh".to_owned(), "-c".to_owned(), "exit 4".to_owned()];
    Workload { runtime: Runtime::Container(image), argv, grace_ms: 500, ..Workload::default() }
}

#[test]
fn the_machine_offers_all_it_has_and_says_what_it_lacks() {
    let machine = Whole::with(None).machine();
    let node = machine.node("n", vec!["region=here".into()]).expect("it can be counted");
    assert!(node.cpu_milli >= 1_000 && node.memory_mib > 0);
    let capabilities = machine.capabilities();
    let containers = capabilities.iter().find(|c| c.name == "containers").expect("it is always said");
    assert!(!containers.available && containers.reason.contains("no container engine"));
}

#[test]
fn an_engine_that_is_down_does_not_hold_up_process_leases() {
    let mut bench = Bench::new(Box::new(Whole::with(Some("/nowhere/engine.sock".into()))));
    bench.run_exactly(1, container("localhost/any:1".into()), None);
    bench.run(2, Kind::Waits);
    bench.until_ready(2);
    bench.end_and_wait(2);
    let said = |phase: Option<Phase>| matches!(phase, Some(Phase::Starting(text)) if text.contains("container engine"));
    assert!(said(bench.last(1)), "the start waits for the engine, and says so: {:?}", bench.last(1));
    bench.end_and_wait(1);
}

#[test]
fn a_container_without_any_engine_fails_at_once() {
    let mut bench = Bench::new(Box::new(Whole::with(None)));
    bench.run_exactly(1, container("localhost/any:1".into()), None);
    bench.until("it has failed", |bench| matches!(bench.last(1), Some(Phase::Failed(_))));
    bench.end_and_wait(1);
}

#[test]
fn processes_and_containers_live_side_by_side() {
    let (Some(socket), Ok(image)) = (env::var_os("SUANZU_CONTAINER_SOCKET"), env::var("SUANZU_TEST_IMAGE")) else {
        skipped("no container engine (SUANZU_CONTAINER_SOCKET and SUANZU_TEST_IMAGE are not set)");
        return;
    };
    let mut bench = Bench::new(Box::new(Whole::with(Some(socket.into()))));
    let busy = ["sh", "-c", "while true; do :; done"].map(str::to_owned).to_vec();
    let contained = Workload { argv: busy.clone(), ..container(image.clone()) };
    bench.run_exactly(3, Workload { argv: busy, grace_ms: 500, ..Workload::default() }, None);
    bench.run_exactly(4, contained, None);
    bench.until("the busy ones have used time", |bench| {
        let usage = bench.driver.usage(Time(0));
        [3, 4].iter().all(|lease| usage.iter().any(|u| u.instance.lease == LeaseId(*lease) && u.cpu_ms > 0))
    });
    bench.end_and_wait(3);
    bench.end_and_wait(4);
    bench.run(1, Kind::Exits(3));
    bench.run_exactly(2, container(image), None);
    bench.until("both have exited", |bench| bench.last(1) == Some(Phase::Exited(3)) && bench.last(2) == Some(Phase::Exited(4)));
    bench.restart_agent();
    bench.tell_again();
    bench.until("a new agent hears of both", |bench| {
        bench.last(1) == Some(Phase::Exited(3)) && bench.last(2) == Some(Phase::Exited(4))
    });
    bench.end_and_wait(1);
    bench.end_and_wait(2);
}
