//! The agent against the simulated backend: what it starts, ends, adopts and leaves alone, and what it concludes.

use drivers::simulated::{Behaviour, Simulated, node};
use drivers::{Action, Agent, Assigned, Observed, Pace, reconcile};
use protocol::{AssignmentBody, Changes, Deadline, Generation, Instance, Join, Joined, JoinedDevice, JoinedNode, Report, digest};
use units::{AgentId, Assignment, DeviceId, Grant, LeaseId, NodeId, Phase, Share, Slice, Time, Wanted, Workload};

const LOG: &str = "aa11";

fn at(seq: u64) -> Generation {
    Generation { epoch: 1, seq }
}

fn instance(lease: u64) -> Instance {
    Instance { lease: LeaseId(lease), attempt: 1, node: NodeId(1) }
}

fn wish(lease: u64, wanted: Wanted, argv: &[&str]) -> AssignmentBody {
    let slice = Slice { device: DeviceId(1), share: Share { compute: 100, memory_mib: 1000 } };
    let grant = Grant { node: NodeId(1), cpu_milli: 1000, memory_mib: 512, slices: vec![slice], exclusive: false };
    let assignment = Assignment { lease: LeaseId(lease), attempt: 1, changed: 1, wanted, grant };
    let workload = Workload { argv: argv.iter().map(|s| s.to_string()).collect(), ..Workload::default() };
    AssignmentBody { assignment, workload: Some(workload), ready: false, stop_in_ms: None, env: Default::default() }
}

fn full(generation: Generation, assignments: Vec<AssignmentBody>) -> Changes {
    let digest = digest(assignments.iter().map(|a| &a.assignment));
    let now = Time(0);
    Changes { generation, full: true, assignments, deadlines: vec![], digest, now, sessions: vec![], measure_clean: vec![] }
}

/// An agent with its driver, a clock that only moves when told, and all that was reported and accepted.
struct Bench {
    agent: Agent,
    driver: Simulated,
    now: Time,
    heard: Vec<Report>,
}

fn joined() -> (Join, Joined) {
    let nodes = vec![node("n", "T4", 1)];
    let devices = vec![JoinedDevice { uuid: nodes[0].devices[0].uuid.clone(), device: DeviceId(1) }];
    let join = Join { version: protocol::VERSION, hostname: "h".into(), nodes, capabilities: vec![] };
    let node = JoinedNode { name: "n".into(), node: NodeId(1), devices };
    (join, Joined { agent: AgentId(1), log: LOG.into(), nodes: vec![node] })
}

impl Bench {
    fn new(behaviour: Behaviour) -> Bench {
        let (join, joined) = joined();
        let driver = Simulated::new(LOG, behaviour, 7);
        Bench { agent: Agent::new(&join, &joined, Pace::default()), driver, now: Time(0), heard: vec![] }
    }

    fn told(mut self, changes: Changes) -> Bench {
        self.agent.apply(changes, self.now).expect("the set is newer");
        self
    }

    fn step(&mut self) -> Option<Report> {
        let report = self.agent.step(&mut self.driver, self.now);
        self.heard.extend(report.clone());
        report.inspect(|report| self.agent.acknowledge(report))
    }

    /// Steps as the agent asks to be stepped.
    fn run(mut self, ms: i64) -> Bench {
        let end = self.now.plus_ms(ms);
        while self.now <= end {
            self.step();
            self.now = self.agent.next_step(&self.driver, self.now);
        }
        self.now = end;
        self
    }

    /// A new agent on the same node, as after a crash.
    fn restart_agent(mut self) -> Bench {
        let (join, joined) = joined();
        self.agent = Agent::new(&join, &joined, Pace::default());
        self
    }

    fn phases(&self, lease: u64) -> Vec<Phase> {
        let all = self.heard.iter().flat_map(|report| &report.observations);
        all.filter(|seen| seen.lease == LeaseId(lease)).map(|seen| seen.phase.clone()).collect()
    }
}

#[test]
fn a_lease_is_started_served_ended_and_gone() {
    let bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    assert_eq!(bench.phases(1), [Phase::Starting("starting".into()), Phase::Ready]);
    let bench = bench.told(full(at(2), vec![wish(1, Wanted::End, &[])])).run(5_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Gone));
    assert!(bench.driver.is_empty());
    assert_eq!(bench.agent.assigned().digest(), 0, "what the server knows to be gone is forgotten");
}

#[test]
fn proofs_of_service_come_at_their_pace_while_it_runs() {
    let bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(60_000);
    let proofs = bench.heard.iter().filter(|report| report.serving == [instance(1)]).count();
    assert!((5..=7).contains(&proofs), "{proofs} proofs in a minute");
}

#[test]
fn exits_and_failed_starts_are_reported_and_not_repeated() {
    let bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &["exit", "7"])])).run(60_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Exited(7)));
    let failing = Behaviour { start_fails_permille: 1000, ..Behaviour::default() };
    let bench = Bench::new(failing).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(60_000);
    let failed = bench.phases(1).into_iter().filter(|phase| matches!(phase, Phase::Failed(_))).count();
    assert_eq!(failed, 1);
}

