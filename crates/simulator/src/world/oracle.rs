//! What must hold after every entry: the core's own invariants, and that books, assignments and machines agree.

use super::{Plane, Site};
use journal::Source;
use protocol::Instance;
use rental::{Event, Part, State, fleet, lease, market, money};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};
use units::{Assignment, DeviceId, Grant, LeaseId, NodeId, Phase, Time, Wanted};

/// Remembers what may only rise.
#[derive(Default)]
pub(crate) struct Oracle {
    seq: u64,
    time: Time,
    attempts: BTreeMap<LeaseId, u32>,
    answers: BTreeMap<u64, u64>,
    changed: BTreeMap<NodeId, u64>,
    /// What was usable once, and known to be: it may end, but not begin again.
    served: BTreeSet<Instance>,
    /// Whether the entries last inspected moved somebody's money from outside.
    pub money_moved: bool,
    /// How often each kind of event was seen.
    pub kinds: BTreeMap<String, u64>,
}

impl Oracle {
    /// Inspects what became durable since the last time.
    pub fn inspect(&mut self, plane: &Plane, sites: &[Site], now: Time) -> Result<(), String> {
        self.money_moved = false;
        let Some(state) = plane.state() else { return Ok(()) };
        plane.nothing_due(now)?;
        if state.seq == self.seq {
            return Ok(());
        }
        let clock = plane.clock(now).max(state.time);
        state.check(clock).map_err(|broken| broken.to_string())?;
        self.entries(plane, &state, sites, now)?;
        check_grants(&state)?;
        for site in sites {
            check_assignments(&state, site)?;
            check_truth(&state, site, now)?;
            self.check_starts(&state, site, now)?;
        }
        self.check_changed(&state)
    }

    /// A call under a key was answered by entry `seq`: always by the same.
    pub fn answered(&mut self, key: u64, seq: u64) -> Result<(), String> {
        match self.answers.insert(key, seq) {
            Some(first) if first != seq => Err(format!("a call was carried out twice: by entry {first} and by entry {seq}")),
            _ => Ok(()),
        }
    }

