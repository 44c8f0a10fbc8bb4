//! A workload's processes, and how they are ended: all of them, however they detached themselves.

use crate::host::{
    cgroups,
    folder::ShimOrder,
    processes::{self, Stat},
};
use rustix::process::Signal;

/// Every process of a workload: in its control groups, descended from its shim, or started with its mark.
///
/// Orphans come back to the shim as its children (it is their subreaper), so a double fork hides nothing.
pub(super) fn of(order: &ShimOrder, shim: i32) -> Vec<Stat> {
    let descended = processes::descendants(shim);
    processes::distinct(descended.into_iter().chain(without_shim(order)))
}

/// What can still be found of it once its shim is dead.
fn without_shim(order: &ShimOrder) -> impl Iterator<Item = Stat> {
    let grouped = cgroups::processes(&order.cgroups).into_iter().filter_map(processes::stat);
    grouped.filter(|stat| !stat.is_dead()).chain(processes::with_environment(&order.mark))
}

/// Kills the tree of a shim that lives and does not end it; whether anything was there.
pub(crate) fn kill(order: &ShimOrder, shim: i32) -> bool {
    kill_all(&of(order, shim))
}

/// Kills what a dead shim left behind; whether anything was there.
pub(crate) fn kill_leftovers(order: &ShimOrder) -> bool {
    kill_all(&processes::distinct(without_shim(order)))
}

fn kill_all(left: &[Stat]) -> bool {
    left.iter().for_each(|stat| stat.signal(Signal::KILL));
    !left.is_empty()
}
