//! A small world: the production engine and agents on virtual time, simulated machines, lines and a disk that fail.
//!
//! ```text
//!  deeds (tenants, operator, faults) ─▶ Plane: Engine on Disk ◀─▶ server ◀─ Line ─▶ Site: Agent on Simulated
//!                                          │                                           │
//!                                          └────────────── Oracle: compares ───────────┘
//! ```
//!
//! Nothing here decides about leases. Time moves from one event to the next; everything is a function of the seed.

mod call;
mod disk;
mod found;
mod oracle;
mod plane;
mod sabotage;
mod server;
mod site;

pub(crate) use call::Call;
pub(crate) use disk::{Disk, DiskFault};
pub(crate) use found::{Plan, START, found};
pub(crate) use oracle::Oracle;
pub(crate) use plane::{Plane, Turn};
pub use sabotage::Sabotage;
pub(crate) use site::{Fate, Line, Site};

use crate::random::Random;
use protocol::{Changes, Report};
use site::POLL_MS;
use std::collections::{BTreeMap, BTreeSet};
use units::{LeaseId, TenantId, Time};

/// The server gathers changes for so long before it answers a poll that waits.
const GATHER_MS: i64 = 50;

/// So many events at one instant are a loop.
const AT_ONCE: u32 = 10_000;

/// What is on its way.
pub(crate) enum Mail {
    /// A report whose sender has given up on it.
    Report(Report),
    /// An answer to a poll that its asker has given up on: to which site, and to which life of its agent.
    Changes(usize, u32, Box<Changes>),
    /// A tenant repeats what was not answered.
    Repeat(Call),
}

/// Everything there is.
pub(crate) struct World {
    /// True time.
    pub now: Time,
    pub plane: Plane,
    pub sites: Vec<Site>,
    pub oracle: Oracle,
    pub tenants: Vec<TenantId>,
    pub counts: BTreeMap<&'static str, u64>,
    /// Leases that were ever given out, with whose they are.
    pub leases: BTreeSet<(LeaseId, TenantId)>,
    pub sabotage: Option<Sabotage>,
    /// Keys of calls, and names of payments, that were used.
    pub serial: u64,
    mail: BTreeMap<(Time, u64), Mail>,
    posted: u64,
    random: Random,
    /// The entry up to which polls were woken.
    woken: u64,
}

impl World {
    /// Moves time on to `target`, event by event.
    pub fn advance(&mut self, target: Time) -> Result<(), String> {
        let mut at_once = 0;
        while let Some(at) = self.next_event().filter(|at| *at <= target) {
            at_once = if at > self.now { 0 } else { at_once + 1 };
            if at_once > AT_ONCE {
                let sites: Vec<_> = self.sites.iter().map(Site::next).collect();
                return Err(format!("time stands still: plane {}, sites {sites:?}", self.plane.next_turn));
            }
            self.now = self.now.max(at);
            self.event()?;
        }
        self.now = target;
        Ok(())
    }

    fn next_event(&self) -> Option<Time> {
        let mail = self.mail.keys().next().map(|(at, _)| *at);
        let sites = self.sites.iter().map(Site::next).min();
        [mail, sites, Some(self.plane.next_turn)].into_iter().flatten().min()
    }

    fn event(&mut self) -> Result<(), String> {
        let now = self.now;
        if self.plane.next_turn <= now {
            return self.turn().map(|_| ());
        }
        if self.mail.keys().next().is_some_and(|(at, _)| *at <= now) {
            let (_, mail) = self.mail.pop_first().expect("it was just seen");
            return self.deliver(mail);
        }
        let Some(site) = (0..self.sites.len()).find(|site| self.sites[*site].next() <= now) else { return Ok(()) };
        if !self.sites[site].is_up(now) {
            return Ok(());
        }
        if self.sites[site].next_step <= now { self.step(site) } else { self.poll(site) }
    }

    /// The plane does what is due; whatever became durable is inspected, and those whom it concerns are woken.
    pub fn turn(&mut self) -> Result<Turn, String> {
        let turn = self.plane.turn(self.now)?;
        if turn == Turn::Done {
            self.oracle.inspect(&self.plane, &self.sites, self.now)?;
            self.wake();
        }
        Ok(turn)
    }

