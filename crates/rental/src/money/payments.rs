//! Payments are opened and settled once, whatever the provider repeats; credit is set; corrections are posted.

use super::{Adjusted, CreditSet, Event, Paid, Payment, PaymentFailed, PaymentOpened, State};
use crate::Refusal;
use billing::Account;
use units::{TenantId, Ticks};

/// A hundred billion yuan: more is a slip of the pen, and sums of many such still fit.
const MOST: Ticks = Ticks::from_cny(100_000_000_000);

pub(super) fn open(money: &State, tenant: TenantId, payment: &str, ticks: Ticks) -> Result<Vec<Event>, Refusal> {
    amount(ticks)?;
    named(payment)?;
    match known(money, tenant, payment) {
        None => Ok(vec![PaymentOpened { payment: payment.into(), ticks }.into()]),
        Some(same) if same.ticks == ticks => Ok(Vec::new()),
        Some(other) => Err(Refusal::Exists(format!("payment '{payment}' of {} CNY", other.ticks))),
    }
}

pub(super) fn settle(money: &State, tenant: TenantId, payment: &str, paid: bool) -> Result<Vec<Event>, Refusal> {
    let known = known(money, tenant, payment).ok_or_else(|| Refusal::missing(format!("payment '{payment}'")))?;
    Ok(match (paid, known) {
        (true, Payment { paid: true, .. }) | (false, Payment { failed: true, .. }) => Vec::new(),
        (true, Payment { ticks, .. }) => vec![pay(money, tenant, payment, *ticks)],
        (false, Payment { paid, .. }) => vec![PaymentFailed { payment: payment.into(), after_settlement: *paid }.into()],
    })
}

pub(super) fn top_up(money: &State, tenant: TenantId, payment: &str, ticks: Ticks) -> Result<Vec<Event>, Refusal> {
    let mut events = open(money, tenant, payment, ticks)?;
    if known(money, tenant, payment).is_none_or(|p| !p.paid) {
        events.push(pay(money, tenant, payment, ticks));
    }
    Ok(events)
}

fn pay(money: &State, tenant: TenantId, payment: &str, ticks: Ticks) -> Event {
    let moves = money.book(tenant).give(Account::Cash, ticks);
    Paid { payment: payment.into(), ticks, moves }.into()
}

pub(super) fn set_credit(money: &State, tenant: TenantId, limit: Ticks) -> Result<Vec<Event>, Refusal> {
    if limit != Ticks::ZERO {
        amount(limit)?;
    }
    let same = money.book(tenant).credit_limit == limit;
    Ok(if same { Vec::new() } else { vec![CreditSet { limit }.into()] })
}

pub(super) fn adjust(money: &State, tenant: TenantId, ticks: Ticks, reason: &str) -> Result<Vec<Event>, Refusal> {
    // The least number has no opposite.
    amount(Ticks(ticks.0.checked_abs().unwrap_or(i128::MAX)))?;
    if reason.trim().is_empty() || reason.len() > 500 {
        return Err(Refusal::invalid("reason", "say why, in 1 to 500 bytes"));
    }
    let mut book = money.book(tenant);
    let moves =
        if ticks.is_positive() { book.give(Account::Adjustments, ticks) } else { book.take(Account::Adjustments, -ticks) };
    Ok(vec![Adjusted { reason: reason.into(), moves }.into()])
}

fn known<'a>(money: &'a State, tenant: TenantId, payment: &str) -> Option<&'a Payment> {
    money.payments.get(&(tenant, payment.to_owned()))
}

fn amount(ticks: Ticks) -> Result<(), Refusal> {
    if ticks.is_positive() && ticks <= MOST {
        Ok(())
    } else {
        Err(Refusal::invalid("amount", format!("an amount is above 0 and at most {MOST} CNY")))
    }
}

fn named(payment: &str) -> Result<(), Refusal> {
    let fine = !payment.is_empty() && payment.len() <= 128 && payment.bytes().all(|b| b.is_ascii_graphic());
    if fine { Ok(()) } else { Err(Refusal::invalid("payment", "the provider's id is 1 to 128 visible ASCII characters")) }
}
