//! A trace in one form, whichever file it came from.

use std::{io, path::PathBuf};
use units::{Beside, Size};

/// Machines and what was asked of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    /// Its name, for the report.
    pub name: String,
    pub nodes: Vec<Node>,
    pub jobs: Vec<Job>,
    /// What was assumed because the trace does not say it.
    pub assumed: Vec<String>,
}

/// A machine.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub name: String,
    pub cpu_milli: u32,
    pub memory_mib: u32,
    /// Model of its cards, with how many of them; `None` for a CPU node.
    pub cards: Option<(String, u32)>,
}

/// Something that somebody wanted to run.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub name: String,
    /// Whose: tenants are made in the order in which they first ask.
    pub owner: String,
    /// When it was asked for, in milliseconds from the start of the trace.
    pub at_ms: i64,
    /// How long it runs once it is ready, in milliseconds.
    pub runs_ms: i64,
    /// Withdrawn if it has not begun by then, in milliseconds from the start of the trace.
    pub given_up_ms: Option<i64>,
    pub size: Size,
    /// Acceptable models; empty: any.
    pub models: Vec<String>,
    pub beside: Beside,
}

/// Why a trace could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {source}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: csv::Error,
    },
    /// There is nothing here that can be read as a trace.
    #[error("{}: no known trace; expected openb_node_list_*.csv beside openb_pod_list_*.csv, or a philly_gavel_*.csv", .0.display())]
    Unknown(PathBuf),
    /// The core refused to set up the house.
    #[error("the fleet cannot be set up: {0}")]
    Setup(String),
    /// What was replayed does not add up.
    #[error("{0}")]
    Unsound(String),
}

/// Reads all rows of a CSV file with a header.
pub(super) fn rows<T: serde::de::DeserializeOwned>(path: &std::path::Path) -> Result<Vec<T>, ReplayError> {
    let file = std::fs::File::open(path).map_err(|source| ReplayError::Io { path: path.into(), source })?;
    let read: Result<Vec<T>, csv::Error> = csv::Reader::from_reader(file).deserialize().collect();
    read.map_err(|source| ReplayError::Csv { path: path.into(), source })
}

/// The models that the replay knows: name, memory in MiB, CNY per card-hour, thousandths of a TFLOPS.
///
/// Prices are round figures in the proportions of public on-demand lists; a trace names none.
pub(super) const MODELS: &[(&str, u32, i64, u32)] = &[
    ("T4", 15_360, 3, 65_000),
    ("P100", 16_384, 4, 18_700),
    ("V100M16", 16_384, 6, 112_000),
    ("V100M32", 32_768, 8, 125_000),
    ("A10", 23_028, 5, 125_000),
    // Undisclosed in the trace; taken as a small and a large data-centre card.
    ("G2", 24_576, 5, 100_000),
    ("G3", 81_920, 15, 312_000),
    ("V100-16GB", 16_384, 6, 112_000),
];

/// Memory of a model's card, in MiB; of the smallest known one where it is not known.
pub(super) fn memory_of(model: &str) -> u32 {
    MODELS.iter().find(|(name, ..)| *name == model).map_or(15_360, |(_, memory, ..)| *memory)
}
