//! A waiting lease is let in.

use super::{
    Lease, Status, ask,
    board::{self, Boarding, board},
    request,
};
use crate::{Event, Refusal, State as Root, draft::Draft};
use units::{Ask, LeaseId, Time};

pub(crate) fn decide(root: &Root, now: Time, lease: LeaseId) -> Result<Vec<Event>, Refusal> {
    let waiting = root.lease.get(lease).filter(|l| l.status == Status::Queued).ok_or_else(|| Refusal::missing(lease))?;
    request::check_open(root, waiting.tenant)?;
    let ask = ranked(root, now, waiting)?;
    let mut draft = Draft::new(root, now);
    board(&mut draft, &Boarding::of(waiting, &ask))?;
    Ok(draft.events)
}

/// Whether the tenant could have it at today's prices if there were room: only who waits for nothing but room keeps others
/// from going before him.
pub(crate) fn could_pay(root: &Root, now: Time, waiting: &Lease) -> bool {
    let Ok(ask) = ranked(root, now, waiting) else { return false };
    request::check_open(root, waiting.tenant).is_ok()
        && board::check_waiting(&mut Draft::new(root, now), &Boarding::of(waiting, &ask)).is_ok()
}

/// What is asked for at today's prices; the time for which it was ordered stays.
fn ranked(root: &Root, now: Time, waiting: &Lease) -> Result<Ask, Refusal> {
    ask::rank(root, now, &waiting.ask).map(|ask| Ask { interval: waiting.ask.interval, ..ask })
}
