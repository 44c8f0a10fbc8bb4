//! The verdict on leases whose node was not seen for too long: charged to the last proof of service.

use super::{
    Reason, Status,
    report::after_failure,
    settle::{self, Ending},
};
use crate::{Event, State as Root, draft::Draft};
use std::collections::BTreeSet;
use units::{LeaseId, Time};

pub(super) fn decide(root: &Root, now: Time, leases: &[(LeaseId, Time)]) -> Vec<Event> {
    let mut draft = Draft::new(root, now);
    let mut judged = BTreeSet::new();
    for (id, served_until) in leases.iter().filter(|(id, _)| judged.insert(*id)) {
        let Some(lease) = root.lease.get(*id) else { continue };
        if !matches!(lease.status, Status::Starting | Status::Running) {
            continue;
        }
        let ending = Ending {
            at: (*served_until).min(now),
            then: after_failure(lease),
            reason: Reason::Lost,
            detail: "its node was not seen for too long".into(),
        };
        settle::stop(&mut draft, lease, ending);
    }
    draft.events
}
