//! The writer on a real store: batches, repeats, restarts, snapshots.

mod support;

use engine::{Engine, Rejected, Snapshots};
use journal::{Keys, Memory, Options, Sqlite};
use support::{furnish, order_with_key};
use units::Time;

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
        assert_eq!((repeat.seq, &repeat.events, repeat.repeated), (first.seq, &first.events, true));
    }
    assert!(matches!(order_with_key(&mut engine, START, 1, 2), Err(Rejected::KeyReused)));
    assert_eq!(engine.state().lease.len(), 1);
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
        snapshots.save(&engine.state()).unwrap();
        order_with_key(&mut engine, START.plus_ms(1), 2, 1).unwrap();
        engine.commit().unwrap();
        engine.state().clone()
    };
    assert_eq!(*on_disk(folder.path(), Some(&snapshots)).state(), before);
    std::fs::remove_dir_all(folder.path().join("snapshots")).unwrap();
    let again = on_disk(folder.path(), Some(&snapshots));
    assert_eq!(*again.state(), before);
}
