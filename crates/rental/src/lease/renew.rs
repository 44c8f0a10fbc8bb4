//! Cover is renewed on each lease's own hour: the hour past is charged, the next one held; what nothing covers is stopped.

use super::{
    Lease, Reason, Renewed, Status, Then,
    settle::{self, Ending, covered_until},
};
use crate::{Event, State as Root, draft::Draft};
use billing::{affords, rate};
use units::{HOUR_MS, LeaseId, Ticks, Time};

pub(super) fn decide(root: &Root, now: Time, leases: &[LeaseId]) -> Vec<Event> {
    let mut draft = Draft::new(root, now);
    for lease in leases.iter().filter_map(|id| root.lease.get(*id)) {
        if lease.status == Status::Running && lease.funded_until <= now {
            renew(&mut draft, lease);
        }
    }
    draft.events
}

fn renew(draft: &mut Draft<'_>, lease: &Lease) {
    let Some(ready) = lease.ready else { return };
    let run = draft.state.money.run(lease.id).copied().unwrap_or_default();
    let from = run.charged_until.unwrap_or(ready);
    let cover = covered_until(draft, lease, from);
    if cover.money > draft.now {
        let mark = ready.plus_ms(draft.now.since(ready) / HOUR_MS * HOUR_MS).max(from);
        carry_on(draft, lease, from, mark);
    } else if cover.grace > draft.now {
        draft.charge(lease, from, cover.money, run.held);
        let arrears_since = Some(lease.arrears_since.unwrap_or(cover.money).min(cover.money));
        draft.lease(lease.tenant, Renewed { lease: lease.id, funded_until: cover.grace, arrears_since });
    } else {
        let at = draft.now;
        let ending = Ending { at, then: Then::Stop, reason: Reason::BalanceExhausted, detail: String::new() };
        settle::stop(draft, lease, ending);
    }
}

/// Charges up to the last full hour and holds what is available for the next.
fn carry_on(draft: &mut Draft<'_>, lease: &Lease, from: Time, mark: Time) {
    let Some(priced) = lease.priced else { return };
    let prices = &draft.state.market.prices;
    let run = draft.state.money.run(lease.id).copied().unwrap_or_default();
    let charged = draft.charge(lease, from, mark, run.held);
    let left = (run.held - charged).or_zero();
    let end = lease.ask.interval.until.map_or(mark.plus_ms(HOUR_MS), |end| end.clamp(mark, mark.plus_ms(HOUR_MS)));
    let hour: Ticks = rate(prices, priced.sku, priced.milli, mark, end).map(|line| line.ticks).sum();
    let held = left + draft.hold(lease.tenant, lease.id, (hour - left).or_zero());
    let funded_until = affords(prices, priced.sku, priced.milli, mark, held);
    draft.lease(lease.tenant, Renewed { lease: lease.id, funded_until, arrears_since: None });
}
