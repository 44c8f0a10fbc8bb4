//! Many seeds with all faults, and builds that are broken on purpose.

use simulator::faults::{Options, Report, Sabotage, run};

fn play(options: Options) -> Report {
    run(&options, &|_| {})
}

#[test]
fn no_invariant_breaks_while_everything_fails() {
    let report = play(Options { seeds: 40, commands: 800, ..Options::default() });
    if let Some(broken) = report.broken {
        panic!("{broken}");
    }
    assert_eq!(report.seeds, 40);
    // A simulation in which nothing happens proves nothing: every kind of fact about leases and money was written.
    for kind in [
        "lease.queued/1",
        "lease.placed/1",
        "lease.member_ready/1",
        "lease.started/1",
        "lease.renewed/1",
        "lease.extended/1",
        "lease.resized/1",
        "lease.stopping/1",
        "lease.service_ended/1",
        "lease.stopped/1",
        "lease.ended/1",
        "money.charged/1",
        "money.reversed/1",
        "money.lost/1",
        "fleet.cleared/1",
    ] {
        assert!(report.events.get(kind).is_some_and(|n| *n > 0), "{kind} never happened: {:?}", report.events);
    }
    for answer in ["repeated", "no_capacity", "insufficient_funds", "limit_reached", "queue_ahead", "crashes", "reboots"] {
        assert!(report.counts.get(answer).is_some_and(|n| *n > 0), "{answer} never happened: {:?}", report.counts);
    }
}

#[test]
fn a_seed_gives_the_same_history_each_time() {
    let again = || play(Options { first_seed: 7, seeds: 2, commands: 200, ..Options::default() });
    assert_eq!(serde_json::to_string(&again()).unwrap(), serde_json::to_string(&again()).unwrap());
}

#[test]
fn every_broken_build_is_caught_and_its_run_is_shortened() {
    for sabotage in Sabotage::ALL {
        let report = play(Options { seeds: 100, commands: 150, sabotage: Some(sabotage), ..Options::default() });
        let Some(broken) = report.broken else { panic!("{sabotage:?} went unnoticed: {:?}", report.events) };
        assert!(broken.needed.len() < 100, "{sabotage:?} was not shortened: {} of {}", broken.needed.len(), broken.commands);
        assert!(!broken.tail.is_empty(), "{sabotage:?}: the report shows no entry");
        assert!(broken.to_string().contains("--first-seed"), "{broken}");
    }
}
