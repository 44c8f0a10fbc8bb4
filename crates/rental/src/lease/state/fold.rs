//! Facts about leases, folded. Every change of a lease goes through [`State::change`], which keeps the indexes in step.

use super::{At, Lease, Member, Priced, Seen, State, Status};
use crate::lease::{Event, Placed, Reason, Requested, Resized, Then};
use units::{LeaseId, NodeId, TenantId, Ticks, Time};

/// Folds a fact about a lease.
pub(crate) fn apply(state: &mut State, at: At, tenant: TenantId, event: &Event, room: &mut u64) {
    *room += u64::from(state.makes_room(at, event));
    match event {
        Event::Requested(e) => {
            state.last = e.lease.0;
            state.tenants.entry(tenant).leases.insert(e.lease);
            let end = e.ask.interval.until.map(|end| (end, e.lease));
            state.ends.extend(end);
            state.leases.insert(e.lease, Box::new(ordered(e, tenant, at.time)));
        }
        Event::Queued(e) => state.change(e.lease, |lease| {
            lease.take_turn(at.time);
            lease.status = Status::Queued;
            lease.since = at.time;
            lease.detail.clone_from(&e.why);
            lease.members.clear();
        }),
        Event::Placed(e) => place(state, at, tenant, e),
        Event::MemberReady(e) => state.change(e.lease, |lease| see(lease, e.node, Seen::Ready)),
        Event::Started(e) => state.change(e.lease, |lease| {
            lease.members.iter_mut().for_each(|m| m.seen = Seen::Ready);
            lease.status = Status::Running;
            lease.since = at.time;
            lease.ready = Some(at.time);
            lease.failed_starts = 0;
            lease.sizes = lease.priced.map(|priced| (at.time, priced.milli)).into_iter().collect();
            lease.funded_until = e.funded_until;
            lease.arrears_since = None;
        }),
        Event::Renewed(e) => state.change(e.lease, |lease| {
            lease.funded_until = e.funded_until;
            lease.arrears_since = e.arrears_since;
        }),
        Event::Extended(e) => state.change(e.lease, |lease| lease.ask.interval.until = e.until),
        Event::Resized(e) => resize(state, at, tenant, e),
        Event::Stopping(e) => {
            state.change(e.lease, |lease| {
                if !matches!(lease.status, Status::Stopping(_)) {
                    lease.since = at.time;
                }
                lease.status = Status::Stopping(e.then);
                lease.reason = Some(e.reason);
                lease.failed_starts += u32::from(e.reason == Reason::StartFailed);
                lease.detail.clone_from(&e.detail);
                lease.charged_before += e.charged;
                lease.unfunded_from = e.unfunded_from;
                lease.served_until = e.served_until;
                lease.ready = None;
            });
            state.touch(e.lease, at.seq);
        }
        Event::ServiceEnded(e) => state.change(e.lease, |lease| lease.unfunded_from = None),
        Event::MemberGone(e) => leave(state, at, tenant, e.lease, e.node),
        Event::Stopped(e) => state.change(e.lease, |lease| {
            lease.status = Status::Stopped;
            lease.since = at.time;
            lease.members.clear();
        }),
        Event::Ended(e) => {
            // Out of every index first, by way of a state that is in none.
            state.change(e.lease, |lease| lease.status = Status::Stopping(Then::End));
            state.leases.remove(e.lease);
            state.tenants.entry(tenant).leases.remove(&e.lease);
        }
    }
}

fn ordered(e: &Requested, tenant: TenantId, now: Time) -> Lease {
    Lease {
        id: e.lease,
        tenant,
        project: e.project,
        ask: e.ask.clone(),
        on_failure: e.on_failure,
        most: e.most,
        // The entry goes on to queue or place it.
        status: Status::Stopped,
        since: now,
        reason: None,
        detail: String::new(),
        attempt: 0,
        failed_starts: 0,
        requested: now,
        priced: None,
        members: Vec::new(),
        ready: None,
        funded_until: now,
        arrears_since: None,
        unfunded_from: None,
        served_until: None,
        sizes: Vec::new(),
        charged_before: Ticks::ZERO,
        changed: 0,
    }
}

fn place(state: &mut State, at: At, tenant: TenantId, e: &Placed) {
    state.tenants.entry(tenant).cards_milli += e.cards.iter().sum::<u64>();
    for grant in &e.grants {
        let node = state.nodes.entry(grant.node);
        node.leases.push(e.lease);
        node.changed = at.seq;
    }
    state.change(e.lease, |lease| {
        lease.take_turn(at.time);
        lease.status = Status::Starting;
        lease.since = at.time;
        lease.reason = None;
        lease.detail.clear();
        lease.attempt = e.attempt;
        lease.priced = Some(Priced { sku: e.sku_id, milli: e.milli });
        let parts = e.grants.iter().cloned().zip(e.cards.iter().copied());
        lease.members = parts.map(|(grant, cards)| Member { grant, cards, seen: Seen::NotYet }).collect();
        lease.changed = at.seq;
    });
}

fn resize(state: &mut State, at: At, tenant: TenantId, e: &Resized) {
    let mut before = 0;
    let after: u64 = e.cards.iter().sum();
    state.change(e.lease, |lease| {
        before = lease.members.iter().map(|m| m.cards).sum();
        lease.ask.clone_from(&e.ask);
        lease.funded_until = e.funded_until;
        if let Some(priced) = &mut lease.priced {
            priced.milli = e.milli;
        }
        if lease.status == Status::Running {
            lease.sizes.push((at.time, e.milli));
        }
        for (member, (grant, cards)) in lease.members.iter_mut().zip(e.grants.iter().zip(&e.cards)) {
            member.grant.clone_from(grant);
            member.cards = *cards;
        }
    });
    let of = state.tenants.entry(tenant);
    of.cards_milli = of.cards_milli + after - before;
    state.touch(e.lease, at.seq);
}

fn leave(state: &mut State, at: At, tenant: TenantId, lease: LeaseId, node: NodeId) {
    let on_node = state.nodes.entry(node);
    on_node.leases.retain(|id| *id != lease);
    on_node.changed = at.seq;
    let mut left = 0;
    state.change(lease, |lease| {
        left = lease.member(node).map_or(0, |m| m.cards);
        see(lease, node, Seen::Gone);
        lease.changed = at.seq;
    });
    state.tenants.entry(tenant).cards_milli -= left;
}

fn see(lease: &mut Lease, node: NodeId, seen: Seen) {
    for member in lease.members.iter_mut().filter(|m| m.grant.node == node) {
        member.seen = seen;
    }
}
