//! The writer on a real store: batches, repeats, restarts, snapshots.

mod support;

use engine::{Engine, Idempotency, Image, Rejected, Snapshots, Submission};
use journal::{Keys, Memory, Options, Sqlite};
use rental::{Command, lease, market, tenancy};
use support::{TENANT, furnish, order_with_key};
use units::{AgentId, LeaseId, NodeId, Observation, Phase, Ticks, Time};

const START: Time = Time(1_000_000_000_000);

fn in_memory() -> Engine {
    let mut engine = Engine::with_state(Box::new(Memory::new(Keys::from_seed(1))), rental::State::default()).unwrap();
    furnish(&mut engine, START);
    engine
}

fn on_disk(folder: &std::path::Path, snapshots: Option<&Snapshots>) -> Engine {
    let store = Sqlite::open(folder, &Options::default()).unwrap();
    let mut reader = store.reader().unwrap();
    Engine::open(Box::new(store), snapshots, &mut reader).unwrap()
}

#[test]
fn a_repeat_gets_the_first_answer_and_another_request_under_its_key_is_refused() {
    let mut engine = in_memory();
    let first = order_with_key(&mut engine, START, 1, 1).unwrap();
    let within_the_batch = order_with_key(&mut engine, START, 1, 1).unwrap();
    engine.commit().unwrap();
    let after_it = order_with_key(&mut engine, START.plus_ms(5), 1, 1).unwrap();
    for repeat in [within_the_batch, after_it] {
        assert_eq!((repeat.seq, &repeat.parts, repeat.repeated), (first.seq, &first.parts, true));
    }
    assert!(matches!(order_with_key(&mut engine, START, 1, 2), Err(Rejected::KeyReused)));
    assert_eq!(engine.state().lease.len(), 1);
}

#[test]
fn a_repeat_of_what_changed_nothing_changes_nothing_either() {
    let mut engine = in_memory();
    let close = |engine: &mut Engine, closed, key: u8| {
        let idempotency = Some(Idempotency { owner: TENANT.into(), key: [key; 32], request: [key; 32] });
        let command = Command::Tenancy(tenancy::Command::CloseTenant { tenant: TENANT, closed });
        let answer = engine.submit(START, Submission { idempotency, ..Submission::plain("key-1", command) }).unwrap();
        engine.commit().unwrap();
        answer
    };
    let first = close(&mut engine, false, 1);
    assert_eq!(first.events().count(), 0, "it was open already");
    close(&mut engine, true, 2);
    let again = close(&mut engine, false, 1);
    assert_eq!((again.seq, again.repeated), (first.seq, true));
    assert!(engine.state().tenancy.tenants.get(&TENANT).unwrap().closed);
    let bare = Command::Tenancy(tenancy::Command::CloseTenant { tenant: TENANT, closed: true });
    assert_eq!(engine.submit(START, Submission::plain("key-1", bare)).unwrap().seq, None);
}

#[test]
fn nothing_is_published_before_it_is_committed() {
    let mut engine = in_memory();
    order_with_key(&mut engine, START, 1, 1).unwrap();
    assert_eq!(engine.state().lease.len(), 0);
    engine.commit().unwrap();
    assert_eq!(engine.state().lease.len(), 1);
}

#[test]
fn a_restart_with_or_without_snapshots_gives_the_same_state() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = Snapshots::new(folder.path().join("snapshots"));
    let before = {
        let mut engine = on_disk(folder.path(), None);
        furnish(&mut engine, START);
        order_with_key(&mut engine, START, 1, 1).unwrap();
        engine.commit().unwrap();
        snapshots.save(&Image::of(&engine.state()).unwrap(), engine.source()).unwrap();
        order_with_key(&mut engine, START.plus_ms(1), 2, 1).unwrap();
        engine.commit().unwrap();
        engine.state().clone()
    };
    assert_eq!(*on_disk(folder.path(), Some(&snapshots)).state(), before);
    std::fs::remove_dir_all(folder.path().join("snapshots")).unwrap();
    let again = on_disk(folder.path(), Some(&snapshots));
    assert_eq!(*again.state(), before);
}

#[test]
fn a_node_that_never_comes_back_after_a_restart_is_charged_to_when_it_was_last_heard() {
    let folder = tempfile::tempdir().unwrap();
    let minute = |n: i64| START.plus_ms(n * 60_000);
    let submit = |engine: &mut Engine, now, command| engine.submit(now, Submission::plain("test", command)).unwrap();
    {
        let mut engine = on_disk(folder.path(), None);
        furnish(&mut engine, START);
        let policy = market::Policy { lost_after_ms: 600_000, ..market::Policy::default() };
        submit(&mut engine, START, Command::Market(market::Command::SetPolicy(policy)));
        submit(&mut engine, START, support::order());
        let (lease, node) = (LeaseId(1), NodeId(1));
        let seen = Observation { lease, attempt: 1, node, phase: Phase::Ready, ago_ms: 0 };
        submit(&mut engine, START, Command::Lease(lease::Command::report(seen, START)));
        for n in 0..=10 {
            engine.liveness().heard(AgentId(1), minute(n), None);
            engine.step(minute(n)).unwrap();
        }
    }
    let mut engine = on_disk(folder.path(), None);
    for n in 11..=30 {
        engine.step(minute(n)).unwrap();
    }
    let state = engine.state();
    let lease = state.lease.get(LeaseId(1)).unwrap();
    assert_eq!(lease.reason, Some(lease::Reason::Lost));
    // One core at 36 CNY an hour, ten minutes.
    assert_eq!(lease.charged_before, Ticks::from_cny(6));
}

#[test]
fn a_snapshot_that_is_damaged_or_of_another_history_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = Snapshots::new(folder.path().join("snapshots"));
    let mut engine = on_disk(folder.path(), None);
    furnish(&mut engine, START);
    order_with_key(&mut engine, START, 1, 1).unwrap();
    engine.commit().unwrap();
    snapshots.save(&Image::of(&engine.state()).unwrap(), engine.source()).unwrap();
    let whole = snapshots.load(engine.source()).unwrap();
    assert_eq!(whole, *engine.state());

    let file = std::fs::read_dir(folder.path().join("snapshots")).unwrap().next().unwrap().unwrap().path();
    let written = std::fs::read(&file).unwrap();
    for at in (0..written.len()).step_by(7) {
        let (mut flipped, mut zeroed) = (written.clone(), written.clone());
        flipped[at] ^= 1;
        zeroed[at..].fill(0);
        for spoiled in [&flipped[..], &zeroed, &written[..at]] {
            std::fs::write(&file, spoiled).unwrap();
            assert!(spoiled == written || snapshots.load(engine.source()).unwrap().seq == 0, "at {at}");
        }
    }
    std::fs::write(&file, &written).unwrap();

    // A log of as many entries in which other things happened: the same folder, restored and gone on.
    let mut other = in_memory();
    while other.head().size < engine.head().size {
        order_with_key(&mut other, START.plus_ms(1), 1, 1).unwrap();
        other.commit().unwrap();
    }
    assert_eq!(snapshots.load(other.source()).unwrap().seq, 0);
    assert_eq!(snapshots.load(engine.source()).unwrap(), whole);
}
