//! Books by tenant, open runs by lease, payments by the provider's id.

use super::Event;
use crate::Table;
use billing::{Account, Accounts, Movement, Totals};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{LeaseId, TenantId, Ticks, Time};

/// All money.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    books: Table<TenantId, Accounts>,
    runs: Table<LeaseId, Run>,
    /// Every payment ever opened: a late second notice must find it.
    pub payments: BTreeMap<(TenantId, String), Payment>,
}

/// The money side of a lease that is placed and not stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Set aside and not yet charged.
    pub held: Ticks,
    /// Charged in this run, less what was reversed.
    pub charged: Ticks,
    /// Charged up to here; `None` before the first charge.
    pub charged_until: Option<Time>,
}

/// A payment as the provider reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// How much.
    pub ticks: Ticks,
    /// The money came.
    pub paid: bool,
    /// The provider said that it failed.
    pub failed: bool,
}

impl State {
    /// A tenant's book; an empty one before the first posting.
    pub fn book(&self, tenant: TenantId) -> Accounts {
        self.books.get(tenant).copied().unwrap_or_default()
    }

    /// All books, by tenant.
    pub fn books(&self) -> Vec<(TenantId, &Accounts)> {
        self.books.sorted()
    }

    /// The open run of a lease.
    pub fn run(&self, lease: LeaseId) -> Option<&Run> {
        self.runs.get(lease)
    }

    /// All open runs, by lease.
    pub fn runs(&self) -> Vec<(LeaseId, &Run)> {
        self.runs.sorted()
    }
}

/// A tenant's totals once `events` are folded.
pub(crate) fn totals_after(root: &crate::State, tenant: TenantId, events: &[crate::Event]) -> Totals {
    let mut book = root.money.book(tenant);
    for event in events {
        if let crate::Event::Money(_, event) = event {
            book.apply(event.moves());
        }
    }
    book.totals()
}

impl Event {
    /// What it moves between accounts.
    pub fn moves(&self) -> &[Movement] {
        match self {
            Event::Paid(e) => &e.moves,
            Event::Adjusted(e) => &e.moves,
            Event::Held(e) => &e.moves,
            Event::Charged(e) => &e.moves,
            Event::Reversed(e) => &e.moves,
            Event::Released(e) => &e.moves,
            Event::Lost(e) => &e.moves,
            Event::PaymentOpened(_) | Event::PaymentFailed(_) | Event::CreditSet(_) => &[],
        }
    }
}

pub(crate) fn apply(money: &mut State, tenant: TenantId, event: &Event, room: &mut u64) {
    let book = money.books.entry(tenant);
    book.apply(event.moves());
    match event {
        Event::PaymentOpened(e) => {
            money.payments.insert((tenant, e.payment.clone()), Payment { ticks: e.ticks, paid: false, failed: false });
        }
        Event::Paid(e) => {
            money.payments.entry((tenant, e.payment.clone())).and_modify(|p| p.paid = true).or_insert(Payment {
                ticks: e.ticks,
                paid: true,
                failed: false,
            });
            *room += 1;
        }
        Event::PaymentFailed(e) => {
            if let Some(payment) = money.payments.get_mut(&(tenant, e.payment.clone())) {
                payment.failed = true;
            }
        }
        Event::CreditSet(e) => {
            book.credit_limit = e.limit;
            *room += 1;
        }
        Event::Adjusted(_) => *room += 1,
        Event::Held(e) => money.runs.entry(e.lease).held += sum(&e.moves, |m| m.to == Account::Held),
        Event::Charged(e) => {
            let run = money.runs.entry(e.lease);
            run.held -= sum(&e.moves, |m| m.from == Account::Held);
            run.charged += e.ticks;
            run.charged_until = Some(e.until);
        }
        Event::Reversed(e) => {
            let run = money.runs.entry(e.lease);
            run.charged -= e.ticks;
            run.charged_until = run.charged_until.map(|until| until.min(e.from));
            *room += 1;
        }
        Event::Released(e) => {
            money.runs.remove(e.lease);
            *room += 1;
        }
        Event::Lost(_) => {}
    }
}

fn sum(moves: &[Movement], which: impl Fn(&Movement) -> bool) -> Ticks {
    moves.iter().filter(|m| which(m)).map(|m| m.ticks).sum()
}
