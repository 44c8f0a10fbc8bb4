//! What a command has decided so far: its events, and the books as they will stand after them.

use crate::{Event, State, fleet, lease, lease::Lease, money};
use billing::{Accounts, Line, rate};
use units::{LeaseId, TenantId, Ticks, Time};

/// Events in the making.
pub(crate) struct Draft<'a> {
    pub state: &'a State,
    pub now: Time,
    pub events: Vec<Event>,
    /// Books that this command has touched; a command touches few.
    books: Vec<(TenantId, Accounts)>,
}

impl<'a> Draft<'a> {
    pub fn new(state: &'a State, now: Time) -> Self {
        Draft { state, now, events: Vec::with_capacity(4), books: Vec::new() }
    }

    /// The tenant's book as it will stand.
    pub fn book(&mut self, tenant: TenantId) -> &mut Accounts {
        let at = self.books.iter().position(|(known, _)| *known == tenant).unwrap_or_else(|| {
            self.books.push((tenant, self.state.money.book(tenant)));
            self.books.len() - 1
        });
        &mut self.books[at].1
    }

    pub fn fleet(&mut self, event: impl Into<fleet::Event>) {
        self.events.push(Event::Fleet(event.into()));
    }

    pub fn lease(&mut self, tenant: TenantId, event: impl Into<lease::Event>) {
        self.events.push(Event::Lease(tenant, event.into()));
    }

    pub fn money(&mut self, tenant: TenantId, event: impl Into<money::Event>) {
        self.events.push(Event::Money(tenant, event.into()));
    }

    /// Sets aside up to `ticks` for a lease; returns how much it got.
    pub fn hold(&mut self, tenant: TenantId, lease: LeaseId, ticks: Ticks) -> Ticks {
        let moves = self.book(tenant).hold(ticks);
        let held = moves.iter().map(|m| m.ticks).sum();
        if !moves.is_empty() {
            self.money(tenant, money::Held { lease, moves });
        }
        held
    }

    /// Charges `[from, until)`, one line per price; returns the amount. `held` is what is set aside for it.
    pub fn charge(&mut self, lease: &Lease, from: Time, until: Time, held: Ticks) -> Ticks {
        let Some(priced) = lease.priced else { return Ticks::ZERO };
        let mut charged = Ticks::ZERO;
        for line in rate(&self.state.market.prices, priced.sku, priced.milli, from, until) {
            let moves = self.book(lease.tenant).charge(line.ticks, (held - charged).or_zero());
            charged += line.ticks;
            let event = money::Charged {
                lease: lease.id,
                from: line.from,
                until: line.until,
                sku: priced.sku,
                milli: priced.milli,
                micro: line.micro,
                ticks: line.ticks,
                moves,
            };
            self.money(lease.tenant, event);
        }
        charged
    }

    /// Gives back what was charged for `[from, until)`; returns the amount.
    pub fn reverse(&mut self, lease: &Lease, from: Time, until: Time) -> Ticks {
        let Some(priced) = lease.priced else { return Ticks::ZERO };
        let mut reversed = Ticks::ZERO;
        for (since, to, milli) in lease.sizes_over(from, until) {
            for line in rate(&self.state.market.prices, priced.sku, milli, since, to) {
                let moves = self.book(lease.tenant).give(billing::Account::Revenue, line.ticks);
                reversed += line.ticks;
                let (lease_id, sku, Line { from, until, micro, ticks }) = (lease.id, priced.sku, line);
                let event = money::Reversed { lease: lease_id, from, until, sku, milli, micro, ticks, moves };
                self.money(lease.tenant, event);
            }
        }
        reversed
    }
}
