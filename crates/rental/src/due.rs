//! What time itself demands, and how long nothing will be demanded. The one place for timers and for draining the queue.

use crate::{Command, State, decide, lease};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::{
    collections::BTreeSet,
    hash::{Hash, Hasher},
    ops::Bound::{Excluded, Unbounded},
};
use units::{Ask, LeaseId, Time};

/// Renewals are gathered up to this many leases: an entry stays small, and 100,000 leases cost about 400 entries an hour.
pub const GATHER_LEASES: usize = 256;
/// Renewals wait for others at most this long; charges end at the lease's own hour all the same.
pub const GATHER_MS: i64 = 10_000;

/// Waiting leases whose trial failed since anything last changed for the better. A shortcut that is never journaled:
/// with an empty memo the answer is the same.
#[derive(Debug, Default)]
pub struct Failed {
    room: u64,
    /// Prices are the same until then.
    until: Option<Time>,
    /// All up to here failed.
    upto: Option<(Time, LeaseId)>,
    /// Asks without a place, by hash, with a lease that made them.
    asks: FxHashMap<u64, LeaseId>,
    /// Leases that could not be paid for wherever they were placed.
    leases: FxHashSet<LeaseId>,
    /// Leases refused where they would have been placed: another place, once that one is taken, may suit them.
    choosy: BTreeSet<(Time, LeaseId)>,
    /// Whether a lease would fit an empty fleet: costs a copy of it to find out.
    ever: FxHashMap<LeaseId, bool>,
}

/// The command that is due at `now`, if any. It is never refused and always changes the next answer.
pub fn due(state: &State, now: Time, failed: &mut Failed) -> Option<Command> {
    ended(state, now).or_else(|| renewals(state, now)).or_else(|| admission(state, now, failed)).map(Command::Lease)
}

/// Until when nothing is due if nothing happens.
pub fn next_wakeup(state: &State, now: Time) -> Option<Time> {
    let end = state.lease.first_end().map(|(at, _)| at);
    let gathering = state.lease.due_for_renewal(now).next().map(|(at, _)| at.plus_ms(GATHER_MS));
    let boundary = state.lease.next_boundary(now);
    // Who waits may be able to pay another price.
    let prices = if state.lease.queue_len() > 0 { state.market.prices.next_change(now) } else { None };
    [end, gathering, boundary, prices].into_iter().flatten().min()
}

fn ended(state: &State, now: Time) -> Option<lease::Command> {
    let (at, lease) = state.lease.first_end()?;
    (at <= now).then_some(lease::Command::Expire { lease })
}

/// Fired when enough are due, when the oldest waited long enough, or at once when one cannot be afforded in full.
fn renewals(state: &State, now: Time) -> Option<lease::Command> {
    let mut leases = Vec::new();
    let mut urgent = false;
    for (at, lease) in state.lease.due_for_renewal(now).take(GATHER_LEASES) {
        urgent |= now.since(at) >= GATHER_MS || !affordable(state, lease);
        leases.push(lease.id);
    }
    (urgent || leases.len() == GATHER_LEASES).then_some(lease::Command::Renew { leases })
}

fn affordable(state: &State, lease: &lease::Lease) -> bool {
    let Some(priced) = lease.priced else { return true };
    let price = state.market.prices.at(priced.sku, lease.funded_until).map(|p| p.micro).unwrap_or_default();
    state.money.book(lease.tenant).available() >= price.rate(priced.milli).over(units::HOUR_MS)
}

/// The first waiting lease that could have its place now.
///
/// Who has waited past the bound and could go as soon as there is room keeps everybody behind from going before.
fn admission(state: &State, now: Time, failed: &mut Failed) -> Option<lease::Command> {
    failed.forget_what_changed(state, now);
    let bound = now.plus_ms(-state.market.policy.queue_bound_ms);
    for waiting in state.lease.waiting(None).take_while(|waiting| waiting.requested < bound) {
        match try_in(state, now, failed, waiting) {
            Trial::Passes => return Some(lease::Command::Admit { lease: waiting.id }),
            Trial::NoRoom if lease::could_pay(state, now, waiting) && failed.could_ever_fit(state, waiting) => return None,
            Trial::NoRoom | Trial::Refused => {}
        }
    }
    let patient = (bound.plus_ms(-1), LeaseId(u64::MAX));
    let again = failed.choosy.range((Excluded(patient), Unbounded)).map(|(_, id)| *id).collect::<Vec<_>>().into_iter();
    let again = again.filter_map(|id| state.lease.get(id).filter(|lease| lease.status == lease::Status::Queued));
    for waiting in again.chain(state.lease.waiting(failed.upto.max(Some(patient)))) {
        if try_in(state, now, failed, waiting) == Trial::Passes {
            return Some(lease::Command::Admit { lease: waiting.id });
        }
        failed.upto = failed.upto.max(Some((waiting.requested, waiting.id)));
    }
    None
}

/// How the trial of a waiting lease ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trial {
    Passes,
    NoRoom,
    /// Money or a limit.
    Refused,
}

fn try_in(state: &State, now: Time, failed: &mut Failed, waiting: &lease::Lease) -> Trial {
    if failed.knows(state, waiting) {
        return Trial::NoRoom;
    }
    if placement::find(state.fleet.devices(), &waiting.ask).is_none() {
        failed.asks.entry(shape(&waiting.ask)).or_insert(waiting.id);
        return Trial::NoRoom;
    }
    if failed.leases.contains(&waiting.id) || !lease::could_pay(state, now, waiting) {
        failed.leases.insert(waiting.id);
        return Trial::Refused;
    }
    let command = Command::Lease(lease::Command::Admit { lease: waiting.id });
    if decide(state, now, &command).is_err() {
        failed.choosy.insert((waiting.requested, waiting.id));
        return Trial::Refused;
    }
    Trial::Passes
}

impl Failed {
    fn forget_what_changed(&mut self, state: &State, now: Time) {
        if self.room != state.room || self.until.is_some_and(|until| until <= now) {
            let until = state.market.prices.next_change(now);
            *self = Failed { room: state.room, until, ..Failed::default() };
        }
    }

    fn could_ever_fit(&mut self, state: &State, waiting: &lease::Lease) -> bool {
        let fits = || placement::could_ever_fit(state.fleet.devices(), &waiting.ask);
        *self.ever.entry(waiting.id).or_insert_with(fits)
    }

    /// Whether an ask of the same shape found no place.
    fn knows(&self, state: &State, waiting: &lease::Lease) -> bool {
        let twin = self.asks.get(&shape(&waiting.ask)).and_then(|twin| state.lease.get(*twin));
        twin.is_some_and(|twin| same_shape(&twin.ask, &waiting.ask))
    }
}

/// Asks differ in their interval, which placement does not look at yet.
fn same_shape(a: &Ask, b: &Ask) -> bool {
    Ask { interval: a.interval, ..b.clone() } == *a
}

fn shape(ask: &Ask) -> u64 {
    let mut hasher = FxHasher::default();
    (ask.size, &ask.models, ask.card_memory_mib, ask.beside, ask.pool, &ask.labels).hash(&mut hasher);
    hasher.finish()
}
