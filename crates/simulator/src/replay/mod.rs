//! A recorded trace through the production core in compressed time: occupancy, waiting, refusals, revenue, bills.
//!
//! Every time of the trace is divided by one factor and every price multiplied by it, so that bills are those of the
//! trace's own time. Machines are the simplest that can be: a place is ready after a moment, gone after a moment, clean
//! after a moment. What is placed where, who waits, what is charged: all of it is the engine's, and the auditor recomputes
//! every bill from the bytes.

mod house;
mod openb;
mod philly;
mod report;
mod run;
mod trace;

pub use report::{BillLine, Occupancy, Report, Waiting};
pub use trace::ReplayError;

use std::path::{Path, PathBuf};
use trace::Trace;

/// What to replay.
#[derive(Debug, Clone)]
pub struct Options {
    /// A trace's file or the folder that holds it.
    pub trace: PathBuf,
    /// Draws the moments that machines take.
    pub seed: u64,
    /// All times of the trace are divided by it.
    pub divide_by: i64,
    /// Nodes, where the trace names none.
    pub nodes: Option<u32>,
}

impl Options {
    /// A replay of this trace as it is done by default: ten times as fast.
    pub fn new(trace: impl Into<PathBuf>) -> Options {
        Options { trace: trace.into(), seed: 1, divide_by: 10, nodes: None }
    }
}

/// Replays a trace. `progress` is told how many jobs have come, of how many.
pub fn run(options: &Options, progress: &dyn Fn(u64, u64)) -> Result<Report, ReplayError> {
    let trace = read(options)?;
    run::replay(trace, options, progress)
}

fn read(options: &Options) -> Result<Trace, ReplayError> {
    let path = options.trace.as_path();
    let philly_nodes = options.nodes.unwrap_or(philly::NODES);
    let file = if path.is_dir() { known_file(path) } else { Some(path.to_owned()) };
    let file = file.ok_or_else(|| ReplayError::Unknown(path.into()))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match (name.starts_with("openb_pod_list"), openb::nodes_beside(&file)) {
        (true, Some(nodes)) => openb::read(&nodes, &file),
        _ if name.starts_with("philly_gavel") => philly::read(&file, philly_nodes),
        _ => Err(ReplayError::Unknown(path.into())),
    }
}

fn known_file(folder: &Path) -> Option<PathBuf> {
    let names = ["openb_pod_list_default.csv", "philly_gavel_seed0.csv"];
    names.into_iter().map(|name| folder.join(name)).find(|path| path.is_file())
}
