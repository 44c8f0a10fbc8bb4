//! A waiting lease is let in.

use super::{
    Status,
    board::{Boarding, board},
};
use crate::{Event, Refusal, State as Root, draft::Draft};
use units::{LeaseId, Time};

pub(crate) fn decide(root: &Root, now: Time, lease: LeaseId) -> Result<Vec<Event>, Refusal> {
    let waiting = root.lease.get(lease).filter(|l| l.status == Status::Queued).ok_or_else(|| Refusal::missing(lease))?;
    let mut draft = Draft::new(root, now);
    let who = Boarding { lease, tenant: waiting.tenant, ask: &waiting.ask, attempts: waiting.attempt, most: None };
    board(&mut draft, &who)?;
    Ok(draft.events)
}