    fn wake(&mut self) {
        let Some(state) = self.plane.state() else { return };
        let (seq, soon) = (state.seq, self.now.plus_ms(GATHER_MS));
        // Deadlines move with money, so everybody may be concerned: an answer without news is cheap.
        if seq != self.woken {
            for site in &mut self.sites {
                let concerned = site.nodes().any(|node| state.lease.node_changed(node) > self.woken);
                if concerned || self.oracle.money_moved {
                    site.next_poll = site.next_poll.min(soon);
                }
            }
            self.woken = seq;
        }
    }

    fn step(&mut self, at: usize) -> Result<(), String> {
        let now = self.now;
        let site = &mut self.sites[at];
        site.start_unassigned(self.sabotage, now);
        let Some(report) = site.step(now) else { return Ok(()) };
        match site.fate(now) {
            Fate::Lost => site.back_off(now),
            Fate::Late(ms) => {
                site.back_off(now);
                self.post(ms, Mail::Report(report));
            }
            fate => {
                let taken = self.take(&report)?;
                let site = &mut self.sites[at];
                if taken && fate == Fate::Answered {
                    site.acknowledge(&report, now);
                } else {
                    site.back_off(now);
                }
            }
        }
        Ok(())
    }

    /// Whether the control plane took a report, durably.
    fn take(&mut self, report: &Report) -> Result<bool, String> {
        let heard = server::report(&mut self.plane, report, self.now);
        Ok(heard && self.turn()? == Turn::Done)
    }

    fn poll(&mut self, at: usize) -> Result<(), String> {
        let now = self.now;
        let ask = self.sites[at].ask(self.plane.clock(now));
        let fate = self.sites[at].fate(now);
        self.sites[at].next_poll = now.plus_ms(POLL_MS);
        let answer = if fate == Fate::Lost { None } else { server::poll(&mut self.plane, &ask, now) };
        match (fate, answer) {
            (Fate::Answered, Some(changes)) => self.sites[at].hear(changes, now)?,
            (fate, answer) => {
                self.sites[at].poll_again(now);
                if let (Fate::Late(ms), Some(changes)) = (fate, answer) {
                    self.post(ms, Mail::Changes(at, self.sites[at].life, Box::new(changes)));
                }
            }
        }
        Ok(())
    }

    /// Sends something that arrives after so many milliseconds.
    pub fn post(&mut self, ms: i64, mail: Mail) {
        self.posted += 1;
        self.mail.insert((self.now.plus_ms(ms), self.posted), mail);
    }

    fn deliver(&mut self, mail: Mail) -> Result<(), String> {
        match mail {
            Mail::Report(report) => self.take(&report).map(|_| ()),
            Mail::Changes(site, life, _) if self.sites[site].life != life => Ok(()),
            Mail::Changes(site, _, changes) => self.sites[site].hear(*changes, self.now),
            Mail::Repeat(call) => self.call(call),
        }
    }

    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}

/// Breakage that is not in what is written but in what is done.
impl World {
    pub fn sabotage(&mut self, random: &mut Random) -> Result<(), String> {
        match self.sabotage {
            Some(Sabotage::FreeEarly) => self.free_early(random),
            Some(Sabotage::ClearUnmeasured) => self.clear_unmeasured(),
            _ => Ok(()),
        }
    }

    /// A lease that runs is said to be gone from its node.
    fn free_early(&mut self, random: &mut Random) -> Result<(), String> {
        let running: Vec<_> = self.sites.iter().flat_map(|site| site.truth(self.now)).map(|seen| seen.instance).collect();
        let Some(instance) = random.pick(&running) else { return Ok(()) };
        let seen = units::Observation {
            lease: instance.lease,
            attempt: instance.attempt,
            node: instance.node,
            phase: units::Phase::Gone,
            ago_ms: 0,
        };
        let command = rental::Command::Lease(rental::lease::Command::report(seen, self.plane.clock(self.now)));
        self.call(Call::plain(units::Owner::OPERATOR, command))
    }

    fn clear_unmeasured(&mut self) -> Result<(), String> {
        let devices = self.sites.iter().flat_map(Site::uuids).map(|(device, _)| device).collect();
        let command = rental::Command::Fleet(rental::fleet::Command::Clear { devices, heard: None });
        self.call(Call::plain(units::Owner::OPERATOR, command))
    }
}
