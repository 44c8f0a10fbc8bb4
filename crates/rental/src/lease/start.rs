//! A stopped lease is started again: as an order of what it asked for, under its old number.

use super::{Lease, Status, ask, board::Boarding, request};
use crate::{Event, Refusal, State as Root, draft::Draft};
use units::Time;

pub(super) fn decide(root: &Root, now: Time, lease: &Lease, wait: bool) -> Result<Vec<Event>, Refusal> {
    match lease.status {
        Status::Queued | Status::Starting | Status::Running => return Ok(Vec::new()),
        Status::Stopping(_) => {
            return Err(Refusal::WrongState(format!("{} is still stopping; start it once it is stopped", lease.id)));
        }
        Status::Stopped => {}
    }
    request::check_open(root, lease.tenant)?;
    ask::check(&root.market.policy, now, &lease.ask)?;
    let ask = ask::rank(root, now, &lease.ask)?;
    let mut draft = Draft::new(root, now);
    request::enter(&mut draft, &Boarding::of(lease, &ask), wait)?;
    Ok(draft.events)
}
