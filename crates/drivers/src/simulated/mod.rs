//! A driver that runs nothing: delays, failures and noise from a seed, time from its caller.
//!
//! Deterministic and cheap, for simulations of millions of commands and for the demo fleet. A workload waits for
//! ever, except: argv `exit CODE` ends at once, `print TEXT` writes a line, and `SIMULATED_RUN_MS` in its
//! environment ends it with 0 after so many milliseconds.

mod faults;
mod fleet;
mod random;
mod workload;

pub use fleet::{demo, node};

use crate::{Cleanliness, Driver, Failure, Listing, LogRequest, Observed, Order, Session, SessionControl, Wake};
use faults::Faults;
use protocol::Instance;
use random::Random;
use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
    sync::Arc,
};
use units::{Phase, Time};
use workload::SimulatedWorkload;

/// How simulated workloads behave. Ranges are milliseconds, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// From start to ready.
    pub start_ms: (u32, u32),
    /// From the order to end until nothing is left.
    pub end_ms: (u32, u32),
    /// From then until the device measures clean.
    pub scrub_ms: (u32, u32),
    /// Starts that fail, in permille.
    pub start_fails_permille: u32,
    /// Workloads that crash by themselves with code 1 within `crash_ms`, in permille.
    pub crash_permille: u32,
    /// When a crash comes, after ready.
    pub crash_ms: (u32, u32),
}

impl Default for Behaviour {
    /// A process lease on a quiet host; nothing fails by itself.
    fn default() -> Self {
        Behaviour {
            start_ms: (200, 800),
            end_ms: (50, 300),
            scrub_ms: (0, 1_000),
            start_fails_permille: 0,
            crash_permille: 0,
            crash_ms: (60_000, 3_600_000),
        }
    }
}

/// Workloads and the chance that moves them.
#[derive(Debug)]
pub struct Simulated {
    log: Arc<str>,
    behaviour: Behaviour,
    random: Random,
    workloads: BTreeMap<Instance, SimulatedWorkload>,
    /// When a device measures clean, while it does not.
    dirty: BTreeMap<String, Time>,
    faults: Faults,
}

impl Simulated {
    /// A backend with nothing on it, working for the log of this id. It takes whatever node and device it is told.
    pub fn new(log: &str, behaviour: Behaviour, seed: u64) -> Simulated {
        Simulated {
            log: log.into(),
            behaviour,
            random: Random::new(seed),
            workloads: BTreeMap::new(),
            dirty: BTreeMap::new(),
            faults: Faults::default(),
        }
    }

    /// Lets time pass: what was being ended and has ended is removed, and dirties its devices for a while.
    fn advance(&mut self, now: Time) {
        let ended: Vec<Instance> = self.workloads.iter().filter(|(_, w)| w.is_gone(now)).map(|(instance, _)| *instance).collect();
        for instance in ended {
            let Some(workload) = self.workloads.remove(&instance) else { continue };
            let clean_at = now.plus_ms(self.random.within(self.behaviour.scrub_ms));
            self.dirty.extend(workload.devices.into_iter().map(|uuid| (uuid, clean_at)));
        }
        self.dirty.retain(|_, clean_at| *clean_at > now);
    }

    fn found(&mut self, instance: Instance) -> Result<&mut SimulatedWorkload, Failure> {
        self.workloads
            .get_mut(&instance)
            .ok_or_else(|| Failure::lasting(format!("find {instance}"), "no such workload is simulated"))
    }
}

impl Driver for Simulated {
    fn observe(&mut self, now: Time) -> Listing {
        self.advance(now);
        match self.faults.listing(now) {
            faults::Answer::Silence(failure) => Listing { seen: Vec::new(), failures: vec![failure] },
            faults::Answer::Nothing => Listing::default(),
            faults::Answer::Truth => {
                let seen = self.workloads.iter().map(|(instance, w)| w.observed(&self.log, *instance, now)).collect();
                Listing { seen, failures: Vec::new() }
            }
        }
    }

    fn look(&mut self, instance: Instance, now: Time) -> Result<Option<Observed>, Failure> {
        self.advance(now);
        self.faults.check(now)?;
        Ok(self.workloads.get(&instance).map(|w| w.observed(&self.log, instance, now)))
    }

    fn start(&mut self, order: &Order, now: Time) -> Result<(), Failure> {
        self.faults.check(now)?;
        if self.workloads.contains_key(&order.instance) {
            return Ok(());
        }
        if let Some(device) = order.devices.iter().find(|d| self.faults.lost(&d.uuid).is_some()) {
            return Err(Failure::lasting("start", format!("device {} is lost", device.uuid)));
        }
        let workload = SimulatedWorkload::start(order, &self.behaviour, &mut self.random, now);
        self.workloads.insert(order.instance, workload);
        Ok(())
    }

