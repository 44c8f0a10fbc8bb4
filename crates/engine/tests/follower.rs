//! The views behind a running writer: they come after every commit, and mend themselves.

mod support;

use engine::{Clock, Engine, Handle, Settings, Submission, views::*};
use journal::{Options, Sqlite};
use rental::{Command, lease};
use std::{path::Path, time::Duration};
use support::{dump, furnish, order};
use units::{LeaseId, NodeId, Observation, Phase, TenantId};

const TA: TenantId = TenantId(1);

fn ten<T>() -> Page<T> {
    Page { after: None, limit: 10, newest_first: false }
}

#[test]
fn a_follower_comes_after_every_commit_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path(), &Options::default()).unwrap();
    let reader = store.reader().unwrap();
    let settings = Settings { snapshots: None, reader: store.reader().unwrap(), clock: Clock::start() };
    let mut engine = Engine::with_state(Box::new(store), rental::State::default()).unwrap();
    furnish(&mut engine, settings.clock.now());
    let handle = Handle::spawn(engine, settings);
    let path = folder.path().join("views.sqlite");
    let follow = || Follower::spawn(&path, reader.try_clone().unwrap(), &handle).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for round in 1..3 {
        let follower = follow();
        let seq = handle.submit_blocking(Submission::plain("key-1", order())).unwrap().seq.unwrap();
        assert!(runtime.block_on(follower.wait_for(seq, Duration::from_secs(20))));
        let found = follower.query(|q| q.within(TA).leases(&LeaseFilter::default(), ten())).unwrap();
        assert_eq!(found.len(), round);
        assert_eq!((follower.lag(), follower.failure()), (Lag::default(), None));
        assert!(!runtime.block_on(follower.wait_for(seq + 1, Duration::ZERO)), "an entry that is not there yet");
    }
    handle.shut_down();
    let anew = folder.path().join("anew.sqlite");
    Views::open(&anew, handle.keys().log()).unwrap().advance(&reader).unwrap();
    assert_eq!(dump(&path), dump(&anew), "what it had from the writer's memory is what the journal says");
}

/// A follower of a journal with one lease that runs.
fn followed(folder: &Path) -> (Handle, Follower, journal::Reader) {
    let store = Sqlite::open(folder, &Options::default()).unwrap();
    let reader = store.reader().unwrap();
    let settings = Settings { snapshots: None, reader: store.reader().unwrap(), clock: Clock::start() };
    let mut engine = Engine::open(Box::new(store), None, &mut reader.try_clone().unwrap()).unwrap();
    if engine.head().size == 0 {
        furnish(&mut engine, settings.clock.now());
        engine.submit(settings.clock.now(), Submission::plain("key-1", order())).unwrap();
        engine.commit().unwrap();
    }
    let handle = Handle::spawn(engine, settings);
    let follower = Follower::spawn(&folder.join("views.sqlite"), reader.try_clone().unwrap(), &handle).unwrap();
    (handle, follower, reader)
}

fn caught_up(handle: &Handle, follower: &Follower) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(follower.wait_for(handle.head().size, Duration::from_secs(20)))
}

/// Leaves views that are complete behind.
fn follow_and_stop(folder: &Path) {
    let (handle, follower, _) = followed(folder);
    assert!(caught_up(&handle, &follower));
    drop(follower);
    handle.shut_down();
}

#[test]
fn views_that_lack_what_they_were_told_are_folded_anew_while_they_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("views.sqlite");
    follow_and_stop(folder.path());
    rusqlite::Connection::open(&path).unwrap().execute("DELETE FROM lease", []).unwrap();

    let (handle, follower, reader) = followed(folder.path());
    let seen = Observation { lease: LeaseId(1), attempt: 1, node: NodeId(1), phase: Phase::Ready, ago_ms: 0 };
    let report = Command::Lease(lease::Command::report(seen, handle.now()));
    handle.submit_blocking(Submission::plain("agent-1", report)).unwrap();
    assert!(caught_up(&handle, &follower));
    assert_eq!(follower.failure(), None);
    drop(follower);
    handle.shut_down();
    let anew = folder.path().join("anew.sqlite");
    Views::open(&anew, handle.keys().log()).unwrap().advance(&reader).unwrap();
    assert_eq!(dump(&path), dump(&anew));
}

#[test]
fn views_whose_pages_are_noise_are_folded_anew_when_somebody_meets_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("views.sqlite");
    follow_and_stop(folder.path());
    rusqlite::Connection::open(&path).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // All but the first two pages, with the schema and how far it has come.
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    bytes[2 * size..].fill(7);
    std::fs::write(&path, bytes).unwrap();

    let (handle, follower, _) = followed(folder.path());
    let list = || follower.query(|q| q.within(Scope::All).leases(&LeaseFilter::default(), ten()));
    let begun = std::time::Instant::now();
    while list().ok().is_none_or(|leases| leases.len() != 1) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", list().err());
        std::thread::yield_now();
    }
    assert!(caught_up(&handle, &follower));
    handle.shut_down();
}