    fn entries(&mut self, plane: &Plane, state: &State, sites: &[Site], now: Time) -> Result<(), String> {
        let mut found = Ok(());
        let read = plane.disk.read(self.seq + 1, &mut |stored| {
            found = self.entry(&stored, state, sites, now);
            if found.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        read.map_err(|failure| failure.to_string())?;
        found?;
        if self.seq == state.seq {
            Ok(())
        } else {
            Err(format!("the state is at entry {}, the journal at {}", state.seq, self.seq))
        }
    }

    fn entry(&mut self, stored: &journal::Stored<'_>, state: &State, sites: &[Site], now: Time) -> Result<(), String> {
        let stamp = stored.stamp().map_err(|failure| failure.to_string())?;
        if stamp.seq != self.seq + 1 || stamp.time < self.time {
            return Err(format!("entry {} at {} follows entry {} at {}", stamp.seq, stamp.time, self.seq, self.time));
        }
        (self.seq, self.time) = (stamp.seq, stamp.time);
        for part in &stored.parts {
            let part = Part::decode(part.bytes, part.owner).map_err(|e| format!("entry {}: {e}", stamp.seq))?;
            for event in &part.events {
                *self.kinds.entry(event.kind().to_owned()).or_default() += 1;
                self.event(event, state, sites, now)?;
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, state: &State, sites: &[Site], now: Time) -> Result<(), String> {
        match event {
            Event::Fleet(fleet::Event::Cleared(e)) => {
                let mut cards = e.grants.iter().flat_map(|grant| state.fleet.whole_cards(grant));
                let dirty = |card: &DeviceId| sites.iter().any(|site| site.is_clean(*card, now) == Some(false));
                cards.find(dirty).map_or(Ok(()), |card| Err(format!("{card} was cleared and is not clean")))
            }
            Event::Lease(_, lease::Event::Placed(e)) => {
                let before = self.attempts.insert(e.lease, e.attempt).unwrap_or(0);
                let rises = e.attempt == before + 1;
                if rises { Ok(()) } else { Err(format!("{}: attempt {} follows attempt {before}", e.lease, e.attempt)) }
            }
            Event::Market(market::Event::PolicySet(_) | market::Event::PricesPublished(_))
            | Event::Money(_, money::Event::Paid(_) | money::Event::CreditSet(_) | money::Event::Adjusted(_)) => {
                self.money_moved = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// An attempt is started once: a workload that begins anew has lost what it was, and that must be said.
    fn check_starts(&mut self, state: &State, site: &Site, now: Time) -> Result<(), String> {
        let known = |at: Instance| {
            let member = state.lease.get(at.lease).and_then(|lease| lease.member(at.node));
            member.is_some_and(|member| member.seen == lease::Seen::Ready)
        };
        for seen in site.truth(now) {
            let again = matches!(seen.phase, Phase::Starting(_)) && self.served.contains(&seen.instance);
            if again {
                return Err(format!("{} was usable and is started again", seen.instance));
            }
            if seen.phase == Phase::Ready && known(seen.instance) {
                self.served.insert(seen.instance);
            }
        }
        Ok(())
    }

    fn check_changed(&mut self, state: &State) -> Result<(), String> {
        for node in state.fleet.nodes.keys() {
            let now = state.lease.node_changed(*node);
            let before = self.changed.insert(*node, now).unwrap_or(0);
            if now < before {
                return Err(format!("{node} was changed by entry {before} and now by the earlier entry {now}"));
            }
        }
        Ok(())
    }
}

/// The fleet's books are the sum of what leases have and of what waits to be measured clean.
fn check_grants(state: &State) -> Result<(), String> {
    let taken: Vec<Grant> = state.lease.all().flat_map(there).map(|member| member.grant.clone()).collect();
    let unclean: Vec<Grant> = state.fleet.waiting().map(|(_, grant)| grant.clone()).collect();
    state.fleet.devices().check_against(&taken, &unclean)
}

fn there(lease: &lease::Lease) -> impl Iterator<Item = &lease::Member> {
    lease.members.iter().filter(|member| member.seen != lease::Seen::Gone)
}

/// What agents are told is what leases have.
fn check_assignments(state: &State, site: &Site) -> Result<(), String> {
    let nodes: BTreeSet<NodeId> = site.nodes().collect();
    let mut expected: Vec<Assignment> = Vec::new();
    for lease in state.lease.all() {
        let wanted = if matches!(lease.status, lease::Status::Stopping(_)) { Wanted::End } else { Wanted::Run };
        for member in there(lease).filter(|member| nodes.contains(&member.grant.node)) {
            let (lease, attempt, changed) = (lease.id, lease.attempt, lease.changed);
            expected.push(Assignment { lease, attempt, changed, wanted, grant: member.grant.clone() });
        }
    }
    let mut told = rental::assignments(state, site.agent().id());
    let order = |a: &Assignment| (a.grant.node, a.lease);
    expected.sort_by_key(order);
    told.sort_by_key(order);
    if told == expected { Ok(()) } else { Err(format!("{} is told {told:?}, leases have {expected:?}", site.agent().id())) }
}

/// Whatever is on a machine, the journal knows to be there: so no card is given away under a workload, and nothing runs
/// that nobody rented.
fn check_truth(state: &State, site: &Site, now: Time) -> Result<(), String> {
    for seen in site.truth(now) {
        let at = seen.instance;
        let known = state.lease.get(at.lease).is_some_and(|l| l.attempt == at.attempt && l.member(at.node).is_some());
        if !known {
            return Err(format!("{at} is on its node ({:?}) and the journal does not hold it", seen.phase));
        }
    }
    Ok(())
}
