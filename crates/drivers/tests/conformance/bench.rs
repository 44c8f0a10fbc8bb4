//! An agent on a backend, stepped by hand, with everything that it reported.

use drivers::{Agent, Driver, Pace};
use protocol::{AssignmentBody, Changes, Deadline, Generation, Instance, Join, Joined, JoinedNode, NodeReport, Report, digest};
use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};
use units::{AgentId, Assignment, Grant, LeaseId, NodeId, Phase, Time, Wanted, Workload};

/// What a test needs of a backend.
pub trait Backend {
    /// A new driver on the same backend, as a new agent would have it.
    fn driver(&mut self, log: &str) -> Box<dyn Driver>;

    /// A workload of this kind.
    fn workload(&self, kind: Kind) -> Workload;

    /// How many processes of a lease the operating system shows.
    fn processes(&self, log: &str, lease: LeaseId) -> usize;

    /// The backend's own time, which runs on whichever agents come and go.
    fn now(&self) -> Time;

    /// Lets a little time pass.
    fn pass(&mut self);
}

/// Kinds of workload that every backend can run in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Runs until it is ended.
    Waits,
    /// Ends at once with this code.
    Exits(i32),
    /// Writes this line, then runs until it is ended.
    Prints(&'static str),
    /// Ignores TERM, starts a daemon that detaches itself by a double fork and ignores TERM too, and runs on.
    Detaches,
    /// Names a program that does not exist.
    Missing,
}

/// Long enough for the slowest engine on a busy machine; nothing waits for it unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// How far behind the last one's a new agent's clock begins: the wall clock was set back between them. No test is so long that
/// an instant of the old clock comes again.
const SET_BACK_MS: i64 = 1_000_000_000_000;

static LOGS: AtomicU64 = AtomicU64::new(0);

/// A log's id that no other test of this or another run uses.
pub fn fresh_log() -> String {
    let since_boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let instant = since_boot.tv_sec as u64 * 1_000_000 + since_boot.tv_nsec as u64 / 1_000;
    format!("{:08x}{:06x}{:02x}", instant as u32, std::process::id() & 0xff_ffff, LOGS.fetch_add(1, Ordering::Relaxed) & 0xff)
}

/// Says aloud that a test did not run: past the harness, which keeps what passing tests print.
pub fn skipped(why: &str) {
    writeln!(io::stderr(), "skipped: {why}").expect("there is a standard error");
}

pub struct Bench {
    pub backend: Box<dyn Backend>,
    pub driver: Box<dyn Driver>,
    pub log: String,
    agent: Agent,
    /// How far this agent's clock is behind the first one's.
    set_back: i64,
    wishes: BTreeMap<Instance, AssignmentBody>,
    seq: u64,
    pub heard: Vec<Report>,
}

pub fn instance(lease: u64) -> Instance {
    Instance { lease: LeaseId(lease), attempt: 1, node: NodeId(1) }
}

fn agent(log: &str) -> Agent {
    let node = NodeReport { name: "n".into(), cpu_milli: 2000, memory_mib: 4096, labels: vec![], devices: vec![] };
    let join = Join { version: protocol::VERSION, hostname: "h".into(), nodes: vec![node], capabilities: vec![] };
    let node = JoinedNode { name: "n".into(), node: NodeId(1), devices: vec![] };
    Agent::new(&join, &Joined { agent: AgentId(1), log: log.into(), nodes: vec![node] }, Pace::default())
}

impl Bench {
    pub fn new(mut backend: Box<dyn Backend>) -> Bench {
        let log = fresh_log();
        let driver = backend.driver(&log);
        let agent = agent(&log);
        Bench { backend, driver, log, agent, set_back: 0, wishes: BTreeMap::new(), seq: 0, heard: Vec::new() }
    }

    /// The agent's time.
    fn now(&self) -> Time {
        self.backend.now().plus_ms(-self.set_back)
    }

    /// What the server would answer: the full set as it is wished now.
    fn tell(&mut self) {
        let assignments: Vec<_> = self.wishes.values().cloned().collect();
        let digest = digest(assignments.iter().map(|a| &a.assignment));
        let generation = Generation { epoch: 1, seq: self.seq };
        let (now, full) = (Time(0), true);
        let changes =
            Changes { generation, full, assignments, deadlines: vec![], digest, now, sessions: vec![], measure_clean: vec![] };
        self.agent.apply(changes, self.now()).expect("each set is newer");
    }

