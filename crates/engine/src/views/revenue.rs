//! What the operator earned: sums per quarter of an hour and SKU, kept as lines come in, so that a day is read in
//! microseconds whatever was rented. A quarter of an hour, because every zone's midnight is at one.

use super::{Kind, Line, Queries, failed, rows::from_bytes, usage::Days};
use jiff::{civil::Date, tz::TimeZone};
use journal::Failure;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use units::{Ticks, Time};

/// A slot, in milliseconds.
const SLOT_MS: i64 = 900_000;

/// What one SKU brought on one civil day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayRevenue {
    /// The day.
    pub day: Date,
    /// What was used, such as `card/A100-80GB`.
    pub sku: String,
    /// Charged for use on this day.
    pub charged: Ticks,
    /// Taken back of it.
    pub reversed: Ticks,
    /// Use that nobody was charged for.
    pub lost: Ticks,
    /// Thousandths of the SKU times milliseconds, charged less reversed.
    pub milli_ms: i128,
}

impl DayRevenue {
    /// Charged less reversed.
    pub fn earned(&self) -> Ticks {
        self.charged - self.reversed
    }
}

impl Queries {
    /// Revenue by day in a zone and by SKU, for use in `[from, until)`, both taken down to their quarter of an hour.
    /// Over all tenants: the operator's eyes only.
    pub fn revenue(&self, zone: &TimeZone, from: Time, until: Time) -> Result<Vec<DayRevenue>, Failure> {
        let mut days = Days::new(None);
        let mut found: BTreeMap<(Date, String), Slot> = BTreeMap::new();
        let mut read = || {
            let select = "SELECT charged, reversed, lost, milli_ms, start, sku FROM slot WHERE start >= ?1 AND start < ?2";
            let mut statement = self.connection.prepare_cached(select)?;
            let mut rows = statement.query([slot_of(from), slot_of(until)])?;
            while let Some(row) = rows.next()? {
                let (_, _, day) = days.day(zone, Time(row.get(4)?));
                found.entry((day, row.get(5)?)).or_default().add(&Slot::read(row)?);
            }
            Ok(())
        };
        read().map_err(failed("reading the revenue"))?;
        let day = |((day, sku), slot): ((Date, String), Slot)| {
            let Slot { charged, reversed, lost, milli_ms } = slot;
            DayRevenue { day, sku, charged, reversed, lost, milli_ms }
        };
        Ok(found.into_iter().map(day).collect())
    }
}

fn slot_of(time: Time) -> i64 {
    time.0.div_euclid(SLOT_MS).saturating_mul(SLOT_MS)
}

/// Sums of one slot and SKU.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    charged: Ticks,
    reversed: Ticks,
    lost: Ticks,
    milli_ms: i128,
}

impl Slot {
    fn add(&mut self, other: &Slot) {
        self.charged += other.charged;
        self.reversed += other.reversed;
        self.lost += other.lost;
        self.milli_ms += other.milli_ms;
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Slot> {
        let sums = Slot {
            charged: from_bytes(row.get(0)?),
            reversed: from_bytes(row.get(1)?),
            lost: from_bytes(row.get(2)?),
            milli_ms: i128::from_be_bytes(row.get(3)?),
        };
        Ok(sums)
    }
}

/// What a batch adds to the slots.
#[derive(Default)]
pub(super) struct Slots(FxHashMap<(i64, String), Slot>);

impl Slots {
    /// Adds a line, cut at the slots' bounds.
    pub(super) fn add(&mut self, line: &Line) {
        let mut start = slot_of(line.from);
        // A loss is not cut: it counts where it begins.
        let end = if line.kind == Kind::Lost { line.from.plus_ms(1) } else { line.until };
        while start < end.0 {
            let next = start.saturating_add(SLOT_MS);
            if let Some(piece) = line.clone().within(Time(start), Time(next)) {
                self.0.entry((start, piece.sku.clone())).or_default().add(&sums(&piece));
            }
            start = next;
        }
    }

    /// Adds the batch to what is stored.
    pub(super) fn write(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut upsert = transaction.prepare_cached("INSERT OR REPLACE INTO slot VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        for ((start, sku), mut slot) in self.0.drain() {
            if let Some(stored) = stored(transaction, start, &sku)? {
                slot.add(&stored);
            }
            let (charged, reversed, lost) = (slot.charged.to_bytes(), slot.reversed.to_bytes(), slot.lost.to_bytes());
            upsert.execute(params![start, sku, charged, reversed, lost, slot.milli_ms.to_be_bytes()])?;
        }
        Ok(())
    }
}

fn stored(connection: &Connection, start: i64, sku: &str) -> rusqlite::Result<Option<Slot>> {
    let select = "SELECT charged, reversed, lost, milli_ms FROM slot WHERE start = ?1 AND sku = ?2";
    connection.prepare_cached(select)?.query_row(params![start, sku], Slot::read).optional()
}

fn sums(piece: &Line) -> Slot {
    let mut slot = Slot { milli_ms: piece.milli_ms(), ..Slot::default() };
    match piece.kind {
        Kind::Charged => slot.charged = piece.ticks,
        Kind::Reversed => slot.reversed = piece.ticks,
        Kind::Lost => slot.lost = piece.ticks,
    }
    slot
}
