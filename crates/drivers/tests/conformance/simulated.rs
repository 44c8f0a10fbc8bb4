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
    servers: Arc<Mutex<Option<Servers>>>,
}

impl Backend for Fleet {
    fn driver(&mut self, log: &str) -> Box<dyn Driver> {
        let mut servers = self.servers.lock().expect("no test panics while it holds it");
        servers.get_or_insert_with(|| Servers { fleet: Simulated::new(log, Behaviour::default(), 11), now: Time(0) });
        Box::new(Shared(self.servers.clone()))
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
        let seen = Shared(self.servers.clone()).with(|fleet, now| fleet.observe(now)).seen;
        seen.iter().filter(|seen| seen.instance.lease == lease && seen.phase == units::Phase::Ready).count()
    }

    fn now(&self) -> Time {
        Shared(self.servers.clone()).with(|_, now| now)
    }

    fn pass(&mut self) {
        let mut servers = self.servers.lock().expect("no test panics while it holds it");
        let servers = servers.as_mut().expect("they were made with the first driver");
        servers.now = servers.now.plus_ms(50);
    }
}

/// Servers with a clock of their own: what a new agent finds is what the last one left.
struct Servers {
    fleet: Simulated,
    now: Time,
}

/// One agent's way to them. Of the agent's clock only durations get through.
struct Shared(Arc<Mutex<Option<Servers>>>);

impl Shared {
    fn with<T>(&self, ask: impl FnOnce(&mut Simulated, Time) -> T) -> T {
        let mut shared = self.0.lock().expect("no test panics while it holds it");
        let Servers { fleet, now } = shared.as_mut().expect("they were made with the first driver");
        ask(fleet, *now)
    }
}

/// An instant of the agent's clock by the servers'.
fn theirs(instant: Option<Time>, agents: Time, now: Time) -> Option<Time> {
    instant.map(|instant| now.plus_ms(instant.since(agents)))
}

impl Driver for Shared {
    fn observe(&mut self, _: Time) -> Listing {
        self.with(|fleet, now| fleet.observe(now))
    }

    fn look(&mut self, instance: Instance, _: Time) -> Result<Option<Observed>, Failure> {
        self.with(|fleet, now| fleet.look(instance, now))
    }

    fn start(&mut self, order: &Order, agents: Time) -> Result<(), Failure> {
        self.with(|fleet, now| fleet.start(&Order { stop_by: theirs(order.stop_by, agents, now), ..order.clone() }, now))
    }

    fn end(&mut self, instance: Instance, _: Time) -> Result<(), Failure> {
        self.with(|fleet, now| fleet.end(instance, now))
    }

    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, agents: Time) -> Result<(), Failure> {
        self.with(|fleet, now| fleet.set_deadline(instance, theirs(stop_by, agents, now), now))
    }

    fn logs(&mut self, instance: Instance, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
        self.with(|fleet, _| fleet.logs(instance, request))
    }

    fn exec(&mut self, instance: Instance, argv: &[String], tty: bool) -> Result<Session, Failure> {
        self.with(|fleet, _| fleet.exec(instance, argv, tty))
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
