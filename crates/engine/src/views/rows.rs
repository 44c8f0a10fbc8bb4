//! Lines of bills, postings of a wallet, parts of the journal: rows that are written once.

use super::{signed, unsigned};
use rental::Event;
use rusqlite::{Row, Statement, params, types::Type};
use serde::{Serialize, de::DeserializeOwned};
use std::{error::Error, fmt};
use units::{LeaseId, Micro, Owner, ProjectId, TenantId, Ticks, Time};

/// What a line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Use was charged.
    Charged,
    /// A charge was taken back.
    Reversed,
    /// Use that nobody was charged for.
    Lost,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["charged", "reversed", "lost"][*self as usize])
    }
}

/// Use of one SKU at one price over `[from, until)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whose.
    pub tenant: TenantId,
    /// The lease.
    pub lease: LeaseId,
    /// The lease's project.
    pub project: ProjectId,
    /// The entry that booked it.
    pub seq: u64,
    /// Its place among the events of its part.
    pub number: u32,
    /// What it does.
    pub kind: Kind,
    /// First millisecond.
    pub from: Time,
    /// First millisecond after it.
    pub until: Time,
    /// What was used, such as `card/A100-80GB`.
    pub sku: String,
    /// How much of it, in thousandths; 0 for use that was lost.
    pub milli: u64,
    /// Its price per hour of one whole; 0 for use that was lost.
    pub micro: Micro,
    /// The exact amount, never negative.
    pub ticks: Ticks,
}

impl Line {
    /// What it adds to the tenant's bill: a reversal takes away, a loss adds nothing.
    pub fn billed(&self) -> Ticks {
        Ticks(self.sign() * self.ticks.0)
    }

    /// Thousandths of the SKU times milliseconds, negative for a reversal, 0 for a loss.
    pub fn milli_ms(&self) -> i128 {
        self.sign() * i128::from(self.milli) * i128::from(self.until.since(self.from))
    }

    /// The part of it in `[from, until)`, exactly; `None` where that is nothing. A loss has no one price: it is not cut,
    /// it counts where it begins.
    pub fn within(mut self, from: Time, until: Time) -> Option<Line> {
        if self.kind == Kind::Lost {
            return (from <= self.from && self.from < until).then_some(self);
        }
        let (cut_from, cut_until) = (self.from.max(from), self.until.min(until));
        if (cut_from, cut_until) != (self.from, self.until) {
            self.ticks = self.micro.rate(self.milli).over(cut_until.since(cut_from));
            (self.from, self.until) = (cut_from, cut_until);
        }
        (cut_from < cut_until).then_some(self)
    }

    fn sign(&self) -> i128 {
        match self.kind {
            Kind::Charged => 1,
            Kind::Reversed => -1,
            Kind::Lost => 0,
        }
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Line> {
        Ok(Line {
            tenant: TenantId(unsigned(row.get(0)?)),
            until: Time(row.get(1)?),
            seq: unsigned(row.get(2)?),
            number: row.get(3)?,
            kind: kind(4, row.get(4)?)?,
            lease: LeaseId(unsigned(row.get(5)?)),
            project: ProjectId(unsigned(row.get(6)?)),
            from: Time(row.get(7)?),
            sku: row.get(8)?,
            milli: unsigned(row.get(9)?),
            micro: Micro(row.get(10)?),
            ticks: from_bytes(row.get(11)?),
        })
    }

    pub(super) const INSERT: &str = "INSERT INTO line VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)";

    pub(super) fn write(&self, insert: &mut Statement<'_>) -> rusqlite::Result<()> {
        insert.execute(params![
            signed(self.tenant.0),
            self.until.0,
            signed(self.seq),
            self.number,
            self.kind as u8,
            signed(self.lease.0),
            signed(self.project.0),
            self.from.0,
            self.sku,
            signed(self.milli),
            self.micro.0,
            self.ticks.to_bytes(),
        ])?;
        Ok(())
    }
}

fn kind(column: usize, number: u8) -> rusqlite::Result<Kind> {
    match number {
        0 => Ok(Kind::Charged),
        1 => Ok(Kind::Reversed),
        2 => Ok(Kind::Lost),
        _ => Err(rusqlite::Error::IntegralValueOutOfRange(column, number.into())),
    }
}

/// One fact about a tenant's money, as it stands in the journal, with both legs of its movements.
#[derive(Debug, Clone, PartialEq)]
pub struct Posting {
    /// Whose.
    pub tenant: TenantId,
    /// The entry.
    pub seq: u64,
    /// Its place among the events of its part.
    pub number: u32,
    /// The entry's time.
    pub time: Time,
    /// The lease it is for, if it is for one.
    pub lease: Option<LeaseId>,
    /// The fact.
    pub event: rental::money::Event,
}

impl Posting {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Posting> {
        let tenant = TenantId(unsigned(row.get(0)?));
        let mut decoder = minicbor::Decoder::new(row.get_ref(5)?.as_blob()?);
        let event = match Event::decode(&mut decoder, tenant.into()).map_err(|e| wrong(5, e))? {
            Event::Money(_, event) => event,
            other => return Err(wrong(5, format!("{} is not about money", other.kind()))),
        };
        let lease = row.get::<_, Option<i64>>(4)?.map(|id| LeaseId(unsigned(id)));
        Ok(Posting { tenant, seq: unsigned(row.get(1)?), number: row.get(2)?, time: Time(row.get(3)?), lease, event })
    }
}

/// A posting to write; the fact in the bytes of the journal: kind, version, body.
#[derive(Debug)]
pub(super) struct PostingRow {
    pub tenant: TenantId,
    pub seq: u64,
    pub number: u32,
    pub time: Time,
    pub lease: Option<LeaseId>,
    pub event: Vec<u8>,
}

impl PostingRow {
    pub const INSERT: &str = "INSERT INTO posting VALUES (?1,?2,?3,?4,?5,?6)";

    pub fn write(&self, insert: &mut Statement<'_>) -> rusqlite::Result<()> {
        let lease = self.lease.map(|lease| signed(lease.0));
        insert.execute(params![signed(self.tenant.0), signed(self.seq), self.number, self.time.0, lease, self.event])?;
        Ok(())
    }
}

/// That an entry has a part of an owner. The part itself is in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// Whose.
    pub owner: Owner,
    /// The entry.
    pub seq: u64,
    /// The owner's own count of parts, from 1, without a gap.
    pub part_seq: u64,
    /// The entry's time.
    pub time: Time,
    /// Kinds of its events, each once, in the order of the first of each, such as `lease.placed/1`.
    pub kinds: Vec<String>,
}

impl PartRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<PartRow> {
        Ok(PartRow {
            owner: Owner(unsigned(row.get(0)?)),
            seq: unsigned(row.get(1)?),
            part_seq: unsigned(row.get(2)?),
            time: Time(row.get(3)?),
            kinds: row.get_ref(4)?.as_str()?.split_terminator(' ').map(Into::into).collect(),
        })
    }
}

/// Sixteen bytes of an amount.
pub(super) fn from_bytes(bytes: [u8; 16]) -> Ticks {
    Ticks::from_bytes(bytes)
}

/// A value that is one word in JSON, as that word.
pub(super) fn text(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("only words are written so, not {other:?}"),
    }
}

/// The reverse of [`text`].
pub(super) fn from_text<T: DeserializeOwned>(column: usize, word: &str) -> rusqlite::Result<T> {
    serde_json::from_value(word.into()).map_err(|e| wrong(column, e))
}

/// A column that holds what we never wrote.
pub(super) fn wrong(column: usize, error: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, error.into())
}
