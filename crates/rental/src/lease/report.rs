//! What an agent saw moves a lease on. A report that changes nothing, or is of an earlier attempt, writes nothing.

use super::{
    Ended, Lease, Member, MemberGone, MemberReady, OnFailure, Queued, Reason, Seen, ServiceEnded, Started, Status, Stopped, Then,
    settle::{self, Ending},
};
use crate::{Event, Refusal, State as Root, draft::Draft, fleet, money::Lost};
use billing::{affords, rate};
use units::{NodeId, Observation, Phase, Ticks, Time};

/// How often in a row a lease is started in vain.
const MOST_STARTS: u32 = 3;

/// Sightings of one entry at most: an entry is what a tenant gets to prove a bill with, and stays small.
const MOST_TOLD: usize = 64;

/// What an agent saw of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// What it saw.
    pub seen: Observation,
    /// When the phase began, by our clock: the last proof of service where it failed.
    pub since: Time,
}

impl super::Command {
    /// The report of one sighting.
    pub fn report(seen: Observation, since: Time) -> super::Command {
        super::Command::Report { sightings: vec![Sighting { seen, since }] }
    }

    /// The reports that tell all of these in their order. Each has a lease once, so that none rests on what another one of
    /// the same entry changes.
    pub fn reports(sightings: impl IntoIterator<Item = Sighting>) -> Vec<super::Command> {
        let mut reports: Vec<Vec<Sighting>> = Vec::new();
        for sighting in sightings {
            let fits = |told: &&mut Vec<Sighting>| {
                told.len() < MOST_TOLD && told.iter().all(|other| other.seen.lease != sighting.seen.lease)
            };
            match reports.last_mut().filter(fits) {
                Some(told) => told.push(sighting),
                None => reports.push(vec![sighting]),
            }
        }
        reports.into_iter().map(|sightings| super::Command::Report { sightings }).collect()
    }
}

pub(super) fn decide(root: &Root, now: Time, sightings: &[Sighting]) -> Result<Vec<Event>, Refusal> {
    if !is_each_lease_once(sightings) {
        return Err(Refusal::invalid("sightings", "a report has each lease once"));
    }
    let mut draft = Draft::new(root, now);
    for Sighting { seen, since } in sightings {
        let Some(lease) = root.lease.get(seen.lease).filter(|l| l.attempt == seen.attempt) else { continue };
        let Some(member) = lease.member(seen.node) else { continue };
        let since = (*since).min(now);
        match lease.status {
            Status::Starting | Status::Running => up(&mut draft, lease, member, (&seen.phase, since)),
            Status::Stopping(then) => down(&mut draft, lease, then, (seen, since)),
            Status::Queued | Status::Stopped => {}
        }
    }
    Ok(draft.events)
}

fn is_each_lease_once(sightings: &[Sighting]) -> bool {
    let mut leases: Vec<_> = sightings.iter().map(|sighting| sighting.seen.lease).collect();
    leases.sort_unstable();
    leases.windows(2).all(|two| two[0] != two[1])
}

fn up(draft: &mut Draft<'_>, lease: &Lease, member: &Member, (phase, since): (&Phase, Time)) {
    let started = lease.status == Status::Running;
    let (reason, then, detail) = match phase {
        Phase::Starting(_) => return,
        Phase::Ready => return ready(draft, lease, member),
        Phase::Exited(code) => (Reason::Completed, Then::End, format!("exit code {code}")),
        Phase::OutOfFunds => (Reason::BalanceExhausted, Then::Stop, "at its deadline".into()),
        Phase::Failed(why) if started => (Reason::Failed, after_failure(lease), shortened(why)),
        Phase::Failed(why) => (Reason::StartFailed, after_failed_start(lease), shortened(why)),
        Phase::Gone if started => (Reason::Failed, after_failure(lease), "it vanished from its node".into()),
        Phase::Gone => (Reason::StartFailed, after_failed_start(lease), "it vanished from its node".into()),
    };
    let closed = settle::stop(draft, lease, Ending { at: since, then, reason, detail: detail.clone() });
    // The end was seen: so is how long it ran uncovered.
    book_loss(draft, lease, closed.unfunded_from, closed.served_until.unwrap_or(since));
    if *phase == Phase::Gone {
        let charged = lease.charged_before + closed.charged;
        gone(draft, lease, member.grant.node, Rest { then, reason, detail, charged });
    }
}

/// What becomes of a lease that the platform failed.
pub(super) fn after_failure(lease: &Lease) -> Then {
    match lease.on_failure {
        OnFailure::End => Then::End,
        OnFailure::Requeue => Then::Queue,
    }
}

/// One that is to come back is tried again, but not for ever: it would keep its place from those behind it. It is then
/// stopped, for the tenant to start once he has changed what was wrong.
fn after_failed_start(lease: &Lease) -> Then {
    match after_failure(lease) {
        Then::Queue if lease.failed_starts + 1 >= MOST_STARTS => Then::Stop,
        then => then,
    }
}

