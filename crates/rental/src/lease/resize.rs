//! A lease gets another size. In place where nothing must be measured clean for it: more or fewer cores, a larger share
//! of the same card. Whole cards change while the lease is stopped.

use super::{Lease, Resized, Status, ask, board, request, settle::covered_until};
use crate::{
    Event, Refusal, State as Root,
    draft::Draft,
    fleet::{Cleared, Freed, Taken},
};
use billing::affords;
use units::{Ask, Grant, HOUR_MS, Size, Ticks, Time, UnitKind};

pub(super) fn decide(root: &Root, now: Time, lease: &Lease, size: Size) -> Result<Vec<Event>, Refusal> {
    let wanted = Ask { size, ..lease.ask.clone() };
    if lease.ask.size == size {
        return Ok(Vec::new());
    }
    ask::check(&root.market.policy, now, &wanted)?;
    let mut draft = Draft::new(root, now);
    match lease.status {
        Status::Queued | Status::Stopped => {
            let ask = ask::rank(root, now, &wanted)?;
            let (grants, cards) = (Vec::new(), Vec::new());
            draft
                .lease(lease.tenant, Resized { lease: lease.id, ask, grants, cards, milli: 0, funded_until: lease.funded_until });
        }
        Status::Running => in_place(&mut draft, lease, wanted)?,
        Status::Starting | Status::Stopping(_) => {
            return Err(Refusal::WrongState(format!("{} is on its way; resize it once it runs or is stopped", lease.id)));
        }
    }
    Ok(draft.events)
}

fn in_place(draft: &mut Draft<'_>, lease: &Lease, wanted: Ask) -> Result<(), Refusal> {
    let root = draft.state;
    request::check_open(root, lease.tenant)?;
    if lease.ask.interval.until.is_some_and(|end| end <= draft.now) {
        return Err(Refusal::WrongState(format!("{} has reached its end", lease.id)));
    }
    let old = match &lease.members[..] {
        [member] => &member.grant,
        _ => return Err(stop_first(lease)),
    };
    let grant = regrant(root, lease, old, wanted.size)?;
    let tariff = ask::tariff(root, draft.now, wanted.size, std::slice::from_ref(&grant))?;
    let cards = board::cards_milli(root, &grant);
    board::check_cards(root, lease.tenant, cards.saturating_sub(lease.members[0].cards))?;

    let run = root.money.run(lease.id).copied().unwrap_or_default();
    let from = run.charged_until.or(lease.ready).unwrap_or(draft.now);
    if covered_until(draft, lease, from).money < draft.now {
        let needed = tariff.micro.rate(tariff.milli).over(HOUR_MS);
        return Err(Refusal::InsufficientFunds { needed, available: draft.book(lease.tenant).available() });
    }
    let charged = draft.charge(lease, from, draft.now, run.held);
    let left = (run.held - charged).or_zero();
    let hour = tariff.micro.rate(tariff.milli).over(HOUR_MS);
    let more = (hour - left).or_zero();
    // Who takes less needs no more money than he has.
    if lease.priced.is_none_or(|priced| tariff.milli > priced.milli) {
        let book = *draft.book(lease.tenant);
        board::check_funds(root, lease.tenant, &book, more)?;
    }
    let held = left + draft.hold(lease.tenant, lease.id, more);
    let funded_until = affords(&root.market.prices, tariff.id, tariff.milli, draft.now, held.min(hour.max(Ticks::ZERO)));
    swap(draft, lease, old, &grant);
    let resized =
        Resized { lease: lease.id, ask: wanted, grants: vec![grant], cards: vec![cards], milli: tariff.milli, funded_until };
    draft.lease(lease.tenant, resized);
    Ok(())
}

/// What the lease has on its node after the change.
fn regrant(root: &Root, lease: &Lease, old: &Grant, size: Size) -> Result<Grant, Refusal> {
    let devices = root.fleet.devices();
    match (lease.ask.size, size, &old.slices[..]) {
        (Size::Units(UnitKind::Cpu, _), Size::Units(UnitKind::Cpu, milli), []) => {
            let free = devices.node(old.node).map_or(0, |node| node.cpu_milli().left());
            let cpu_milli = u32::try_from(milli).unwrap_or(u32::MAX);
            if cpu_milli > free.saturating_add(old.cpu_milli) {
                return Err(no_room(lease));
            }
            Ok(Grant { cpu_milli, ..old.clone() })
        }
        (Size::Share(before), Size::Share(after), [slice]) => {
            let grows = after.compute >= before.compute && after.memory_mib >= before.memory_mib;
            let left = devices.device(slice.device).map(|d| d.left()).unwrap_or_default();
            if !grows {
                return Err(stop_first(lease));
            }
            if after.compute > left.compute + before.compute || after.memory_mib > left.memory_mib + before.memory_mib {
                return Err(no_room(lease));
            }
            Ok(Grant { slices: vec![units::Slice { share: after, ..*slice }], ..old.clone() })
        }
        _ => Err(stop_first(lease)),
    }
}

fn stop_first(lease: &Lease) -> Refusal {
    Refusal::WrongState(format!("{} cannot change so while it runs: stop it, resize it, start it", lease.id))
}

fn no_room(lease: &Lease) -> Refusal {
    Refusal::WrongState(format!("there is no room for it where {} runs: stop it, resize it, start it", lease.id))
}

/// The same capacity changes its size: given back and taken in one entry, so that nobody can come between.
fn swap(draft: &mut Draft<'_>, lease: &Lease, old: &Grant, new: &Grant) {
    draft.fleet(Freed { lease: lease.id, grants: vec![old.clone()] });
    draft.fleet(Cleared { leases: vec![lease.id], grants: vec![old.clone()] });
    draft.fleet(Taken { lease: lease.id, grants: vec![new.clone()] });
}
