//! What a lease costs by now, between two charges.

use super::{Lease, Status};
use crate::State as Root;
use units::{Ticks, Time};

/// What the lease has cost over all its runs until `now`: what is charged, and what this run accrued since, at the prices
/// in force at each instant. The next charge will say the same.
pub fn cost_so_far(root: &Root, lease: &Lease, now: Time) -> Ticks {
    // A stopping lease has its run's charge in `charged_before` already.
    let run = root.money.run(lease.id).filter(|_| lease.status == Status::Running).copied().unwrap_or_default();
    let from = run.charged_until.or(lease.ready).filter(|_| lease.status == Status::Running);
    let accrued = from.zip(lease.priced).map(|(from, priced)| {
        billing::rate(&root.market.prices, priced.sku, priced.milli, from, now).map(|line| line.ticks).sum()
    });
    lease.charged_before + run.charged + accrued.unwrap_or(Ticks::ZERO)
}
