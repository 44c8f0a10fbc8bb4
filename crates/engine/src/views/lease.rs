//! A lease's row: every lease ever, live or closed, and how the row follows from the lease's events.

use super::{
    rows::{from_bytes, from_text, text},
    signed, unsigned,
};
use rental::{
    lease::{Event, OnFailure, Reason, Requested},
    money,
};
use rusqlite::{Row, Statement, params};
use std::{fmt, str::FromStr};
use units::{Ask, LeaseId, ProjectId, TenantId, Ticks, Time};

/// Where a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Waits for room.
    Queued,
    /// Placed, not yet usable.
    Starting,
    /// Usable, and charged.
    Running,
    /// Charged no more, not yet gone from its nodes.
    Stopping,
    /// Has no place; may be started again.
    Stopped,
    /// Over.
    Ended,
}

impl Standing {
    const ALL: [(Standing, &str); 6] = [
        (Standing::Queued, "queued"),
        (Standing::Starting, "starting"),
        (Standing::Running, "running"),
        (Standing::Stopping, "stopping"),
        (Standing::Stopped, "stopped"),
        (Standing::Ended, "ended"),
    ];
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Standing::ALL[*self as usize].1)
    }
}

impl FromStr for Standing {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = Standing::ALL.iter().find(|(_, name)| *name == text);
        known.map(|(standing, _)| *standing).ok_or_else(|| format!("'{text}' is no state of a lease"))
    }
}

/// A lease as the journal tells it up to entry `seq`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Its id.
    pub id: LeaseId,
    /// Whose.
    pub tenant: TenantId,
    /// Of which project.
    pub project: ProjectId,
    /// Where it is.
    pub standing: Standing,
    /// Since when.
    pub since: Time,
    /// Why it stopped, is stopping or ended.
    pub reason: Option<Reason>,
    /// More on why: of a wait, a stop, a failure.
    pub detail: String,
    /// What was asked for.
    pub ask: Ask,
    /// What becomes of it when its service fails.
    pub on_failure: OnFailure,
    /// How often it was placed.
    pub attempts: u32,
    /// When it was ordered.
    pub requested: Time,
    /// When it first became usable.
    pub ready: Option<Time>,
    /// When the service of its last run ended.
    pub served_until: Option<Time>,
    /// When it was over.
    pub ended: Option<Time>,
    /// Charged over all its runs, less what was reversed.
    pub charged: Ticks,
    /// Use that nobody was charged for.
    pub lost: Ticks,
    /// What is charged, once it was placed, such as `card/A100-80GB`.
    pub sku: Option<String>,
    /// How much of it, in thousandths; 0 before it was placed.
    pub milli: u64,
    /// The last entry that concerns it.
    pub seq: u64,
}

/// The columns that [`Lease::read`] reads and [`UPSERT`] writes, in their order.
pub(super) const SELECTED: &str = "id, owner, project, standing, since, reason, detail, ask, on_failure, attempts, requested, \
                                   ready, served_until, ended, charged, lost, sku, milli, seq FROM lease";