#[test]
fn a_restarted_agent_adopts_what_runs() {
    let set = || full(at(1), vec![wish(1, Wanted::Run, &[])]);
    let bench = Bench::new(Behaviour::default()).told(set()).run(5_000);
    let mut bench = bench.restart_agent();
    bench.step();
    assert_eq!(bench.driver.len(), 1, "before it has heard anything it ends nothing");
    let heard = bench.heard.len();
    let bench = bench.told(set()).run(5_000);
    assert_eq!(bench.driver.len(), 1);
    let again: Vec<_> = bench.heard[heard..].iter().flat_map(|r| &r.observations).map(|o| o.phase.clone()).collect();
    assert_eq!(again, [Phase::Ready]);
}

#[test]
fn what_a_restarted_agent_does_not_find_was_lost_and_is_not_started_a_second_time() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    bench.driver.reboot(NodeId(1));
    let known_to_serve = AssignmentBody { ready: true, ..wish(1, Wanted::Run, &[]) };
    let bench = bench.restart_agent().told(full(at(1), vec![known_to_serve])).run(5_000);
    assert!(matches!(bench.phases(1).last(), Some(Phase::Failed(_))), "{:?}", bench.phases(1));
    assert!(bench.driver.is_empty(), "whether it starts again, and as which attempt, is the core's to decide");
}

#[test]
fn one_empty_listing_concludes_nothing() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    bench.driver.lie_empty(5);
    let bench = bench.run(5_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Ready), "the direct question is answered truly");
    assert_eq!(bench.driver.len(), 1, "and no second copy is started");
}

#[test]
fn an_empty_listing_after_a_restart_starts_no_second_copy() {
    let set = || full(at(1), vec![wish(1, Wanted::Run, &[])]);
    let mut bench = Bench::new(Behaviour::default()).told(set()).run(5_000).restart_agent();
    bench.driver.lie_empty(3);
    let bench = bench.told(set()).run(5_000);
    assert_eq!(bench.driver.len(), 1);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Ready));
}

#[test]
fn a_silent_backend_concludes_nothing() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    bench.driver.silence(bench.now.plus_ms(60_000));
    let bench = bench.told(full(at(2), vec![wish(1, Wanted::End, &[])])).run(59_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Ready), "nothing is said to be gone");
    let bench = bench.run(10_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Gone), "the end is carried out once it answers");
}

#[test]
fn what_vanishes_is_reported_as_failed_once_enough_speaks_for_it() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    bench.step();
    let last_seen = bench.now;
    bench.driver.vanish(instance(1));
    bench.now = bench.now.plus_ms(90_000);
    bench.step();
    assert_eq!(bench.phases(1).last(), Some(&Phase::Ready), "one listing is not enough");
    bench.now = bench.now.plus_ms(90_000);
    let failed = bench.step().expect("there is news");
    assert_eq!(bench.now.plus_ms(-(failed.observations[0].ago_ms as i64)), last_seen, "it counts to where it was last seen");
    let bench = bench.run(5_000);
    assert!(matches!(bench.phases(1).last(), Some(Phase::Failed(_))));
    assert!(bench.driver.is_empty(), "the attempt is not started again: that is the core's to decide");
}

#[test]
fn an_end_that_overtakes_its_start_is_carried_out_once_it_exists() {
    let slow = Behaviour { start_ms: (10_000, 10_000), ..Behaviour::default() };
    let mut bench = Bench::new(slow).told(full(at(1), vec![wish(1, Wanted::Run, &[])]));
    bench.step();
    let bench = bench.told(full(at(2), vec![wish(1, Wanted::End, &[])])).run(30_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Gone));
    assert!(bench.driver.is_empty());
}

#[test]
fn the_deadline_is_kept_without_the_server_and_moves_with_it() {
    let mut paid = wish(1, Wanted::Run, &[]);
    paid.stop_in_ms = Some(10_000);
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![paid.clone()])).run(5_000);
    let digest = digest([&paid.assignment]);
    let topped_up = Deadline { instance: instance(1), stop_in_ms: Some(60_000) };
    bench = bench.told(Changes { full: false, deadlines: vec![topped_up], digest, ..full(at(1), vec![]) }).run(20_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::Ready), "ten seconds have passed, but it was paid for");
    let bench = bench.run(60_000);
    assert_eq!(bench.phases(1).last(), Some(&Phase::OutOfFunds));
}

#[test]
fn devices_are_reported_clean_once_measured_so() {
    let slow = Behaviour { scrub_ms: (5_000, 5_000), ..Behaviour::default() };
    let bench = Bench::new(slow).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(2_000);
    let bench = bench.told(full(at(2), vec![wish(1, Wanted::End, &[])])).run(2_000);
    let bench = bench.told(Changes { measure_clean: vec![DeviceId(1)], ..full(at(3), vec![]) }).run(1_000);
    assert!(bench.heard.iter().all(|report| report.clean.is_empty()), "it is still dirty");
    let bench = bench.run(9_000);
    assert_eq!(bench.heard.iter().flat_map(|report| report.clean.clone()).collect::<Vec<_>>(), [DeviceId(1)]);
}

