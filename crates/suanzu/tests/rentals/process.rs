//! Process leases: seen by the operating system, billed by the second, alive without their server.

use crate::{
    bill,
    os::{self, marked, sleepers},
    world::{World, until},
};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime};
use units::Time;

/// A parent, a child, and a grandchild whose parent has ended: nobody but its surroundings knows that it belongs here.
const TREE: &str = "(sh -c 'sleep 4000 & exec true' &); sleep 4001 & echo started; echo ready; wait";

fn rent_tree(world: &World, mark: &str) -> String {
    let env = format!("{}={mark}", os::MARK);
    world.rent(&["--cpu", "1", "--env", &env, "--grace", "500ms", "--", "sh", "-c", TREE])
}

fn both_sleep(mark: &str) -> BTreeSet<u32> {
    until("the child and the orphaned grandchild run", || Some(sleepers(mark)).filter(|pids| pids.len() == 2))
}

fn wall_clock() -> Time {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Time(i64::try_from(since_1970.as_millis()).unwrap())
}

fn time(value: &serde_json::Value) -> Time {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn a_process_tree_is_rented_watched_stopped_and_billed_to_the_tick() {
    let world = World::start();
    let mark = os::mark("tree");
    let id = rent_tree(&world, &mark);
    both_sleep(&mark);
    until("its output is read", || {
        let logs = world.try_tenant(&["lease", "logs", &id]);
        (String::from_utf8_lossy(&logs.stdout) == "started\nready\n").then_some(())
    });
    let exec = world.try_tenant(&["lease", "exec", &id, "--", "sh", "-c", "echo inside $SUANZU_LEASE; exit 5"]);
    assert_eq!(String::from_utf8_lossy(&exec.stdout), format!("inside {id}\n"), "{}", String::from_utf8_lossy(&exec.stderr));
    assert_eq!(exec.status.code(), Some(5));
    let cost = |lease: &serde_json::Value| lease["cost_so_far"]["ticks"].as_str().unwrap().parse::<i128>().unwrap();
    let before = cost(&world.lease(&id));
    until("the cost moves", || (cost(&world.lease(&id)) > before).then_some(()));
    let ready = time(&world.lease(&id)["ready"]);

    let stopped = world.tenant(&["lease", "stop", &id, "--yes", "--wait=60s"]);
    assert_eq!(stopped["state"], "stopped");
    assert_eq!(marked(&mark).len(), 0, "nothing of it is left on the machine");

    let file = world.file("receipt.json").display().to_string();
    let receipt = world.tenant(&["lease", "receipt", &id, "--save", &file]);
    let (from, _) = bill::check(&receipt);
    assert_eq!(from, ready, "billing begins when it is usable");
    let wallet = world.tenant(&["wallet", "show"]);
    assert_eq!(wallet["charged"]["ticks"], receipt["total"]["ticks"], "what left the wallet is what is on the receipt");
    assert_eq!(wallet["held"]["ticks"], "0");
    let key = world.data().join("keys").join("log.pub").display().to_string();
    assert_eq!(world.tenant(&["verify", &file, "--public-key", &key])["sound"], true);
    assert_eq!(world.tenant(&["verify", &world.data().display().to_string()])["sound"], true);
}

#[test]
fn a_receipt_that_was_touched_is_found_out() {
    let world = World::start();
    let id = rent_tree(&world, &os::mark("touched"));
    world.tenant(&["lease", "stop", &id, "--yes", "--wait=60s"]);
    let file = world.file("receipt.json");
    let mut receipt = world.tenant(&["lease", "receipt", &id]);
    let part = &mut receipt["proof"]["bundle"]["parts"][0]["bytes"];
    let mut bytes = part.as_str().unwrap().to_owned();
    let other = if bytes.starts_with('A') { "B" } else { "A" };
    bytes.replace_range(0..1, other);
    *part = bytes.into();
    std::fs::write(&file, receipt.to_string()).unwrap();
    assert_eq!(world.try_tenant(&["verify", &file.display().to_string()]).status.code(), Some(1), "a proven byte");

    let mut receipt = world.tenant(&["lease", "receipt", &id]);
    receipt["total"]["ticks"] = "1".into();
    std::fs::write(&file, receipt.to_string()).unwrap();
    assert_eq!(world.try_tenant(&["verify", &file.display().to_string()]).status.code(), Some(1), "a sum beside the proof");
}

#[test]
fn an_interrupt_or_a_closed_terminal_ends_what_run_has_rented_and_says_what_it_cost() {
    let world = World::start();
    for (signal, name) in [(Signal::INT, "interrupted"), (Signal::TERM, "terminated"), (Signal::HUP, "hung-up")] {
        interrupted_by(&world, signal, name);
    }
}

fn interrupted_by(world: &World, signal: Signal, name: &str) {
    let mark = os::mark(name);
    let env = format!("{}={mark}", os::MARK);
    let args = ["run", "--yes", "--cpu", "1", "--env", &env, "--grace", "500ms", "--", "sleep", "4000"];
    let running = world.command_of_tenant().args(args).stderr(std::process::Stdio::piped()).spawn().unwrap();
    until("it runs", || Some(marked(&mark)).filter(|pids| !pids.is_empty()));
    kill_process(Pid::from_child(&running), signal).unwrap();
    let ended = running.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("total:"), "{err}");
    assert_eq!(marked(&mark).len(), 0);
}

