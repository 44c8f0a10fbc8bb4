//! The agents' side: join, poll, report. Plain functions, so that an agent within the process calls what the routes call.

mod join;
mod poll;
mod report;

pub use join::{enroll, join};
pub use poll::poll;
pub use report::report;

use protocol::{Generation, Instance, Usage};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};
use units::{AgentId, LeaseId, Time};

/// What agents said that is not journaled, and what they were last told.
#[derive(Default)]
pub(crate) struct Agents(Mutex<Tables>);

#[derive(Default)]
struct Tables {
    told: HashMap<AgentId, Told>,
    progress: HashMap<LeaseId, String>,
    usage: HashMap<Instance, Usage>,
}

/// The deadlines that an agent got with an answer of this generation.
#[derive(Default)]
struct Told {
    generation: Generation,
    deadlines: HashMap<Instance, Option<Time>>,
}

impl Agents {
    /// What a lease's start is at.
    pub fn progress(&self, lease: LeaseId) -> Option<String> {
        self.tables().progress.get(&lease).cloned()
    }

    /// What workloads use, as last measured. Of leases that are not `live` any more everything is forgotten.
    pub fn usage(&self, live: impl Fn(LeaseId) -> bool) -> Vec<Usage> {
        let mut tables = self.tables();
        tables.usage.retain(|instance, _| live(instance.lease));
        tables.progress.retain(|lease, _| live(*lease));
        tables.usage.values().cloned().collect()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().expect("nothing panics while it holds these tables")
    }
}