/// Writes a row, new or changed; what never changes is left where it is, its index too.
pub(super) const UPSERT: &str = "INSERT INTO lease VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)
    ON CONFLICT (id) DO UPDATE SET (standing, since, reason, detail, ask, attempts, ready, served_until, ended, charged, lost,
        sku, milli, seq) = (?4, ?5, ?6, ?7, ?8, ?10, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";

impl Lease {
    /// A lease that was ordered at `now`.
    pub(super) fn ordered(tenant: TenantId, e: &Requested, now: Time) -> Lease {
        Lease {
            id: e.lease,
            tenant,
            project: e.project,
            standing: Standing::Queued,
            since: now,
            reason: None,
            detail: String::new(),
            ask: e.ask.clone(),
            on_failure: e.on_failure,
            attempts: 0,
            requested: now,
            ready: None,
            served_until: None,
            ended: None,
            charged: Ticks::ZERO,
            lost: Ticks::ZERO,
            sku: None,
            milli: 0,
            seq: 0,
        }
    }

    /// Folds a fact about the lease itself.
    pub(super) fn apply(&mut self, event: &Event, now: Time) {
        match event {
            Event::Requested(_) | Event::MemberReady(_) | Event::Renewed(_) | Event::ServiceEnded(_) | Event::MemberGone(_) => {}
            Event::Queued(e) => {
                self.stand(Standing::Queued, now);
                self.detail.clone_from(&e.why);
            }
            Event::Placed(e) => {
                self.stand(Standing::Starting, now);
                (self.reason, self.attempts, self.milli) = (None, e.attempt, e.milli);
                self.detail.clear();
                self.sku = Some(e.sku.to_string());
            }
            Event::Started(_) => {
                self.stand(Standing::Running, now);
                self.ready.get_or_insert(now);
            }
            Event::Extended(e) => self.ask.interval.until = e.until,
            Event::Resized(e) => {
                self.ask = e.ask.clone();
                // A lease without a place has no size yet; it gets one when it is placed.
                self.milli = if e.grants.is_empty() { self.milli } else { e.milli };
            }
            Event::Stopping(e) => {
                self.stand(Standing::Stopping, now);
                (self.reason, self.detail) = (Some(e.reason), e.detail.clone());
                self.served_until = e.served_until.or(self.served_until);
            }
            Event::Stopped(_) => self.stand(Standing::Stopped, now),
            Event::Ended(e) => {
                self.stand(Standing::Ended, now);
                (self.reason, self.detail, self.ended) = (Some(e.reason), e.detail.clone(), Some(now));
            }
        }
    }

    /// Folds a fact about its money.
    pub(super) fn pay(&mut self, event: &money::Event) {
        match event {
            money::Event::Charged(e) => self.charged += e.ticks,
            money::Event::Reversed(e) => self.charged -= e.ticks,
            money::Event::Lost(e) => self.lost += e.ticks,
            _ => {}
        }
    }

    fn stand(&mut self, standing: Standing, now: Time) {
        (self.standing, self.since) = (standing, now);
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Lease> {
        Ok(Lease {
            id: LeaseId(unsigned(row.get(0)?)),
            tenant: TenantId(unsigned(row.get(1)?)),
            project: ProjectId(unsigned(row.get(2)?)),
            standing: standing(3, row.get(3)?)?,
            since: Time(row.get(4)?),
            reason: row.get::<_, Option<String>>(5)?.map(|word| from_text(5, &word)).transpose()?,
            detail: row.get(6)?,
            ask: minicbor::decode(row.get_ref(7)?.as_blob()?).map_err(|e| super::rows::wrong(7, e))?,
            on_failure: from_text(8, row.get_ref(8)?.as_str()?)?,
            attempts: row.get(9)?,
            requested: Time(row.get(10)?),
            ready: row.get::<_, Option<i64>>(11)?.map(Time),
            served_until: row.get::<_, Option<i64>>(12)?.map(Time),
            ended: row.get::<_, Option<i64>>(13)?.map(Time),
            charged: from_bytes(row.get(14)?),
            lost: from_bytes(row.get(15)?),
            sku: row.get(16)?,
            milli: unsigned(row.get(17)?),
            seq: unsigned(row.get(18)?),
        })
    }

    pub(super) fn write(&self, upsert: &mut Statement<'_>) -> rusqlite::Result<()> {
        let ask = minicbor::to_vec(&self.ask).expect("a Vec takes every byte");
        upsert.execute(params![
            signed(self.id.0),
            signed(self.tenant.0),
            signed(self.project.0),
            self.standing as u8,
            self.since.0,
            self.reason.map(|reason| text(&reason)),
            self.detail,
            ask,
            text(&self.on_failure),
            self.attempts,
            self.requested.0,
            self.ready.map(|t| t.0),
            self.served_until.map(|t| t.0),
            self.ended.map(|t| t.0),
            self.charged.to_bytes(),
            self.lost.to_bytes(),
            self.sku,
            signed(self.milli),
            signed(self.seq),
        ])?;
        Ok(())
    }
}

fn standing(column: usize, number: u8) -> rusqlite::Result<Standing> {
    let known = Standing::ALL.get(usize::from(number));
    known.map(|(standing, _)| *standing).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number.into()))
}
