//! The suite on the simulated backend.

use super::bench::{Backend, Kind};
use drivers::{
    Driver, Failure, Listing, LogRequest, Observed, Order, Session,
    simulated::{Behaviour, Simulated},
};
use protocol::Instance;
use std::{
    io::Read,
    sync::{Arc, Mutex},
};
use units::{LeaseId, Time, Workload};

#[derive(Default)]
struct Fleet {
    shared: Arc<Mutex<Option<Simulated>>>,
    now: i64,
}

impl Backend for Fleet {
    fn driver(&mut self, log: &str) -> Box<dyn Driver> {
        let mut shared = self.shared.lock().expect("no test panics while it holds it");
        shared.get_or_insert_with(|| Simulated::new(log, Behaviour::default(), 11));
        Box::new(Shared(self.shared.clone()))
    }

    fn workload(&self, kind: Kind) -> Workload {
        let argv = match kind {
            Kind::Exits(code) => vec!["exit".to_owned(), code.to_string()],
            Kind::Prints(line) => vec!["print".to_owned(), line.to_owned()],
            _ => vec![],
        };
        Workload { argv, ..Workload::default() }
    }

    fn processes(&self, _log: &str, lease: LeaseId) -> usize {
        let mut driver = Shared(self.shared.clone());
        let seen = driver.observe(self.now()).seen;
        seen.iter().filter(|seen| seen.instance.lease == lease && seen.phase == units::Phase::Ready).count()
    }

    fn now(&self) -> Time {
        Time(self.now)
    }

    fn pass(&mut self) {
        self.now += 50;
    }
}

/// What a new agent finds is what the last one left.
struct Shared(Arc<Mutex<Option<Simulated>>>);

impl Shared {
    fn with<T>(&self, ask: impl FnOnce(&mut Simulated) -> T) -> T {
        let mut shared = self.0.lock().expect("no test panics while it holds it");
        ask(shared.as_mut().expect("it was made with the first driver"))
    }
}

impl Driver for Shared {
    fn observe(&mut self, now: Time) -> Listing {
        self.with(|fleet| fleet.observe(now))
    }

    fn look(&mut self, instance: Instance, now: Time) -> Result<Option<Observed>, Failure> {
        self.with(|fleet| fleet.look(instance, now))
    }

    fn start(&mut self, order: &Order, now: Time) -> Result<(), Failure> {
        self.with(|fleet| fleet.start(order, now))
    }

    fn end(&mut self, instance: Instance, now: Time) -> Result<(), Failure> {
        self.with(|fleet| fleet.end(instance, now))
    }

    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, now: Time) -> Result<(), Failure> {
        self.with(|fleet| fleet.set_deadline(instance, stop_by, now))
    }

    fn logs(&mut self, instance: Instance, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
        self.with(|fleet| fleet.logs(instance, request))
    }

    fn exec(&mut self, instance: Instance, argv: &[String], tty: bool) -> Result<Session, Failure> {
        self.with(|fleet| fleet.exec(instance, argv, tty))
    }
}

crate::conforms! { Some(Fleet::default());
    a_lease_is_started_seen_ended_and_gone
    starting_again_makes_no_second_copy
    the_exit_status_is_kept
    the_output_is_kept
    a_new_agent_adopts_what_runs
    a_new_agent_ends_what_is_no_longer_assigned
    an_end_right_after_the_start_leaves_nothing
    the_deadline_is_kept_without_an_agent
    a_moved_deadline_is_kept
}
