//! The process is killed (SIGKILL) at random points of mixed orders on SQLite, two hundred times. What it acknowledged is
//! there after each restart, nothing was started that the journal does not hold, and the auditor agrees.
//!
//! This test runs itself as the process to be killed.

mod support;

use engine::{Clock, Engine, Handle, Settings};
use journal::{Options, Sqlite};
use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use support::{
    mixed::{Seeded, agent_turn, furniture, keyed, wish},
    verdict::{Seen, judge},
};
use units::LeaseId;

const LOGS: u64 = 10;
const KILLS: u64 = 20;
/// Names the folder to work in; set for the process that is to be killed.
const FOLDER: &str = "SUANZU_KILL_FOLDER";
const SEED: &str = "SUANZU_KILL_SEED";
/// A process that nobody kills ends by itself.
const LONGEST: Duration = Duration::from_secs(20);
/// Wishers at the same time, so that batches hold several orders.
const WISHERS: u64 = 4;

fn open(folder: &Path) -> (Engine, journal::Reader) {
    let store = Sqlite::open(folder, &Options::default()).unwrap();
    let mut reader = store.reader().unwrap();
    (Engine::open(Box::new(store), None, &mut reader).unwrap(), reader)
}

/// The process that is to be killed: orders and an agent, telling each acknowledgement and each start on its output.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let seed: u64 = env::var(SEED).unwrap().parse().unwrap();
    let (engine, reader) = open(folder.as_ref());
    let handle = Handle::spawn(engine, Settings { snapshots: None, reader, clock: Clock::start() });
    thread::scope(|scope| {
        for wisher in 0..WISHERS {
            let handle = &handle;
            scope.spawn(move || order_for_ever(handle, seed * WISHERS + wisher));
        }
        scope.spawn(|| serve_for_ever(&handle));
    });
}

fn order_for_ever(handle: &Handle, seed: u64) {
    let mut random = Seeded(seed);
    // A key is told by whom and when: every process of every log numbers its own.
    let begun = Instant::now();
    for n in (seed << 32..).take_while(|_| begun.elapsed() < LONGEST) {
        let command = handle.read(|state| wish(&mut random, state));
        if let Some(seq) = handle.submit_blocking(keyed(command, n)).ok().and_then(|answer| answer.seq) {
            tell(&format!("ack {n} {seq}"));
        }
    }
}

fn serve_for_ever(handle: &Handle) {
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        let (starts, reports) = handle.read(agent_turn);
        for (lease, attempt) in starts {
            tell(&format!("start {} {attempt}", lease.0));
        }
        for report in reports {
            let _ = handle.submit_blocking(engine::Submission::plain("agent-1", report));
        }
    }
}

fn tell(line: &str) {
    // One write per line: a killed process leaves at most its last line cut.
    std::io::stdout().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn furnish(folder: &Path) {
    let (mut engine, _) = open(folder);
    let now = Clock::start().now();
    for command in furniture(now) {
        engine.submit(now, engine::Submission::plain("operator", command)).unwrap();
    }
    engine.commit().unwrap();
}

fn start(folder: &Path, seed: u64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_killed", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets it work until it has told some lines, kills it, and takes what it had told.
fn work_and_kill(folder: &Path, seed: u64, seen: &mut Seen) {
    let mut child = start(folder, seed);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let enough = 5 + Seeded(seed).below(150) as usize;
    let mut told: Vec<String> = lines.by_ref().take(enough).collect();
    child.kill().unwrap();
    told.extend(lines);
    child.wait().unwrap();
    for line in told {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ack", key, seq] => {
                let told: Option<(u64, u64)> = key.parse().ok().zip(seq.parse().ok());
                seen.acknowledged.extend(told);
            }
            ["start", lease, attempt] => {
                seen.started.extend(lease.parse().ok().map(LeaseId).zip(attempt.parse().ok()));
            }
            _ => {}
        }
    }
}

#[test]
fn two_hundred_kills_lose_no_acknowledged_order_and_no_charge() {
    if env::var_os(FOLDER).is_some() {
        return;
    }
    let mut orders = 0;
    for log in 0..LOGS {
        let folder = tempfile::tempdir().unwrap();
        furnish(folder.path());
        let mut seen = Seen::default();
        for kill in 0..KILLS {
            work_and_kill(folder.path(), log * KILLS + kill, &mut seen);
            let (engine, reader) = open(folder.path());
            engine.state().check(engine.state().time).unwrap();
            judge(&reader, &seen).unwrap_or_else(|what| panic!("log {log}, kill {kill}: {what}"));
        }
        orders += seen.acknowledged.len();
    }
    assert!(orders > 2_000, "the kills fall among many orders: {orders}");
}
