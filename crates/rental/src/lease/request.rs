//! An order: limits, quote, hold, place — or a place in the queue.

use super::{
    Lease, OnFailure, Queued, Requested, ask,
    board::{self, Boarding, board},
    could_pay,
};
use crate::{Event, Refusal, State as Root, draft::Draft, tenancy::Tenant};
use placement::{could_ever_fit, find};
use units::{Ask, LeaseId, Micro, ProjectId, TenantId, Time};

/// What a tenant orders.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Who.
    pub tenant: TenantId,
    /// For which of his projects.
    pub project: ProjectId,
    /// What. Ranks in it are ignored; they are set by price.
    pub ask: Ask,
    /// Whether to wait where there is no room.
    pub wait: bool,
    /// What becomes of it when its service fails.
    pub on_failure: OnFailure,
    /// Most that an hour may cost in all.
    pub most: Option<Micro>,
}

pub(super) fn decide(root: &Root, now: Time, request: &Request) -> Result<Vec<Event>, Refusal> {
    check_tenant(root, request.tenant, request.project)?;
    ask::check(&root.market.policy, now, &request.ask)?;
    let ask = ask::rank(root, now, &request.ask)?;
    let lease = LeaseId(root.lease.last + 1);
    let tenant = request.tenant;
    let mut draft = Draft::new(root, now);
    draft.lease(
        tenant,
        Requested { lease, project: request.project, ask: ask.clone(), on_failure: request.on_failure, most: request.most },
    );
    enter(&mut draft, &Boarding { lease, tenant, ask: &ask, attempts: 0, most: request.most }, request.wait)?;
    Ok(draft.events)
}

/// Boards at once, or queues where that is wished.
pub(super) fn enter(draft: &mut Draft<'_>, who: &Boarding<'_>, wait: bool) -> Result<(), Refusal> {
    let refusal = match queue_ahead(draft.state, draft.now, who.ask) {
        Some(ahead) => ahead,
        None => match board(draft, who) {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        },
    };
    let room = matches!(refusal, Refusal::NoCapacity { .. } | Refusal::QueueAhead { .. });
    if !(wait && room) {
        return Err(refusal);
    }
    board::check_waiting(draft, who)?;
    let why = match refusal {
        Refusal::NoCapacity { why, .. } => why.to_string(),
        other => other.to_string(),
    };
    draft.lease(who.tenant, Queued { lease: who.lease, why });
    Ok(())
}

/// Once somebody has waited past the bound for nothing but room, nobody takes room before him.
fn queue_ahead(root: &Root, now: Time, ask: &Ask) -> Option<Refusal> {
    let (fleet, bound) = (root.fleet.devices(), now.plus_ms(-root.market.policy.queue_bound_ms));
    let mut patient = root.lease.waiting(None).take_while(|waiting| waiting.requested < bound).peekable();
    // Who finds no room has his answer, whoever else waits.
    patient.peek()?;
    find(fleet, ask)?;
    let waiting = u32::try_from(root.lease.queue_len()).unwrap_or(u32::MAX);
    let goes_first = |lease: &Lease| could_pay(root, now, lease) && could_ever_fit(fleet, &lease.ask);
    patient.any(goes_first).then_some(Refusal::QueueAhead { waiting })
}

/// The tenant, if he may order anything new.
pub(super) fn check_open(root: &Root, tenant: TenantId) -> Result<&Tenant, Refusal> {
    let known = root.tenancy.tenants.get(&tenant).ok_or_else(|| Refusal::missing(tenant))?;
    if known.closed {
        return Err(Refusal::WrongState(format!("{tenant} is closed to new orders")));
    }
    Ok(known)
}

fn check_tenant(root: &Root, tenant: TenantId, project: ProjectId) -> Result<(), Refusal> {
    let known = check_open(root, tenant)?;
    if root.tenancy.projects.get(&project).is_none_or(|p| p.tenant != tenant) {
        return Err(Refusal::missing(project));
    }
    let used = root.lease.count_of(tenant);
    match known.limits.leases {
        Some(allowed) if used >= allowed as usize => Err(Refusal::LimitReached {
            limit: "leases",
            used: used.to_string(),
            asked: "1".into(),
            allowed: allowed.to_string(),
        }),
        _ => Ok(()),
    }
}
