//! What an audit comes to.

use crate::Finding;
use std::collections::BTreeMap;
use units::{LeaseId, TenantId, Ticks, Time};

/// Bills and balances as recomputed, and everything that is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries that were read.
    pub entries: u64,
    /// Leases that were ever ordered.
    pub leases: u64,
    /// By lease, those that were charged or have not ended.
    pub bills: BTreeMap<LeaseId, Bill>,
    /// By tenant.
    pub balances: BTreeMap<TenantId, Balances>,
    /// What is wrong, in order; the first thousand.
    pub findings: Vec<Finding>,
    /// Further findings that were not kept.
    pub left_out: u64,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// What a lease was charged, less what was given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill {
    /// Who pays.
    pub tenant: TenantId,
    /// In all.
    pub ticks: Ticks,
    /// For which use, ascending; neighbours at one price and size are one.
    pub intervals: Vec<Use>,
}

/// A stretch of use of one size at one price. It costs `micro × milli × milliseconds × 90` ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// First millisecond.
    pub from: Time,
    /// First millisecond after it.
    pub until: Time,
    /// The SKU's number.
    pub sku: u32,
    /// How much of it, in thousandths.
    pub milli: u64,
    /// Millionths of a yuan an hour for one whole.
    pub micro: i64,
}

/// A tenant's accounts and lifetime totals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balances {
    /// His own money, free to use.
    pub wallet: Ticks,
    /// Set aside for leases.
    pub held: Ticks,
    /// What he owes: zero or below.
    pub receivable: Ticks,
    /// What the operator earned of him.
    pub revenue: Ticks,
    /// Use that nobody could be charged for.
    pub loss: Ticks,
    /// Corrections by the operator.
    pub adjustments: Ticks,
    /// Charged over his life, less what was given back.
    pub charged: Ticks,
    /// Paid in over his life.
    pub paid: Ticks,
}
