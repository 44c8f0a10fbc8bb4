//! An entry's parts: the operator's, then one per tenant it concerns. Sealing and folding.
//!
//! A part is the CBOR array `[seq, time, part_seq, totals, events]`: the entry's number and time (milliseconds), the
//! owner's gapless count of his parts (from 1), for a tenant his running totals `[charged, paid]` in ticks after this entry
//! (`null` for the operator), and the events.

use crate::{DecodeEventError, Event, State, fleet, lease, market, money, tenancy};
use billing::Totals;
use minicbor::{Decoder, Encode, Encoder, decode, encode};
use std::borrow::Borrow;
use units::{Owner, Time};

/// One owner's share of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Whose it is.
    pub owner: Owner,
    /// The entry's number in the journal, from 1.
    pub seq: u64,
    /// The entry's time.
    pub time: Time,
    /// The owner's own count of parts, from 1, without a gap.
    pub part_seq: u64,
    /// A tenant's totals after this entry.
    pub totals: Option<Totals>,
    /// The facts, in order.
    pub events: Vec<Event>,
}

/// Orders events into parts: the operator's first, then the tenants' by id. Sets each owner's count and totals.
pub fn seal(state: &State, time: Time, events: Vec<Event>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::with_capacity(2);
    for event in events {
        let owner = event.owner();
        match parts.iter_mut().find(|part| part.owner == owner) {
            Some(part) => part.events.push(event),
            None => parts.push(Part { events: vec![event], ..blank(state, time, owner) }),
        }
    }
    parts.sort_unstable_by_key(|part| part.owner);
    for part in &mut parts {
        part.totals = part.owner.tenant().map(|tenant| money::totals_after(state, tenant, &part.events));
    }
    parts
}

/// The part of an entry that changes nothing: it says that the owner's wish was heard.
pub fn seal_nothing(state: &State, time: Time, owner: Owner) -> Part {
    let totals = owner.tenant().map(|tenant| money::totals_after(state, tenant, &[]));
    Part { totals, ..blank(state, time, owner) }
}

fn blank(state: &State, time: Time, owner: Owner) -> Part {
    Part { owner, seq: state.seq + 1, time, part_seq: state.part_seq(owner) + 1, totals: None, events: Vec::new() }
}

/// Folds entries, given as their parts, whole and in order. Never decides, never fails: an event that does not fit the
/// state is a bug of the writer.
pub fn apply(state: &mut State, parts: impl IntoIterator<Item = impl Borrow<Part>>) {
    for part in parts {
        let part = part.borrow();
        state.seq = part.seq;
        state.time = part.time;
        state.set_part_seq(part.owner, part.part_seq);
        for event in &part.events {
            apply_event(state, event);
        }
    }
}

fn apply_event(state: &mut State, event: &Event) {
    let at = lease::At { seq: state.seq, time: state.time };
    match event {
        Event::Fleet(event) => fleet::apply(&mut state.fleet, at.seq, event, &mut state.room),
        Event::Market(event) => {
            if let market::Event::PricesPublished(list) = event {
                state.lease.reprice(list.from, &list.items.iter().map(|item| item.id).collect());
            }
            market::apply(&mut state.market, event, &mut state.room);
        }
        Event::Tenancy(event) => tenancy::apply(&mut state.tenancy, event, &mut state.room),
        Event::Lease(tenant, event) => lease::apply(&mut state.lease, at, *tenant, event, &mut state.room),
        Event::Money(tenant, event) => money::apply(&mut state.money, *tenant, event, &mut state.room),
    }
}

impl<C> Encode<C> for Part {
    fn encode<W: encode::Write>(&self, e: &mut Encoder<W>, c: &mut C) -> Result<(), encode::Error<W::Error>> {
        e.array(5)?.u64(self.seq)?.i64(self.time.0)?.u64(self.part_seq)?;
        self.totals.encode(e, &mut ())?;
        e.array(self.events.len() as u64)?;
        self.events.iter().try_for_each(|event| event.encode(e, c))
    }
}

impl Part {
    /// Reads the part of `owner` from its stored bytes.
    pub fn decode(bytes: &[u8], owner: Owner) -> Result<Part, DecodeEventError> {
        let mut part = Part { owner, seq: 0, time: Time(0), part_seq: 0, totals: None, events: Vec::new() };
        part.decode_over(bytes, owner)?;
        Ok(part)
    }

    /// As [`Part::decode`], into the memory of a part that nobody needs any more. After an error it holds no part.
    pub fn decode_over(&mut self, bytes: &[u8], owner: Owner) -> Result<(), DecodeEventError> {
        let mut d = Decoder::new(bytes);
        if d.array()? != Some(5) {
            return Err(decode::Error::message("a part is [seq, time, part_seq, totals, events]"));
        }
        self.owner = owner;
        (self.seq, self.time, self.part_seq) = (d.u64()?, Time(d.i64()?), d.u64()?);
        self.totals = d.decode()?;
        let count = d.array()?.ok_or_else(|| decode::Error::message("events have a definite length"))?;
        self.events.clear();
        // A count in damaged bytes must not reserve memory; no event is shorter than four bytes.
        self.events.reserve((count as usize).min(bytes.len() / 4));
        for _ in 0..count {
            self.events.push(Event::decode(&mut d, owner)?);
        }
        Ok(())
    }
}