    fn wish(&mut self, lease: u64, wanted: Wanted, workload: Workload, stop_in_ms: Option<u64>) {
        self.seq += 1;
        let grant = Grant { node: NodeId(1), cpu_milli: 500, memory_mib: 64, slices: vec![], exclusive: false };
        let assignment = Assignment { lease: LeaseId(lease), attempt: 1, changed: self.seq, wanted, grant };
        let body = AssignmentBody {
            assignment,
            workload: Some(workload),
            ready: false,
            stop_in_ms,
            env: [("TEST_LOG".to_owned(), self.log.clone())].into(),
        };
        self.wishes.insert(body.instance(), body);
        self.tell();
    }

    /// Wants a lease to run this.
    pub fn run(&mut self, lease: u64, kind: Kind) {
        self.run_exactly(lease, self.backend.workload(kind), None);
    }

    /// The same, for as long as the money lasts.
    pub fn run_exactly(&mut self, lease: u64, workload: Workload, stop_in_ms: Option<u64>) {
        self.wish(lease, Wanted::Run, workload, stop_in_ms);
    }

    /// Wants a lease ended.
    pub fn end(&mut self, lease: u64) {
        self.wish(lease, Wanted::End, Workload::default(), None);
    }

    /// Wants it gone, and waits until it is.
    pub fn end_and_wait(&mut self, lease: u64) {
        self.end(lease);
        self.until(&format!("lease {lease} is gone"), |bench| bench.last(lease) == Some(Phase::Gone));
        assert_eq!(self.backend.processes(&self.log, LeaseId(lease)), 0, "what is gone has left no process");
    }

    /// Moves a deadline, as after a top-up.
    pub fn move_deadline(&mut self, lease: u64, stop_in_ms: Option<u64>) {
        let deadlines = vec![Deadline { instance: instance(lease), stop_in_ms }];
        let digest = self.agent.assigned().digest();
        let generation = Generation { epoch: 1, seq: self.seq };
        let (now, full) = (Time(0), false);
        let changes =
            Changes { generation, full, assignments: vec![], deadlines, digest, now, sessions: vec![], measure_clean: vec![] };
        self.agent.apply(changes, self.now()).expect("it is as new");
    }

    pub fn step(&mut self) {
        let now = self.now();
        if let Some(report) = self.agent.step(&mut *self.driver, now) {
            self.agent.acknowledge(&report);
            self.heard.push(report);
        }
    }

    /// Steps until something holds.
    pub fn until(&mut self, what: &str, holds: impl Fn(&mut Bench) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "in vain: {what}; heard {:?}", self.phases());
            self.step();
            self.backend.pass();
        }
    }

    /// Lets time pass without an agent until something holds.
    pub fn until_without_agent(&mut self, what: &str, holds: impl Fn(&mut Bench) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "in vain: {what}");
            self.backend.pass();
        }
    }

    pub fn until_ready(&mut self, lease: u64) {
        self.until(&format!("lease {lease} is ready"), |bench| bench.last(lease) == Some(Phase::Ready));
    }

    /// A new agent with a new driver and a clock of its own, as after a crash. It has heard nothing yet.
    pub fn restart_agent(&mut self) {
        self.driver = self.backend.driver(&self.log);
        self.agent = agent(&self.log);
        self.heard.clear();
        self.set_back += SET_BACK_MS;
    }

    /// The server tells the agent again what is wished.
    pub fn tell_again(&mut self) {
        self.tell();
    }

    /// The server no longer knows a lease.
    pub fn forget(&mut self, lease: u64) {
        self.wishes.remove(&instance(lease));
        self.seq += 1;
        self.tell();
    }

    fn phases(&self) -> Vec<(LeaseId, Phase)> {
        self.heard.iter().flat_map(|report| &report.observations).map(|o| (o.lease, o.phase.clone())).collect()
    }

    /// The latest phase that was reported of a lease.
    pub fn last(&self, lease: u64) -> Option<Phase> {
        self.phases().into_iter().rev().find(|(id, _)| *id == LeaseId(lease)).map(|(_, phase)| phase)
    }

    /// Whether the driver lists nothing of this test's log, and is sure of it; others may use the same backend.
    pub fn lists_nothing(&mut self) -> bool {
        let listing = self.driver.observe(self.now());
        listing.failures.is_empty() && !listing.seen.iter().any(|seen| *seen.log == *self.log)
    }

    /// How long before its report the latest phase began, in milliseconds.
    pub fn last_ago(&self, lease: u64) -> Option<u64> {
        let observations = self.heard.iter().rev().flat_map(|report| &report.observations);
        observations.filter(|seen| seen.lease == LeaseId(lease)).map(|seen| seen.ago_ms).next()
    }

    pub fn count(&self, lease: u64) -> usize {
        self.backend.processes(&self.log, LeaseId(lease))
    }
}
