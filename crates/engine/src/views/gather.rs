//! What a batch of entries changes, gathered in memory: a lease that moved five times is one row to write.

use super::{Kind, Lease, Line, PartRow, Posting, failed, lease, revenue::Slots, signed};
use journal::Failure;
use rental::{Event, Part, lease::Event as LeaseEvent, market, money};
use rusqlite::{Connection, OptionalExtension};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use units::{LeaseId, Micro, Owner, TenantId, Ticks, Time};

/// Leases that stay in memory between batches, so that a renewal need not read its lease first. About 50 MB.
const KEPT: usize = 100_000;

/// The rows that a batch makes or changes.
#[derive(Default)]
pub(super) struct Gathered {
    leases: FxHashMap<LeaseId, Lease>,
    changed: FxHashSet<LeaseId>,
    names: FxHashMap<u32, String>,
    pub skus: Vec<(u32, String)>,
    pub lines: Vec<Line>,
    pub postings: Vec<Posting>,
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
    /// Gathers with the names of SKUs that are stored.
    pub(super) fn open(connection: &Connection) -> Result<Gathered, Failure> {
        let read = || -> rusqlite::Result<FxHashMap<u32, String>> {
            let mut statement = connection.prepare("SELECT number, name FROM sku")?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let names = read().map_err(failed("reading the views"))?;
        Ok(Gathered { names, ..Gathered::default() })
    }

    /// Adds one owner's part of an entry.
    pub(super) fn add(&mut self, connection: &Connection, part: Part) -> Result<(), Failure> {
        let Part { owner, seq, time, part_seq, events, .. } = part;
        let kinds = events.iter().map(|event| event.kind().to_owned()).collect();
        self.parts.push(PartRow { owner, seq, part_seq, time, kinds });
        let first = self.parts_of_leases.len();
        for (number, event) in (0..).zip(events) {
            let at = At { seq, time, number };
            match event {
                Event::Lease(tenant, event) => {
                    self.mention(first, tenant, lease_of(&event), seq);
                    self.lease(connection, at, tenant, event)?;
                }
                Event::Money(tenant, event) => {
                    if let Some(lease) = event_lease(&event) {
                        self.mention(first, tenant, lease, seq);
                    }
                    self.money(connection, at, tenant, event)?;
                }
                Event::Market(market::Event::PricesPublished(e)) => {
                    for item in e.items {
                        self.names.insert(item.id.0, item.sku.to_string());
                        self.skus.push((item.id.0, item.sku.to_string()));
                    }
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

    fn lease(&mut self, connection: &Connection, at: At, tenant: TenantId, event: LeaseEvent) -> Result<(), Failure> {
        match event {
            LeaseEvent::Requested(e) => {
                self.changed.insert(e.lease);
                self.leases.insert(e.lease, Lease { seq: at.seq, ..Lease::ordered(tenant, e, at.time) });
            }
            event => {
                let lease = self.change(connection, lease_of(&event), at.seq)?;
                lease.apply(event, at.time);
            }
        }
        Ok(())
    }

    fn money(&mut self, connection: &Connection, at: At, tenant: TenantId, event: money::Event) -> Result<(), Failure> {
        if let Some(stretch) = stretch(&event) {
            let row = self.change(connection, stretch.lease, at.seq)?;
            row.pay(&event);
            let (project, sku) = (row.project, row.sku.clone().unwrap_or_default());
            let Stretch { kind, lease, from, until, milli, micro, ticks } = stretch;
            let sku = sku_of(&event).and_then(|number| self.names.get(&number).cloned()).unwrap_or(sku);
            let line =
                Line { tenant, lease, project, seq: at.seq, number: at.number, kind, from, until, sku, milli, micro, ticks };
            self.slots.add(&line);
            self.lines.push(line);
        }
        let (At { seq, time, number }, lease) = (at, event_lease(&event));
        self.postings.push(Posting { tenant, seq, number, time, lease, event });
        Ok(())
    }

    /// The lease's row, to change it.
    fn change(&mut self, connection: &Connection, id: LeaseId, seq: u64) -> Result<&mut Lease, Failure> {
        let lease = match self.leases.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let stored = stored(connection, id).map_err(failed("reading the views"))?;
                unknown.insert(stored.expect("an event names a lease that was requested in an entry before"))
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
        ids.into_iter().filter_map(|id| self.leases.get(&id)).collect()
    }

    /// Forgets leases that will not change any more, and all of them when they are many.
    pub(super) fn forget(&mut self) {
        self.leases.retain(|_, lease| lease.ended.is_none());
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

fn sku_of(event: &money::Event) -> Option<u32> {
    match event {
        money::Event::Charged(e) => Some(e.sku.0),
        money::Event::Reversed(e) => Some(e.sku.0),
        _ => None,
    }
}

fn event_lease(event: &money::Event) -> Option<LeaseId> {
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

fn lease_of(event: &LeaseEvent) -> LeaseId {
    match event {
        LeaseEvent::Requested(e) => e.lease,
        LeaseEvent::Queued(e) => e.lease,
        LeaseEvent::Placed(e) => e.lease,
        LeaseEvent::MemberReady(e) => e.lease,
        LeaseEvent::Started(e) => e.lease,
        LeaseEvent::Renewed(e) => e.lease,
        LeaseEvent::Extended(e) => e.lease,
        LeaseEvent::Resized(e) => e.lease,
        LeaseEvent::Stopping(e) => e.lease,
        LeaseEvent::ServiceEnded(e) => e.lease,
        LeaseEvent::MemberGone(e) => e.lease,
        LeaseEvent::Stopped(e) => e.lease,
        LeaseEvent::Ended(e) => e.lease,
    }
}
