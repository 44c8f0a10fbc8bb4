//! A lease gets its place: placed, priced, within limits, held for — all of it or nothing.

use super::{Lease, Placed, ask};
use crate::{Refusal, State as Root, draft::Draft, fleet::Taken};
use billing::{Accounts, share_milli};
use placement::place;
use units::{Ask, Grant, HOUR_MS, LeaseId, Micro, Rate, Size, TenantId, Ticks};

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

impl<'a> Boarding<'a> {
    /// A lease that waits or was stopped, with its ask as ranked today.
    pub fn of(lease: &Lease, ask: &'a Ask) -> Boarding<'a> {
        Boarding { lease: lease.id, tenant: lease.tenant, ask, attempts: lease.attempt, most: lease.most }
    }
}

/// Places a lease and holds for its first hour, or says why not. Nothing is drafted on a refusal.
pub(super) fn board(draft: &mut Draft<'_>, who: &Boarding<'_>) -> Result<(), Refusal> {
    let root = draft.state;
    let grants = match place(root.fleet.devices(), who.ask) {
        Ok(grants) => grants,
        // What room would not help is the better answer.
        Err(why) => return Err(check_waiting(draft, who).err().unwrap_or_else(|| no_room(root, who.ask, why))),
    };
    let tariff = ask::tariff(root, draft.now, who.ask.size, &grants)?;
    let rate = tariff.micro.rate(tariff.milli);
    check_price(who.most, tariff.micro, tariff.milli)?;
    let cards: Vec<u64> = grants.iter().map(|grant| cards_milli(root, grant)).collect();
    check_cards(root, who.tenant, cards.iter().sum())?;
    let needed = first_hold(rate, who.ask);
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

/// Refuses to let wait what could not board if there were room: too dear, past a limit, not to be paid for.
pub(super) fn check_waiting(draft: &mut Draft<'_>, who: &Boarding<'_>) -> Result<(), Refusal> {
    let root = draft.state;
    let (micro, milli) = ask::least_price(root, draft.now, who.ask)?;
    check_price(who.most, micro, milli)?;
    check_cards(root, who.tenant, least_cards(who.ask.size))?;
    check_funds(root, who.tenant, draft.book(who.tenant), first_hold(micro.rate(milli), who.ask))
}

/// The least that a size counts against the tenant's limit, wherever it is placed.
fn least_cards(size: Size) -> u64 {
    match size {
        Size::Cards(n) => 1000 * u64::from(n),
        Size::Share(share) => u64::from(share.compute),
        Size::Servers(_) | Size::Units(..) => 0,
    }
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

/// An hour of it, or all of it where less was ordered. It does not shrink while the lease waits: whether the money is
/// there must not depend on when it is asked.
pub(super) fn first_hold(rate: Rate, ask: &Ask) -> Ticks {
    rate.over(ask.interval.until.map_or(HOUR_MS, |end| end.since(ask.interval.from).clamp(0, HOUR_MS)))
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
