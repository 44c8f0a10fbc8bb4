//! A lease's own end has come: charged to that instant, however late it is noticed.

use super::{
    Reason, Status, Then,
    settle::{self, Ending},
    stop::end,
};
use crate::{Event, Refusal, State as Root, draft::Draft};
use units::{LeaseId, Time};

pub(super) fn decide(root: &Root, now: Time, lease: LeaseId) -> Result<Vec<Event>, Refusal> {
    let lease = root.lease.get(lease).ok_or_else(|| Refusal::missing(lease))?;
    let at = lease.ask.interval.until.filter(|end| *end <= now);
    let at = at.ok_or_else(|| Refusal::WrongState(format!("{} has not reached its end", lease.id)))?;
    let mut draft = Draft::new(root, now);
    match lease.status {
        Status::Queued | Status::Stopped => end(&mut draft, lease, Reason::EndReached),
        Status::Starting | Status::Running => {
            let ending = Ending { at, then: Then::End, reason: Reason::EndReached, detail: String::new() };
            settle::stop(&mut draft, lease, ending);
        }
        Status::Stopping(_) => {}
    }
    Ok(draft.events)
}
