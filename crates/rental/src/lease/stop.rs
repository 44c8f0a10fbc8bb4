//! The tenant stops a lease, or ends it for good. Said twice, it is done once.

use super::{
    Ended, Lease, Reason, Status, Stopping, Then,
    settle::{self, Ending},
};
use crate::{Event, Refusal, State as Root, draft::Draft};
use units::{Ticks, Time};

pub(super) fn stop(root: &Root, now: Time, lease: &Lease) -> Result<Vec<Event>, Refusal> {
    let mut draft = Draft::new(root, now);
    match lease.status {
        Status::Queued => end(&mut draft, lease, Reason::Cancelled),
        Status::Starting => take_down(&mut draft, lease, Then::End, Reason::Cancelled),
        Status::Running => take_down(&mut draft, lease, Then::Stop, Reason::Stopped),
        Status::Stopping(Then::Queue) => redirect(&mut draft, lease, Then::Stop, Reason::Stopped),
        Status::Stopping(_) | Status::Stopped => {}
    }
    Ok(draft.events)
}

pub(super) fn destroy(root: &Root, now: Time, lease: &Lease) -> Result<Vec<Event>, Refusal> {
    let mut draft = Draft::new(root, now);
    match lease.status {
        Status::Queued => end(&mut draft, lease, Reason::Cancelled),
        Status::Starting => take_down(&mut draft, lease, Then::End, Reason::Cancelled),
        Status::Running => take_down(&mut draft, lease, Then::End, Reason::Destroyed),
        Status::Stopping(Then::End) => {}
        Status::Stopping(_) => redirect(&mut draft, lease, Then::End, Reason::Destroyed),
        Status::Stopped => end(&mut draft, lease, Reason::Destroyed),
    }
    Ok(draft.events)
}

fn take_down(draft: &mut Draft<'_>, lease: &Lease, then: Then, reason: Reason) {
    let at = draft.now;
    settle::stop(draft, lease, Ending { at, then, reason, detail: String::new() });
}

/// Another end for a lease that is on its way down already; its money is settled.
fn redirect(draft: &mut Draft<'_>, lease: &Lease, then: Then, reason: Reason) {
    let event = Stopping {
        lease: lease.id,
        then,
        reason,
        detail: lease.detail.clone(),
        charged: Ticks::ZERO,
        unfunded_from: lease.unfunded_from,
        served_until: lease.served_until,
    };
    draft.lease(lease.tenant, event);
}

/// A lease without a place is over.
pub(super) fn end(draft: &mut Draft<'_>, lease: &Lease, reason: Reason) {
    let event = Ended { lease: lease.id, reason, detail: lease.detail.clone(), charged: lease.charged_before };
    draft.lease(lease.tenant, event);
}