#[test]
fn a_lease_outlives_a_server_that_is_killed_and_is_metered_once() {
    let mut world = World::start();
    let mark = os::mark("killed");
    let id = rent_tree(&world, &mark);
    let before = both_sleep(&mark);
    let ready = time(&world.lease(&id)["ready"]);
    world.kill();
    assert_eq!(sleepers(&mark), before, "the workload does not notice");
    world.restart();
    assert_eq!(world.lease(&id)["state"], "running");
    assert_eq!(time(&world.lease(&id)["ready"]), ready, "it is the same run");
    until("the agent has adopted it", || {
        let logs = world.try_tenant(&["lease", "logs", &id]);
        String::from_utf8_lossy(&logs.stdout).contains("ready").then_some(())
    });
    assert_eq!(sleepers(&mark), before, "it was adopted, not started again");
    world.tenant(&["lease", "destroy", &id, "--yes", "--wait=60s"]);
    assert_eq!(marked(&mark).len(), 0, "nothing of it is left on the machine");
    let receipt = world.tenant(&["lease", "receipt", &id]);
    let (from, _) = bill::check(&receipt);
    assert_eq!((from, receipt["runs"].as_u64()), (ready, Some(1)), "one run, billed from its start");
}

#[test]
fn a_lease_whose_end_nobody_saw_is_charged_to_its_last_sign_of_life() {
    let mut world = World::start();
    let mark = os::mark("unseen");
    let id = rent_tree(&world, &mark);
    until("all three processes run", || Some(marked(&mark)).filter(|pids| pids.len() >= 3));
    let rented = Instant::now();
    until("it has served for a while", || (rented.elapsed() > Duration::from_secs(6)).then_some(()));
    world.kill();
    let leases = world.data().join("leases").display().to_string();
    let shims = os::named(&leases);
    assert_eq!(shims.len(), 1, "its shim");
    let (killed, clock) = (Instant::now(), wall_clock());
    shims.into_iter().chain(marked(&mark)).for_each(os::kill);
    until("nothing of it is left", || marked(&mark).is_empty().then_some(()));
    until("nobody looks for a while", || (killed.elapsed() > Duration::from_secs(8)).then_some(()));
    world.restart();
    until("it is found to have failed", || (world.lease(&id)["reason"] == "failed").then_some(()));
    until("it has ended", || (world.lease(&id)["state"] == "ended").then_some(()));
    let (_, end) = bill::check(&world.tenant(&["lease", "receipt", &id]));
    // A sign is two seconds old at most. So much is the tenant's; as much again is left to a busy machine.
    assert!(end.since(clock) < 2_000, "charged for {} ms of no service", end.since(clock));
    assert!(end.since(clock) > -4_000, "{} ms of service were not charged", -end.since(clock));
}

