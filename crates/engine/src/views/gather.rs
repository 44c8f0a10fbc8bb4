//! What a batch of entries changes, gathered in memory: a lease that moved five times is one row to write.

use super::{Kind, Lease, Line, PartRow, failed, lease, revenue::Slots, rows::PostingRow, signed, spoiled::missing};
use journal::Failure;
use rental::{Event, Part, lease::Event as LeaseEvent, money};
use rusqlite::{Connection, OptionalExtension};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use units::{LeaseId, Micro, Owner, TenantId, Ticks, Time};

/// Leases that stay in memory between batches, so that a renewal need not read its lease first. About 50 MB.
const KEPT: usize = 100_000;

/// The rows that a batch makes or changes.
#[derive(Default)]
pub(super) struct Gathered {
    /// In boxes: a table of the rows themselves stalled the fold for 400 ms when it grew past 50,000.
    leases: FxHashMap<LeaseId, Box<Lease>>,
    changed: FxHashSet<LeaseId>,
    ended: Vec<LeaseId>,
    pub lines: Vec<Line>,
    pub postings: Vec<PostingRow>,
    pub parts: Vec<PartRow>,
    pub parts_of_leases: Vec<(Owner, LeaseId, u64)>,
    pub slots: Slots,
}

/// Where an event stands.
#[derive(Clone, Copy)]
struct At {
    seq: u64,
    time: Time,
    number: u32,
}

/// A stretch of use at one price.
struct Stretch {
    kind: Kind,
    lease: LeaseId,
    from: Time,
    until: Time,
    milli: u64,
    micro: Micro,
    ticks: Ticks,
}

impl Gathered {
    /// Adds one owner's part of an entry.
    pub(super) fn add(&mut self, connection: &Connection, part: &Part) -> Result<(), Failure> {
        let &Part { owner, seq, time, part_seq, ref events, .. } = part;
        let mut kinds: Vec<String> = Vec::new();
        for kind in events.iter().map(Event::kind) {
            if kinds.iter().all(|known| known != kind) {
                kinds.push(kind.to_owned());
            }
        }
        self.parts.push(PartRow { owner, seq, part_seq, time, kinds });
        let first = self.parts_of_leases.len();
        for (number, event) in (0..).zip(events) {
            let at = At { seq, time, number };
            match event {
                &Event::Lease(tenant, ref event) => {
                    self.mention(first, tenant, event.lease(), seq);
                    self.lease(connection, at, tenant, event)?;
                }
                &Event::Money(tenant, ref fact) => {
                    let lease = concerns(fact);
                    if let Some(lease) = lease {
                        self.mention(first, tenant, lease, seq);
                    }
                    let stored = minicbor::to_vec(event).expect("a Vec takes every byte");
                    self.postings.push(PostingRow { tenant, seq, number, time, lease, event: stored });
                    self.money(connection, at, tenant, fact)?;
                }
                Event::Market(_) | Event::Fleet(_) | Event::Tenancy(_) => {}
            }
        }
        Ok(())
    }

    fn mention(&mut self, first: usize, tenant: TenantId, lease: LeaseId, seq: u64) {
        if !self.parts_of_leases[first..].iter().any(|(_, known, _)| *known == lease) {
            self.parts_of_leases.push((tenant.into(), lease, seq));
        }
    }

    fn lease(&mut self, connection: &Connection, at: At, tenant: TenantId, event: &LeaseEvent) -> Result<(), Failure> {
        match event {
            LeaseEvent::Requested(e) => {
                self.changed.insert(e.lease);
                let lease = Lease { seq: at.seq, ..Lease::ordered(tenant, e, at.time) };
                self.leases.insert(e.lease, Box::new(lease));
            }
            event => {
                let lease = self.change(connection, event.lease(), at.seq)?;
                lease.apply(event, at.time);
                if lease.ended.is_some() {
                    let id = lease.id;
                    self.ended.push(id);
                }
            }
        }
        Ok(())
    }

    fn money(&mut self, connection: &Connection, at: At, tenant: TenantId, event: &money::Event) -> Result<(), Failure> {
        let Some(Stretch { kind, lease, from, until, milli, micro, ticks }) = stretch(event) else { return Ok(()) };
        let row = self.change(connection, lease, at.seq)?;
        row.pay(event);
        // A run is charged for what it was placed with, and settled before the lease is placed again.
        let (project, sku) = (row.project, row.sku.clone().unwrap_or_default());
        let At { seq, number, .. } = at;
        let line = Line { tenant, lease, project, seq, number, kind, from, until, sku, milli, micro, ticks };
        self.slots.add(&line);
        self.lines.push(line);
        Ok(())
    }

    /// The lease's row, to change it.
    fn change(&mut self, connection: &Connection, id: LeaseId, seq: u64) -> Result<&mut Lease, Failure> {
        let lease = match self.leases.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let stored = stored(connection, id).map_err(failed("reading the views"))?;
                unknown.insert(Box::new(stored.ok_or_else(|| missing(id))?))
            }
        };
        self.changed.insert(id);
        lease.seq = seq;
        Ok(lease)
    }

    /// The leases to write, ascending.
    pub(super) fn changed(&mut self) -> Vec<&Lease> {
        let mut ids: Vec<LeaseId> = self.changed.drain().collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.leases.get(&id).map(AsRef::as_ref)).collect()
    }

    /// Forgets leases that will not change any more, and all of them when they are many.
    pub(super) fn forget(&mut self) {
        for id in self.ended.drain(..) {
            self.leases.remove(&id);
        }
        if self.leases.len() > KEPT {
            self.leases.clear();
        }
    }
}

fn stored(connection: &Connection, id: LeaseId) -> rusqlite::Result<Option<Lease>> {
    let mut select = connection.prepare_cached(&format!("SELECT {} WHERE id = ?1", lease::SELECTED))?;
    select.query_row([signed(id.0)], Lease::read).optional()
}

fn stretch(event: &money::Event) -> Option<Stretch> {
    let (kind, lease, (from, until), (milli, micro), ticks) = match event {
        money::Event::Charged(e) => (Kind::Charged, e.lease, (e.from, e.until), (e.milli, e.micro), e.ticks),
        money::Event::Reversed(e) => (Kind::Reversed, e.lease, (e.from, e.until), (e.milli, e.micro), e.ticks),
        money::Event::Lost(e) => (Kind::Lost, e.lease, (e.from, e.until), (0, Micro(0)), e.ticks),
        _ => return None,
    };
    Some(Stretch { kind, lease, from, until, milli, micro, ticks })
}

/// The lease that a fact about money is for.
fn concerns(event: &money::Event) -> Option<LeaseId> {
    match event {
        money::Event::Held(e) => Some(e.lease),
        money::Event::Charged(e) => Some(e.lease),
        money::Event::Reversed(e) => Some(e.lease),
        money::Event::Released(e) => Some(e.lease),
        money::Event::Lost(e) => Some(e.lease),
        money::Event::PaymentOpened(_)
        | money::Event::Paid(_)
        | money::Event::PaymentFailed(_)
        | money::Event::CreditSet(_)
        | money::Event::Adjusted(_) => None,
    }
}
