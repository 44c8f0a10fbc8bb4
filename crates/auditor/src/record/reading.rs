//! Part after part: what is none of this lease's is passed over, and each part's totals follow from those before it.

use super::Record;
use crate::{
    Finding,
    facts::{Fact, money},
    findings::Findings,
    order::Start,
};
use minicbor::{Decoder, decode::Error};
use units::{LeaseId, Owner};

/// A lease while its parts are read.
pub struct Reading {
    lease: LeaseId,
    pub record: Option<Record>,
    pub run: Run,
    /// `part_seq` and totals of the part before.
    before: Option<(u64, (i128, i128))>,
    /// That its order is missing was said.
    headless: bool,
    pub found: Findings,
}

/// From one placement to the next.
#[derive(Default)]
pub struct Run {
    pub sku: u32,
    pub started: Option<i64>,
    pub charged_until: Option<i64>,
    /// Charged, less what was given back.
    pub charged: i128,
    /// Thousandths of the SKU, by the time from which it has them.
    pub sizes: Vec<(i64, u64)>,
}

impl Reading {
    pub fn new(lease: LeaseId) -> Reading {
        let (run, found) = (Run::default(), Findings::default());
        Reading { lease, record: None, run, before: None, headless: false, found }
    }

    pub fn part(&mut self, seq: u64, owner: Owner, bytes: &[u8]) {
        self.found.begin(seq);
        self.found.owner = Some(owner);
        if let Err(e) = self.facts(seq, bytes) {
            self.found.wrong(format!("the part cannot be read: {e}"));
        }
    }

    pub fn finish(self) -> (Option<Record>, Vec<Finding>) {
        (self.record, self.found.all)
    }

    fn facts(&mut self, seq: u64, bytes: &[u8]) -> Result<(), Error> {
        let mut d = Decoder::new(bytes);
        let start = Start::read(&mut d)?;
        let mut booked = (0i128, 0i128);
        for _ in 0..start.events {
            let fact = Fact::read(&mut d)?;
            if let Fact::Money(fact) = &fact {
                add(&mut booked, fact);
            }
            if of_lease(&fact) == Some(self.lease.0) {
                self.of_the_lease(seq, start.time, fact);
            }
        }
        self.found.check(d.position() == bytes.len(), || "bytes follow the part's events".into());
        self.totals(&start, booked);
        Ok(())
    }

    fn of_the_lease(&mut self, seq: u64, time: i64, fact: Fact) {
        let ordered = matches!(&fact, Fact::Lease(crate::facts::lease::Fact::Requested(_)));
        if self.record.is_none() && !ordered {
            let first = !std::mem::replace(&mut self.headless, true);
            let lease = self.lease;
            return self.found.check(!first, || format!("the part in which {lease} was ordered is missing"));
        }
        match fact {
            Fact::Lease(fact) => self.lease(time, fact),
            Fact::Money(fact) => self.money(seq, fact),
            Fact::Fleet(_) | Fact::Market(_) | Fact::Tenancy(_) => {}
        }
        if let Some(record) = &mut self.record {
            record.seq = seq;
        }
    }

    /// Between two parts that follow each other, the totals move by what the second one books.
    fn totals(&mut self, start: &Start, booked: (i128, i128)) {
        let Some(totals) = start.totals else { return };
        if let Some((_, before)) = self.before.filter(|(part_seq, _)| part_seq.checked_add(1) == Some(start.part_seq)) {
            let due = (before.0.saturating_add(booked.0), before.1.saturating_add(booked.1));
            self.found.check(totals == due, || format!("the totals say {totals:?} ticks; with the part before it is {due:?}"));
        }
        self.before = Some((start.part_seq, totals));
    }
}

/// What a fact about money adds to its owner's totals.
fn add((charged, paid): &mut (i128, i128), fact: &money::Fact) {
    match fact {
        money::Fact::Charged(e) => *charged = charged.saturating_add(e.ticks),
        money::Fact::Reversed(e) => *charged = charged.saturating_sub(e.ticks),
        money::Fact::Paid(e) => *paid = paid.saturating_add(e.ticks),
        // None of them bills or pays.
        money::Fact::PaymentOpened(_) | money::Fact::PaymentFailed(_) | money::Fact::CreditSet(_) | money::Fact::Adjusted(_) => {}
        money::Fact::Held(_) | money::Fact::Released(_) | money::Fact::Lost(_) => {}
    }
}

fn of_lease(fact: &Fact) -> Option<u64> {
    match fact {
        Fact::Lease(fact) => Some(fact.lease()),
        Fact::Money(fact) => fact.lease(),
        Fact::Fleet(_) | Fact::Market(_) | Fact::Tenancy(_) => None,
    }
}