#[test]
fn a_lost_device_is_reported_once_and_its_workload_fails() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    bench.driver.lose_device("SIM-n-0", bench.now);
    let bench = bench.run(60_000);
    assert_eq!(bench.heard.iter().flat_map(|report| &report.faults).count(), 1);
    assert!(matches!(bench.phases(1).last(), Some(Phase::Failed(_))));
}

#[test]
fn another_agents_node_on_the_same_backend_is_left_alone() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    let (join, joined) = joined();
    let elsewhere = JoinedNode { node: NodeId(2), ..joined.nodes[0].clone() };
    bench.agent = Agent::new(&join, &Joined { nodes: vec![elsewhere], ..joined }, Pace::default());
    let bench = bench.told(full(at(2), vec![])).run(5_000);
    assert_eq!(bench.driver.len(), 1);
}

#[test]
fn a_shared_card_is_clean_for_the_share_that_has_gone() {
    let slow = Behaviour { scrub_ms: (60_000, 60_000), ..Behaviour::default() };
    let both = vec![wish(1, Wanted::Run, &[]), wish(2, Wanted::Run, &[])];
    let bench = Bench::new(slow).told(full(at(1), both)).run(2_000);
    let bench = bench.told(full(at(2), vec![wish(1, Wanted::End, &[]), wish(2, Wanted::Run, &[])])).run(2_000);
    let freed = Changes { measure_clean: vec![DeviceId(1)], ..full(at(3), vec![wish(2, Wanted::Run, &[])]) };
    let bench = bench.told(freed).run(1_000);
    assert_eq!(bench.heard.iter().flat_map(|report| report.clean.clone()).collect::<Vec<_>>(), [DeviceId(1)]);
}

#[test]
fn a_stale_set_is_refused_and_changes_nothing() {
    let mut bench = Bench::new(Behaviour::default()).told(full(at(5), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    let stale = bench.agent.apply(full(at(4), vec![]), bench.now).expect_err("it is older");
    assert_eq!((stale.given, stale.known), (at(4), at(5)));
    let bench = bench.run(5_000);
    assert_eq!(bench.driver.len(), 1);
}

#[test]
fn a_set_whose_digest_differs_is_asked_for_in_full() {
    let bench = Bench::new(Behaviour::default()).told(full(at(1), vec![wish(1, Wanted::Run, &[])])).run(5_000);
    let lost_a_change = Changes { full: false, digest: 1, ..full(at(2), vec![]) };
    let bench = bench.told(lost_a_change).run(5_000);
    assert_eq!(bench.agent.poll(bench.now).generation, Generation::NONE);
    assert_eq!(bench.driver.len(), 1, "nothing is ended on the word of a set that is not whole");
    let bench = bench.told(full(at(2), vec![])).run(5_000);
    assert!(bench.driver.is_empty());
    assert_eq!(bench.agent.poll(bench.now).generation, at(2));
}

fn seen(lease: u64, log: &str, born: Generation) -> Observed {
    Observed { instance: instance(lease), log: log.into(), born, phase: Phase::Ready, ago_ms: 0 }
}

fn assigned(changes: Changes) -> Assigned {
    let mut set = Assigned::default();
    set.apply(changes, Time(0)).expect("anything is newer than nothing");
    set
}

#[test]
fn reconcile_as_a_table() {
    let run = |lease| wish(lease, Wanted::Run, &[]);
    let end = |lease| wish(lease, Wanted::End, &[]);
    let partial = Changes { full: false, digest: 1, ..full(at(9), vec![]) };
    for (case, set, seen, actions) in [
        ("start what is not seen", full(at(9), vec![run(1)]), vec![], vec![Action::Start(instance(1))]),
        ("leave what runs", full(at(9), vec![run(1)]), vec![seen(1, LOG, at(1))], vec![]),
        ("end what is unwanted", full(at(9), vec![end(1)]), vec![seen(1, LOG, at(1))], vec![Action::End(instance(1))]),
        ("confirm what is not seen", full(at(9), vec![end(1)]), vec![], vec![Action::ConfirmGone(instance(1))]),
        ("end what is absent", full(at(9), vec![]), vec![seen(1, LOG, at(9))], vec![Action::End(instance(1))]),
        ("not by a set that is too old", full(at(9), vec![]), vec![seen(1, LOG, at(10))], vec![]),
        ("not by changes alone", partial, vec![seen(1, LOG, at(1))], vec![]),
        ("never another log's", full(at(9), vec![]), vec![seen(1, "bb22", at(1))], vec![]),
        ("another log's is not ours", full(at(9), vec![run(1)]), vec![seen(1, "bb22", at(1))], vec![Action::Start(instance(1))]),
    ] {
        assert_eq!(reconcile(&assigned(set), LOG, &seen), actions, "{case}");
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let noisy = || Behaviour { crash_permille: 500, start_fails_permille: 200, ..Behaviour::default() };
    let history = || {
        let wishes = (1..=50).map(|lease| wish(lease, Wanted::Run, &[])).collect();
        let bench = Bench::new(noisy()).told(full(at(1), wishes)).run(600_000);
        bench.heard
    };
    assert_eq!(history(), history());
}
