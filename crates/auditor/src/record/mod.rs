//! One lease as a selection of its owner's parts tells it: what a receipt must say, worked out afresh.
//!
//! Whoever holds a receipt has the parts that speak of his lease, and neither the operator's prices nor his fleet. What those
//! parts say of the lease is held against itself: nothing missing between two of them that shows, every line is price ×
//! quantity × time, the lines of a run are its chargeable time, and the sums are what the parts say they are.

mod fold;
mod reading;

use crate::{
    Finding,
    facts::{
        Grant, Sku,
        lease::{Ask, OnFailure, Reason, Then},
    },
    prices::amount,
};
use reading::Reading;
use units::{HOUR_MS, LeaseId, Owner, ProjectId, Ticks, Time};

/// Where a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Ordered; the same part goes on to queue or place it.
    Ordered,
    /// Waits for room.
    Queued,
    /// Placed, not yet usable.
    Starting,
    /// Usable, and charged.
    Running,
    /// Charged no more, not yet gone from its nodes.
    Stopping(Then),
    /// Has no place; may be started again.
    Stopped,
    /// Over: nothing follows.
    Ended,
}

/// What a line of a receipt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Use was charged.
    Charged,
    /// A charge was taken back.
    Reversed,
    /// Use that nobody was charged for.
    Lost,
}

/// A line of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it does.
    pub kind: LineKind,
    /// First millisecond.
    pub from: Time,
    /// First millisecond after it.
    pub until: Time,
    /// What was used.
    pub sku: Option<Sku>,
    /// How much of it, in thousandths; 0 for use that was lost.
    pub milli: u64,
    /// Millionths of a yuan an hour for one whole; 0 for use that was lost.
    pub micro: i64,
    /// What it adds to the bill: negative for what was given back, nothing for what was lost.
    pub ticks: Ticks,
    /// The entry that booked it.
    pub seq: u64,
}

/// A lease as of its last part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id.
    pub lease: LeaseId,
    /// Of which project.
    pub project: ProjectId,
    /// Where it is.
    pub standing: Standing,
    /// Since when.
    pub since: Time,
    /// When it was first ordered.
    pub ordered: Time,
    /// When it was ordered, or last started again.
    pub requested: Time,
    /// When it first became usable.
    pub first_ready: Option<Time>,
    /// When the present run became usable.
    pub ready: Option<Time>,
    /// When it ended.
    pub ended: Option<Time>,
    /// Why it stopped, is stopping or ended.
    pub reason: Option<Reason>,
    /// More on why: of a wait, a stop, a failure.
    pub detail: String,
    /// What was asked for.
    pub ask: Ask,
    /// What becomes of it when its service fails.
    pub on_failure: OnFailure,
    /// What it has, by node.
    pub grants: Vec<Grant>,
    /// What is charged for, once it was placed.
    pub sku: Option<Sku>,
    /// How much of it and at which price an hour for one whole, as last placed, resized or charged.
    pub rate: Option<(u64, i64)>,
    /// How often it was placed.
    pub attempt: u32,
    /// Every charge, reversal and loss, in the order in which they were booked.
    pub lines: Vec<Line>,
    /// The sum of the lines.
    pub total: Ticks,
    /// The last entry that speaks of it.
    pub seq: u64,
}

impl Record {
    /// What an hour of it costs, as last placed, resized or charged.
    pub fn per_hour(&self) -> Option<Ticks> {
        let (milli, micro) = self.rate?;
        amount(micro, milli, 0, HOUR_MS).map(Ticks)
    }

    /// Works a lease out from its owner's parts, each with its entry, in order; and says what is wrong with them. There is no
    /// record where its order is not among them.
    pub fn read(lease: LeaseId, owner: Owner, parts: &[(u64, &[u8])]) -> (Option<Record>, Vec<Finding>) {
        let mut reading = Reading::new(lease);
        for (seq, bytes) in parts {
            reading.part(*seq, owner, bytes);
        }
        reading.finish()
    }
}