#[test]
fn a_lease_runs_on_while_its_server_is_stopped_and_started() {
    let mut world = World::start();
    let mark = os::mark("stopped");
    let id = rent_tree(&world, &mark);
    let before = both_sleep(&mark);
    assert!(world.stop().success(), "a server that is told to stop ends well");
    assert!(!world.data().join("listening.json").exists());
    assert_eq!(sleepers(&mark), before);
    world.restart();
    assert_eq!(world.lease(&id)["state"], "running");
    world.tenant(&["lease", "stop", &id, "--yes", "--wait=60s"]);
    assert_eq!(marked(&mark).len(), 0);
}

#[test]
fn run_shows_the_childs_output_and_ends_with_its_code() {
    let world = World::start();
    let ran = world.try_tenant(&["run", "--yes", "--cpu", "1", "--", "sh", "-c", "echo one; echo two; exit 7"]);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "one\ntwo\n", "{err}");
    assert_eq!(ran.status.code(), Some(7), "{err}");
    assert!(err.contains("total:"), "the receipt is shown: {err}");
    let left = world.tenant(&["lease", "list"]);
    assert_eq!(left["items"].as_array().unwrap().len(), 0, "nothing runs on");
}

#[test]
fn run_goes_on_where_it_was_once_its_server_is_back() {
    let mut world = World::start();
    let address = world.url().replace("http://", "");
    let script = "echo one; echo two; cat $GO; echo three; cat $GO; exit 5";
    let (go, shown) = (world.file("go"), world.file("shown"));
    assert!(std::process::Command::new("mkfifo").arg(&go).status().unwrap().success());
    let mut command = world.command_of_tenant();
    command.args(["run", "--yes", "--cpu", "1", "--env"]).arg(format!("GO={}", go.display())).args(["--", "sh", "-c", script]);
    let out = std::fs::File::create(&shown).unwrap();
    let running = command.stdout(out).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let has_shown = |text: &str| std::fs::read_to_string(&shown).unwrap() == text;
    until("its first output is shown", || has_shown("one\ntwo\n").then_some(()));
    world.kill();
    world.restart_with(&["--listen", &address]);
    std::fs::write(&go, "").unwrap();
    until("its output goes on", || has_shown("one\ntwo\nthree\n").then_some(()));
    std::fs::write(&go, "").unwrap();
    let ended = running.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(5), "{err}");
    assert!(has_shown("one\ntwo\nthree\n"), "nothing is shown twice: {err}");
}

#[test]
fn run_says_that_it_runs_while_output_flows_and_that_the_end_it_was_given_came() {
    let world = World::start();
    let ran = world.try_tenant(&[
        "run",
        "--yes",
        "--cpu",
        "1",
        "--for",
        "2s",
        "--grace",
        "200ms",
        "--",
        "sh",
        "-c",
        "yes | head -c 9; sleep 4000",
    ]);
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(124), 9), "{err}");
    let at = |word: &str| err.lines().position(|line| line.split_whitespace().nth(1) == Some(word));
    assert!(at("starting") < at("running") && at("running") < at("ended"), "{err}");
    assert!(!err.contains("error:") && err.lines().all(|line| line == line.trim_end()), "{err}");
}

#[test]
fn certificates_of_its_own_making_are_trusted_from_the_data_folder() {
    let world = World::with(&["--tls"]);
    let id = rent_tree(&world, &os::mark("tls"));
    until("its output is read over TLS", || {
        let logs = world.try_tenant(&["lease", "logs", &id]);
        String::from_utf8_lossy(&logs.stdout).contains("started").then_some(())
    });
    let listening = std::fs::read_to_string(world.data().join("listening.json")).unwrap();
    assert!(listening.contains("https://"), "{listening}");
}
