//! A lease gets its place: placed, priced, within limits, held for — all of it or nothing.

use super::{Placed, ask};
use crate::{Refusal, State as Root, draft::Draft, fleet::Taken};
use billing::{Accounts, share_milli};
use placement::place;
use units::{Ask, Grant, HOUR_MS, LeaseId, Micro, Rate, TenantId, Ticks};

/// Who boards.
pub(super) struct Boarding<'a> {
    pub lease: LeaseId,
    pub tenant: TenantId,
    /// Ranked.
    pub ask: &'a Ask,
    /// How often it was placed before.
    pub attempts: u32,
    /// Most that an hour may cost.
    pub most: Option<Micro>,
}

/// Places a lease and holds for its first hour, or says why not. Nothing is drafted on a refusal.
pub(super) fn board(draft: &mut Draft<'_>, who: &Boarding<'_>) -> Result<(), Refusal> {
    let root = draft.state;
    let grants = place(root.fleet.devices(), who.ask).map_err(|why| no_room(root, who.ask, why))?;
    let tariff = ask::tariff(root, draft.now, who.ask.size, &grants)?;
    let rate = tariff.micro.rate(tariff.milli);
    check_price(who.most, tariff.micro, tariff.milli)?;
    let cards: Vec<u64> = grants.iter().map(|grant| cards_milli(root, grant)).collect();
    check_cards(root, who.tenant, cards.iter().sum())?;
    let needed = first_hold(rate, who.ask, draft.now);
    check_funds(root, who.tenant, draft.book(who.tenant), needed)?;

    let placed = Placed {
        lease: who.lease,
        attempt: who.attempts + 1,
        grants: grants.clone(),
        sku: tariff.sku,
        sku_id: tariff.id,
        milli: tariff.milli,
        micro: tariff.micro,
        cards,
    };
    draft.lease(who.tenant, placed);
    draft.fleet(Taken { lease: who.lease, grants });
    draft.hold(who.tenant, who.lease, needed);
    Ok(())
}

fn no_room(root: &Root, ask: &Ask, why: placement::WhyNot) -> Refusal {
    let fleet = root.fleet.devices();
    let alternatives = placement::alternatives(fleet, ask);
    if placement::could_ever_fit(fleet, ask) {
        Refusal::NoCapacity { why, alternatives }
    } else {
        Refusal::NeverFits { why, alternatives }
    }
}

/// What a grant counts against the tenant's limit: whole = 1000, a share its larger part.
pub(super) fn cards_milli(root: &Root, grant: &Grant) -> u64 {
    let size = |device| root.fleet.devices().device(device).map_or(1, |d| d.memory_mib());
    grant.slices.iter().map(|slice| share_milli(slice.share, size(slice.device))).sum()
}

pub(super) fn check_price(most: Option<Micro>, micro: Micro, milli: u64) -> Result<(), Refusal> {
    let Some(most) = most else { return Ok(()) };
    // Compared exactly; shown rounded up to a micro-yuan.
    let hour = i128::from(micro.0) * i128::from(milli);
    if hour <= i128::from(most.0) * 1000 {
        return Ok(());
    }
    let price = Micro(i64::try_from((hour + 999) / 1000).unwrap_or(i64::MAX));
    Err(Refusal::TooDear { price, most })
}

pub(super) fn check_cards(root: &Root, tenant: TenantId, asked: u64) -> Result<(), Refusal> {
    let used = root.lease.cards_milli_of(tenant);
    let allowed = root.tenancy.tenants.get(&tenant).and_then(|t| t.limits.cards_milli);
    match allowed {
        Some(allowed) if used + asked > allowed => Err(Refusal::LimitReached {
            limit: "cards",
            used: thousandths(used),
            asked: thousandths(asked),
            allowed: thousandths(allowed),
        }),
        _ => Ok(()),
    }
}

fn thousandths(milli: u64) -> String {
    format!("{}.{:03}", milli / 1000, milli % 1000)
}

/// An hour of it, or all of it where it is shorter.
pub(super) fn first_hold(rate: Rate, ask: &Ask, now: units::Time) -> Ticks {
    rate.over(ask.interval.until.map_or(HOUR_MS, |end| end.since(now).clamp(0, HOUR_MS)))
}

pub(super) fn check_funds(root: &Root, tenant: TenantId, book: &Accounts, needed: Ticks) -> Result<(), Refusal> {
    let available = book.available();
    if available < needed {
        return Err(Refusal::InsufficientFunds { needed, available });
    }
    let spent = book.totals().charged + book.balance(billing::Account::Held);
    let allowed = root.tenancy.tenants.get(&tenant).and_then(|t| t.limits.spend);
    match allowed {
        Some(allowed) if spent + needed > allowed => {
            Err(Refusal::LimitReached { limit: "spend", used: spent.amount(), asked: needed.amount(), allowed: allowed.amount() })
        }
        _ => Ok(()),
    }
}
