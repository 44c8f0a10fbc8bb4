//! The money of a run is closed: charged to its end or given back beyond it, the rest of the hold released.

use super::{Lease, Reason, Stopping, Then};
use crate::{draft::Draft, money::Released};
use billing::affords;
use units::{Ticks, Time};

/// How a run ends.
pub(super) struct Ending {
    /// Chargeable time ends here, by our clock; may lie before what is charged already.
    pub at: Time,
    pub then: Then,
    pub reason: Reason,
    pub detail: String,
}

/// What a closed run came to.
pub(super) struct Closed {
    /// What it cost in all.
    pub charged: Ticks,
    /// When its service ended, and since when nothing covered it.
    pub served_until: Option<Time>,
    pub unfunded_from: Option<Time>,
}

/// Closes the money of a placed lease and sends it on its way down.
pub(super) fn stop(draft: &mut Draft<'_>, lease: &Lease, ending: Ending) -> Closed {
    // However late a stop comes, service was ordered up to the lease's own end and no further.
    let at = lease.ask.interval.until.map_or(ending.at, |end| end.min(ending.at));
    let served_until = lease.ready.map(|ready| at.max(ready));
    let (charged, unfunded_from) = close(draft, lease, served_until);
    let Ending { then, reason, detail, .. } = ending;
    draft.lease(lease.tenant, Stopping { lease: lease.id, then, reason, detail, charged, unfunded_from, served_until });
    Closed { charged, served_until, unfunded_from }
}

/// Until when a run may be charged: what is held and available covers it, then the grace.
pub(super) fn covered_until(draft: &mut Draft<'_>, lease: &Lease, from: Time) -> Cover {
    let Some(priced) = lease.priced else { return Cover { money: Time::MAX, grace: Time::MAX } };
    let held = draft.state.money.run(lease.id).map_or(Ticks::ZERO, |run| run.held);
    let funds = held + draft.book(lease.tenant).available();
    let money = affords(&draft.state.market.prices, priced.sku, priced.milli, from, funds);
    let arrears = lease.arrears_since.unwrap_or(money).min(money);
    Cover { money, grace: money.max(arrears.plus_ms(draft.state.market.policy.arrears_grace_ms)) }
}

/// Two ends of cover.
pub(super) struct Cover {
    /// Balance and credit end.
    pub money: Time,
    /// The grace after them ends.
    pub grace: Time,
}

fn close(draft: &mut Draft<'_>, lease: &Lease, served_until: Option<Time>) -> (Ticks, Option<Time>) {
    let run = draft.state.money.run(lease.id).copied().unwrap_or_default();
    let Some((ready, end)) = lease.ready.zip(served_until) else {
        release(draft, lease, run.held);
        return (Ticks::ZERO, None);
    };
    let from = run.charged_until.unwrap_or(ready);
    if end < from {
        let reversed = draft.reverse(lease, end, from);
        release(draft, lease, run.held);
        return (run.charged - reversed, None);
    }
    let limit = covered_until(draft, lease, from).grace;
    let charged = draft.charge(lease, from, end.min(limit), run.held);
    release(draft, lease, (run.held - charged).or_zero());
    (run.charged + charged, (end > limit).then_some(limit))
}

fn release(draft: &mut Draft<'_>, lease: &Lease, rest: Ticks) {
    let moves = draft.book(lease.tenant).give(billing::Account::Held, rest);
    draft.money(lease.tenant, Released { lease: lease.id, moves });
}