    fn end(&mut self, instance: Instance, now: Time) -> Result<(), Failure> {
        self.faults.check(now)?;
        let takes = self.random.within(self.behaviour.end_ms);
        if let Some(workload) = self.workloads.get_mut(&instance) {
            workload.end(now.plus_ms(takes));
        }
        Ok(())
    }

    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, now: Time) -> Result<(), Failure> {
        self.faults.check(now)?;
        self.found(instance)?.stop_by = stop_by;
        Ok(())
    }

    fn measure_clean(&mut self, uuid: &str, now: Time) -> Result<Cleanliness, Failure> {
        self.advance(now);
        self.faults.check(now)?;
        Ok(match self.dirty.get(uuid) {
            Some(_) => Cleanliness::Occupied { why: "memory of the last lease is still mapped".into() },
            None => Cleanliness::Clean,
        })
    }

    fn faults(&mut self, _now: Time) -> Vec<(String, String)> {
        self.faults.devices()
    }

    fn wake(&self, now: Time) -> Wake {
        let changes = self.workloads.values().filter_map(|workload| workload.next_change(now));
        let others = self.dirty.values().copied().chain(self.faults.until());
        let earliest = changes.chain(others.filter(|at| *at > now)).min();
        earliest.map_or(Wake::Never, Wake::At)
    }

    fn logs(&mut self, instance: Instance, _request: LogRequest) -> Result<Box<dyn Read + Send>, Failure> {
        Ok(Box::new(Cursor::new(self.found(instance)?.output.clone())))
    }

    fn exec(&mut self, instance: Instance, argv: &[String], _tty: bool) -> Result<Session, Failure> {
        self.found(instance)?;
        let output = format!("simulated: {}\n", argv.join(" "));
        Ok(Session { input: Box::new(std::io::sink()), output: Box::new(Cursor::new(output)), control: Box::new(Done) })
    }
}

/// A command that has ended before it began.
struct Done;

impl SessionControl for Done {
    fn resize(&mut self, _columns: u16, _rows: u16) -> Result<(), Failure> {
        Ok(())
    }

    fn wait(&mut self) -> Result<i32, Failure> {
        Ok(0)
    }
}

/// What tests and simulations do to a fleet.
impl Simulated {
    /// The backend answers nothing until then.
    pub fn silence(&mut self, until: Time) {
        self.faults.silence(until);
    }

    /// The next so many listings are empty, and say that they are complete.
    pub fn lie_empty(&mut self, listings: u32) {
        self.faults.lie_empty(listings);
    }

    /// A workload ends with this code.
    pub fn crash(&mut self, instance: Instance, code: i32, now: Time) {
        if let Some(workload) = self.workloads.get_mut(&instance) {
            workload.finish(Phase::Exited(code), now);
        }
    }

    /// A workload is lost without any record, as by a reinstalled host.
    pub fn vanish(&mut self, instance: Instance) {
        self.workloads.remove(&instance);
    }

    /// A device falls off the bus; workloads on it fail.
    pub fn lose_device(&mut self, uuid: &str, now: Time) {
        self.faults.lose(uuid);
        for workload in self.workloads.values_mut().filter(|w| w.devices.iter().any(|d| d == uuid)) {
            workload.finish(Phase::Failed(format!("device {uuid} is lost")), now);
        }
    }

    /// A lost device is back.
    pub fn restore_device(&mut self, uuid: &str) {
        self.faults.restore(uuid);
    }

    /// The machine restarts: everything on it is gone, without a record.
    pub fn reboot(&mut self, node: units::NodeId) {
        self.workloads.retain(|instance, _| instance.node != node);
    }

    /// What is really there, whatever faults are in force.
    pub fn truth(&self, now: Time) -> impl Iterator<Item = Observed> + '_ {
        let there = self.workloads.iter().filter(move |(_, w)| !w.is_gone(now));
        there.map(move |(instance, w)| w.observed(&self.log, *instance, now))
    }

    /// Whether a device really holds nothing, whatever faults are in force.
    pub fn is_clean(&self, uuid: &str, now: Time) -> bool {
        let dirty = self.dirty.get(uuid).is_some_and(|clean_at| *clean_at > now);
        !dirty && !self.workloads.values().any(|w| w.devices.iter().any(|d| d == uuid))
    }

    /// How many workloads are there, in whichever phase.
    pub fn len(&self) -> usize {
        self.workloads.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.workloads.is_empty()
    }
}
