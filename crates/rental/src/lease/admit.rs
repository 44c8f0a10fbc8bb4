//! A waiting lease is let in, and until then it may keep others from going before it.

use super::{
    Lease, Status, ask,
    board::{self, Boarding, board},
    request,
};
use crate::{Event, Refusal, State as Root, draft::Draft};
use placement::could_ever_fit;
use units::{Ask, LeaseId, Time};

pub(crate) fn decide(root: &Root, now: Time, lease: LeaseId) -> Result<Vec<Event>, Refusal> {
    let waiting = root.lease.get(lease).filter(|l| l.status == Status::Queued).ok_or_else(|| Refusal::missing(lease))?;
    request::check_open(root, waiting.tenant)?;
    let ask = ranked(root, now, waiting)?;
    let mut draft = Draft::new(root, now);
    board(&mut draft, &Boarding::of(waiting, &ask))?;
    Ok(draft.events)
}

/// Whether a lease that has waited long enough goes before all behind it: nothing but room keeps it waiting.
///
/// One that nobody could pay for, or that no node could ever hold, blocks nobody.
pub(crate) fn goes_first(root: &Root, now: Time, waiting: &Lease) -> bool {
    let Ok(ask) = ranked(root, now, waiting) else { return false };
    let draft = &mut Draft::new(root, now);
    request::check_open(root, waiting.tenant).is_ok()
        && board::check_waiting(draft, &Boarding::of(waiting, &ask)).is_ok()
        && could_ever_fit(root.fleet.devices(), &ask)
}

/// What is asked for at today's prices; the time for which it was ordered stays.
fn ranked(root: &Root, now: Time, waiting: &Lease) -> Result<Ask, Refusal> {
    ask::rank(root, now, &waiting.ask).map(|ask| Ask { interval: waiting.ask.interval, ..ask })
}
