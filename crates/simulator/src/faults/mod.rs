//! Worlds with faults, many seeds: no invariant may break, and every bill must be what the auditor makes it.
//!
//! A seed and a number of commands reproduce a run exactly. One that fails is shortened before it is reported.

mod deeds;
mod history;
mod operator;
mod report;
mod settle;
mod shorten;
mod tenants;
mod weather;

pub use crate::world::Sabotage;
pub use report::{Broken, Report};

use history::History;
use serde::{Deserialize, Serialize};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

/// What to simulate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Options {
    /// The first seed.
    pub first_seed: u64,
    /// How many seeds.
    pub seeds: u64,
    /// Commands in each world.
    pub commands: u32,
    /// Whether anything goes wrong.
    pub faults: bool,
    /// Breaks the build on purpose: shows that the simulation notices.
    pub sabotage: Option<Sabotage>,
}

impl Default for Options {
    fn default() -> Self {
        Options { first_seed: 1, seeds: 100, commands: 2_000, faults: true, sabotage: None }
    }
}

/// Runs all seeds on all cores, and stops at the first that breaks something. `progress` is told how many worlds are done.
pub fn run(options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Report {
    let (next, done, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let total = Mutex::new(Report::of(options));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= options.seeds {
                return;
            }
            let outcome = History::of(options, options.first_seed + at).play();
            let mut total = total.lock().expect("adding up does not panic");
            if total.add(outcome) {
                stop.store(true, Ordering::Relaxed);
            }
            drop(total);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    let mut report = total.into_inner().expect("adding up does not panic");
    report.broken = report.broken.map(|broken| shorten::shorten(options, broken));
    report
}
