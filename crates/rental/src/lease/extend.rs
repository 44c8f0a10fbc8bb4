//! A lease gets another end.

use super::{Extended, Lease, Status};
use crate::{Event, Refusal, State as Root, draft::Draft};
use units::Time;

pub(super) fn decide(root: &Root, now: Time, lease: &Lease, until: Option<Time>) -> Result<Vec<Event>, Refusal> {
    if matches!(lease.status, Status::Stopping(_)) {
        return Err(Refusal::WrongState(format!("{} is stopping", lease.id)));
    }
    if lease.ask.interval.until.is_some_and(|end| end <= now) {
        return Err(Refusal::WrongState(format!("{} has reached its end", lease.id)));
    }
    if until.is_some_and(|end| end <= now) {
        return Err(Refusal::invalid("until", format!("it must lie after {now}; to end the lease now, stop it")));
    }
    let mut draft = Draft::new(root, now);
    if lease.ask.interval.until != until {
        draft.lease(lease.tenant, Extended { lease: lease.id, until });
    }
    Ok(draft.events)
}