/// An engine's words stand in every copy of the entry: no more of them than a person reads.
fn shortened(why: &str) -> String {
    why.chars().take(500).collect()
}

fn ready(draft: &mut Draft<'_>, lease: &Lease, member: &Member) {
    if lease.status != Status::Starting || member.seen == Seen::Ready {
        return;
    }
    let node = member.grant.node;
    let others_wait = lease.members.iter().any(|m| m.grant.node != node && m.seen == Seen::NotYet);
    if others_wait {
        return draft.lease(lease.tenant, MemberReady { lease: lease.id, node });
    }
    let held = draft.state.money.run(lease.id).map_or(Ticks::ZERO, |run| run.held);
    let prices = &draft.state.market.prices;
    let funded_until = lease.priced.map_or(Time::MAX, |p| affords(prices, p.sku, p.milli, draft.now, held));
    draft.lease(lease.tenant, Started { lease: lease.id, funded_until });
}

fn down(draft: &mut Draft<'_>, lease: &Lease, then: Then, (seen, since): (&Observation, Time)) {
    let ended = !matches!(seen.phase, Phase::Starting(_) | Phase::Ready);
    if ended {
        // It ran on until the stop was accepted, or until it ended by itself.
        book_loss(draft, lease, lease.unfunded_from, lease.served_until.map_or(since, |served| since.min(served)));
    }
    if seen.phase == Phase::Gone {
        let (reason, detail) = (lease.reason.unwrap_or(Reason::Stopped), lease.detail.clone());
        gone(draft, lease, seen.node, Rest { then, reason, detail, charged: lease.charged_before });
    }
}

/// What nothing covered, the operator bears.
fn book_loss(draft: &mut Draft<'_>, lease: &Lease, unfunded_from: Option<Time>, until: Time) {
    let Some((from, priced)) = unfunded_from.zip(lease.priced) else { return };
    let ticks = rate(&draft.state.market.prices, priced.sku, priced.milli, from, until).map(|line| line.ticks).sum();
    if until > from {
        let moves = draft.book(lease.tenant).lose(ticks);
        let reason = "it ran on after the balance had ended".into();
        draft.money(lease.tenant, Lost { lease: lease.id, from, until, ticks, reason, moves });
    }
    draft.lease(lease.tenant, ServiceEnded { lease: lease.id });
}

/// What a lease is once nothing of it is left.
struct Rest {
    then: Then,
    reason: Reason,
    detail: String,
    charged: Ticks,
}

/// A node has nothing of the lease any more; the last of them settles what becomes of it.
fn gone(draft: &mut Draft<'_>, lease: &Lease, node: NodeId, rest: Rest) {
    let Some(member) = lease.member(node) else { return };
    draft.lease(lease.tenant, MemberGone { lease: lease.id, node });
    draft.events.extend(fleet::give_back(&draft.state.fleet, lease.id, vec![member.grant.clone()]));
    if lease.members.iter().any(|m| m.grant.node != node && m.seen != Seen::Gone) {
        return;
    }
    let Rest { then, reason, detail, charged } = rest;
    match then {
        Then::Stop => draft.lease(lease.tenant, Stopped { lease: lease.id }),
        Then::Queue => draft.lease(lease.tenant, Queued { lease: lease.id, why: format!("came back: {detail}") }),
        Then::End => draft.lease(lease.tenant, Ended { lease: lease.id, reason, detail, charged }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Command;
    use units::LeaseId;

    fn sighting(lease: u64) -> Sighting {
        let seen = Observation { lease: LeaseId(lease), attempt: 1, node: NodeId(1), phase: Phase::Ready, ago_ms: 0 };
        Sighting { seen, since: Time(0) }
    }

    fn told(command: &Command) -> Vec<u64> {
        let Command::Report { sightings } = command else { panic!("a report is a report") };
        sightings.iter().map(|sighting| sighting.seen.lease.0).collect()
    }

    #[test]
    fn what_is_told_keeps_its_order_and_has_each_lease_once_in_a_report() {
        let reports = Command::reports([1, 2, 1, 3, 3].map(sighting));
        assert_eq!(reports.iter().map(told).collect::<Vec<_>>(), [vec![1, 2], vec![1, 3], vec![3]]);
        let many = Command::reports((1..=150).map(sighting));
        assert_eq!(many.iter().map(|report| told(report).len()).collect::<Vec<_>>(), [64, 64, 22]);
        assert_eq!(Command::reports([]), []);
    }

    #[test]
    fn a_report_that_has_a_lease_twice_is_refused() {
        let twice = [sighting(1), sighting(2), sighting(1)];
        assert!(matches!(decide(&Root::default(), Time(0), &twice), Err(Refusal::Invalid { field: "sightings", .. })));
    }
}
