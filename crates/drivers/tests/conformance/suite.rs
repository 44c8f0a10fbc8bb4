//! The tests themselves, in terms of an agent and its server.

use super::bench::{Bench, Kind, fresh_log, instance};
use drivers::LogRequest;
use std::io::Read;
use units::{Phase, Workload};

pub fn a_lease_is_started_seen_ended_and_gone(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    assert!(bench.count(1) >= 1, "the operating system shows it");
    bench.end_and_wait(1);
    bench.until("nothing is listed", |bench| bench.lists_nothing());
}

pub fn starting_again_makes_no_second_copy(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    let before = bench.count(1);
    bench.restart_agent();
    bench.tell_again();
    bench.until_ready(1);
    assert_eq!(bench.count(1), before);
    bench.end_and_wait(1);
}

pub fn the_exit_status_is_kept(mut bench: Bench) {
    bench.run(1, Kind::Exits(7));
    bench.until("it has exited", |bench| bench.last(1) == Some(Phase::Exited(7)));
    bench.restart_agent();
    bench.tell_again();
    bench.until("a new agent hears of it too", |bench| bench.last(1) == Some(Phase::Exited(7)));
    bench.end_and_wait(1);
}

/// All output of a lease that is kept.
pub fn output(bench: &mut Bench, lease: u64) -> String {
    let Ok(mut reader) = bench.driver.logs(instance(lease), LogRequest::default()) else { return String::new() };
    let mut output = String::new();
    reader.read_to_string(&mut output).expect("it is text");
    output
}

pub fn the_output_is_kept(mut bench: Bench) {
    bench.run(1, Kind::Prints("hello"));
    bench.until("it has printed", |bench| bench.last(1) == Some(Phase::Ready) && output(bench, 1) == "hello\n");
    bench.end_and_wait(1);
}

pub fn a_missing_program_fails_and_says_why(mut bench: Bench) {
    bench.run(1, Kind::Missing);
    let why = |bench: &mut Bench| match bench.last(1) {
        Some(Phase::Failed(reason)) => reason,
        // A container's first process is the engine's: it starts, and says in the output why it cannot go on.
        Some(Phase::Exited(1..)) => output(bench, 1),
        _ => String::new(),
    };
    bench.until("it says why", |bench| why(bench).contains("No such file or directory"));
    bench.end_and_wait(1);
}

pub fn a_detached_tree_is_wholly_ended(mut bench: Bench) {
    bench.run(1, Kind::Detaches);
    bench.until("the daemon has detached itself", |bench| bench.last(1) == Some(Phase::Ready) && bench.count(1) >= 4);
    bench.end_and_wait(1);
}

pub fn a_new_agent_adopts_what_runs(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    bench.restart_agent();
    bench.step();
    bench.step();
    assert!(bench.count(1) >= 1, "an agent that has heard nothing ends nothing");
    bench.tell_again();
    bench.until_ready(1);
    bench.end_and_wait(1);
}

pub fn a_new_agent_ends_what_is_no_longer_assigned(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.run(2, Kind::Waits);
    bench.until_ready(1);
    bench.until_ready(2);
    bench.end_and_wait(2);
    bench.restart_agent();
    bench.forget(1);
    bench.until("it is ended", |bench| bench.lists_nothing());
    assert_eq!(bench.count(1), 0);
}

pub fn another_logs_workload_is_left_alone(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    let ours = std::mem::replace(&mut bench.log, fresh_log());
    bench.restart_agent();
    bench.forget(1);
    for _ in 0..10 {
        bench.step();
        bench.backend.pass();
    }
    bench.log = ours;
    assert!(bench.count(1) >= 1);
    bench.restart_agent();
    bench.end_and_wait(1);
}

pub fn an_end_right_after_the_start_leaves_nothing(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.step();
    bench.end_and_wait(1);
}

pub fn the_deadline_is_kept_without_an_agent(mut bench: Bench) {
    bench.run_exactly(1, bench.backend.workload(Kind::Waits), Some(3_000));
    bench.until_ready(1);
    bench.until_without_agent("its money has ended", |bench| bench.count(1) == 0);
    bench.restart_agent();
    bench.tell_again();
    bench.until("a new agent hears of it", |bench| bench.last(1).is_some());
    assert_eq!(bench.last(1), Some(Phase::OutOfFunds), "and hears why: by no agent's clock does it run again");
    bench.end_and_wait(1);
}

pub fn a_moved_deadline_is_kept(mut bench: Bench) {
    bench.run_exactly(1, bench.backend.workload(Kind::Waits), Some(600_000));
    bench.until_ready(1);
    bench.move_deadline(1, Some(0));
    bench.until("its money has ended", |bench| bench.last(1) == Some(Phase::OutOfFunds));
    bench.end_and_wait(1);
}

pub fn a_command_runs_beside_the_workload(mut bench: Bench) {
    bench.run(1, Kind::Waits);
    bench.until_ready(1);
    let argv = ["sh", "-c", "cat; echo $SUANZU_LEASE; exit 5"].map(str::to_owned);
    let mut session = bench.driver.exec(instance(1), &argv, false).expect("it runs");
    session.input.write_all(b"from outside\n").expect("it reads");
    drop(session.input);
    let mut output = String::new();
    session.output.read_to_string(&mut output).expect("it is text");
    assert_eq!(output, "from outside\nlease-1\n");
    assert_eq!(session.control.wait().expect("it has ended"), 5);
    bench.end_and_wait(1);
}

pub fn what_cannot_stand_in_a_command_is_refused(mut bench: Bench) {
    let waits = bench.backend.workload(Kind::Waits);
    let with_env = |name: &str| Workload { env: [(name.to_owned(), "x".to_owned())].into(), ..waits.clone() };
    let nul = Workload { argv: vec!["a\0b".to_owned()], ..waits.clone() };
    for (lease, workload) in (1..).zip([with_env(""), with_env("a=b"), with_env("a\0b"), nul]) {
        bench.run_exactly(lease, workload, None);
        bench.until("it has failed", |bench| matches!(bench.last(lease), Some(Phase::Failed(_))));
        bench.end_and_wait(lease);
    }
}
