//! What a replay tells, all of it in the trace's own time.

use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// A replay's report.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The trace.
    pub trace: String,
    /// All its times were divided by this, all prices multiplied.
    pub divided_by: i64,
    /// What was assumed because the trace does not say it.
    pub assumed: Vec<String>,
    /// Nodes of the fleet.
    pub nodes: u64,
    /// Cards of the fleet.
    pub cards: u64,
    /// Jobs of the trace.
    pub jobs: u64,
    /// Jobs that ran to their end.
    pub finished: u64,
    /// Jobs that were withdrawn without having begun.
    pub withdrawn: u64,
    /// Refused orders, by code.
    pub refused: BTreeMap<String, u64>,
    /// How long jobs waited for their place.
    pub waiting: Waiting,
    /// How full the fleet was.
    pub occupancy: Vec<Occupancy>,
    /// Mean of the cards in use, in percent of all, from the first arrival to the last.
    pub mean_cards_percent: f64,
    /// What all tenants were charged, in CNY.
    pub revenue: String,
    /// What each tenant was charged, in CNY.
    pub by_tenant: BTreeMap<String, String>,
    /// The ten largest bills.
    pub largest_bills: Vec<BillLine>,
    /// Entries of the journal, all of which the auditor read; its bills are these, to the tick.
    pub audited_entries: u64,
    /// Seconds that the replay took, without the audit.
    pub replay_seconds: f64,
    /// Seconds that the audit took.
    pub audit_seconds: f64,
}

/// Waiting from order to placement, in seconds of the trace.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Waiting {
    /// Jobs that were placed.
    pub placed: u64,
    /// Of these, jobs that had to wait at all.
    pub waited: u64,
    /// Half waited no longer.
    pub p50_seconds: f64,
    /// Nineteen of twenty waited no longer.
    pub p95_seconds: f64,
    /// Nobody waited longer.
    pub most_seconds: f64,
}

/// The fleet at one instant.
#[derive(Debug, Clone, Serialize)]
pub struct Occupancy {
    /// Hours from the start of the trace.
    pub hours: f64,
    /// Cards in use, shares counted as their part, in percent of all.
    pub cards_percent: f64,
    /// Cores in use, in percent of all.
    pub cores_percent: f64,
    /// Jobs that run.
    pub running: u64,
    /// Jobs that wait.
    pub waiting: u64,
}

/// One bill.
#[derive(Debug, Clone, Serialize)]
pub struct BillLine {
    /// The lease.
    pub lease: String,
    /// The trace's name of the job.
    pub job: String,
    /// Whose.
    pub tenant: String,
    /// Hours that it ran.
    pub hours: f64,
    /// What it cost, in CNY.
    pub amount: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} jobs on {} nodes with {} cards, times divided by {}",
            self.trace, self.jobs, self.nodes, self.cards, self.divided_by
        )?;
        self.assumed.iter().try_for_each(|line| writeln!(f, "  assumed: {line}"))?;
        writeln!(f, "\n    hours  cards   cores  running  waiting")?;
        for at in &self.occupancy {
            let Occupancy { hours, cards_percent, cores_percent, running, waiting } = at;
            writeln!(f, "{hours:>9.1} {cards_percent:>5.1}% {cores_percent:>6.1}% {running:>8} {waiting:>8}")?;
        }
        writeln!(f, "\nmean cards in use  {:.1} %", self.mean_cards_percent)?;
        writeln!(f, "finished {}, withdrawn {}, refused {:?}", self.finished, self.withdrawn, self.refused)?;
        let Waiting { placed, waited, p50_seconds, p95_seconds, most_seconds } = &self.waiting;
        writeln!(f, "waiting: {waited} of {placed}; p50 {p50_seconds:.0} s, p95 {p95_seconds:.0} s, most {most_seconds:.0} s")?;
        writeln!(f, "revenue {} CNY", self.revenue)?;
        self.by_tenant.iter().try_for_each(|(tenant, amount)| writeln!(f, "  {tenant:<12} {amount:>20}"))?;
        writeln!(f, "the ten largest bills:")?;
        for bill in &self.largest_bills {
            writeln!(f, "  {:<12} {:<32} {:<12} {:>9.1} h {:>18}", bill.lease, bill.job, bill.tenant, bill.hours, bill.amount)?;
        }
        writeln!(f, "the auditor read {} entries and agrees to the tick", self.audited_entries)?;
        writeln!(f, "{:.2} s for the replay, {:.2} s for the audit", self.replay_seconds, self.audit_seconds)
    }
}
