//! Use over a time, grouped, with exact sums: lines are cut at the bounds and, by day, at local midnights.

use super::{Kind, Line, Within};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use journal::Failure;
use std::{collections::BTreeMap, fmt};
use units::{LeaseId, ProjectId, TenantId, Ticks, Time};

/// What use is asked for.
#[derive(Debug, Clone)]
pub struct UsageQuery {
    /// First instant.
    pub from: Time,
    /// First instant after it.
    pub until: Time,
    /// Grouped by these in turn; empty: one group of all.
    pub by: Vec<By>,
    /// Only of this lease.
    pub lease: Option<LeaseId>,
    /// Only of this project.
    pub project: Option<ProjectId>,
}

/// What use is grouped by.
#[derive(Debug, Clone)]
pub enum By {
    /// The lease.
    Lease,
    /// What was used.
    Sku,
    /// The civil day in a zone.
    Day(TimeZone),
    /// The project.
    Project,
    /// The tenant: one group, unless the scope is everybody.
    Tenant,
}

/// What a group has in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The lease.
    Lease(LeaseId),
    /// What was used.
    Sku(String),
    /// The civil day.
    Day(Date),
    /// The project.
    Project(ProjectId),
    /// The tenant.
    Tenant(TenantId),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Lease(id) => id.fmt(f),
            Key::Sku(name) => name.fmt(f),
            Key::Day(day) => day.fmt(f),
            Key::Project(id) => id.fmt(f),
            Key::Tenant(id) => id.fmt(f),
        }
    }
}

/// Use that has its keys in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// In the order of the query's `by`.
    pub keys: Vec<Key>,
    /// Charged less reversed, exactly.
    pub ticks: Ticks,
    /// Thousandths of the SKU times milliseconds, charged less reversed. Of several SKUs it means nothing.
    pub milli_ms: i128,
    /// How many lines it is made of.
    pub lines: u64,
}

/// Use over a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// In the order of their keys.
    pub groups: Vec<Group>,
    /// The sum of all groups.
    pub total: Ticks,
    /// How many lines were counted; one that is cut at midnights counts once.
    pub lines: u64,
}

impl Within<'_> {
    /// What was charged for use in `[from, until)`, less what was reversed. Use that nobody was charged for is not in it.
    pub fn usage(&self, query: &UsageQuery) -> Result<Usage, Failure> {
        let mut groups: BTreeMap<Vec<Key>, Group> = BTreeMap::new();
        let mut usage = Usage::default();
        let mut days = Days::of(&query.by);
        self.lines(query, &mut |line| {
            usage.total += line.billed();
            usage.lines += 1;
            for (day, piece) in days.pieces(line) {
                let keys: Vec<Key> = query.by.iter().map(|by| key(by, &piece, day)).collect();
                let group = groups.entry(keys).or_default();
                group.ticks += piece.billed();
                group.milli_ms += piece.milli_ms();
                group.lines += 1;
            }
        })?;
        usage.groups = groups.into_iter().map(|(keys, group)| Group { keys, ..group }).collect();
        Ok(usage)
    }

    /// Shows the lines that [`Within::usage`] counts, cut to `[from, until)`: the records of an export.
    pub fn lines(&self, query: &UsageQuery, visit: &mut dyn FnMut(Line)) -> Result<(), Failure> {
        let mut offer = |line: Line| {
            let wanted = line.kind != Kind::Lost && query.project.is_none_or(|project| project == line.project);
            if let Some(line) = line.within(query.from, query.until).filter(|_| wanted) {
                visit(line);
            }
        };
        match query.lease {
            Some(lease) => self.lines_of(lease)?.into_iter().for_each(offer),
            None => self.lines_over(query.from, query.until, &mut offer)?,
        }
        Ok(())
    }
}

fn key(by: &By, line: &Line, day: Option<Date>) -> Key {
    match by {
        By::Lease => Key::Lease(line.lease),
        By::Sku => Key::Sku(line.sku.clone()),
        By::Day(_) => Key::Day(day.expect("lines are cut at midnights where days are asked for")),
        By::Project => Key::Project(line.project),
        By::Tenant => Key::Tenant(line.tenant),
    }
}

/// Cuts lines at local midnights, if days are asked for.
pub(super) struct Days {
    zone: Option<TimeZone>,
    /// The day that was last asked for: lines come in the order of time.
    last: (Time, Time, Date),
}

impl Days {
    fn of(by: &[By]) -> Days {
        Days::new(by.iter().find_map(|by| if let By::Day(zone) = by { Some(zone.clone()) } else { None }))
    }

    pub(super) fn new(zone: Option<TimeZone>) -> Days {
        Days { zone, last: (Time(0), Time(0), Date::ZERO) }
    }

    fn pieces(&mut self, line: Line) -> Vec<(Option<Date>, Line)> {
        let Some(zone) = self.zone.clone() else { return vec![(None, line)] };
        let mut pieces = Vec::with_capacity(1);
        let mut at = line.from;
        while at < line.until {
            let (_, end, date) = self.day(&zone, at);
            pieces.extend(line.clone().within(at, end).map(|piece| (Some(date), piece)));
            at = end;
        }
        pieces
    }

    /// The civil day around an instant: its start, the next one's, its date.
    pub(super) fn day(&mut self, zone: &TimeZone, at: Time) -> (Time, Time, Date) {
        if !(self.last.0 <= at && at < self.last.1) {
            self.last = civil_day(zone, at);
        }
        self.last
    }
}

/// An instant beyond what the calendar knows (the year 9999) belongs to its last day.
fn civil_day(zone: &TimeZone, at: Time) -> (Time, Time, Date) {
    let instant = Timestamp::from_millisecond(at.0).unwrap_or(if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX });
    let local = instant.to_zoned(zone.clone());
    let start = local.start_of_day().map_or(Time(i64::MIN), |t| Time(t.timestamp().as_millisecond()));
    let next = local.tomorrow().and_then(|t| t.start_of_day());
    let end = next.map_or(Time::MAX, |t| Time(t.timestamp().as_millisecond()));
    (start, end, local.date())
}
