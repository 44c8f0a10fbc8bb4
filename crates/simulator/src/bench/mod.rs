//! Measurements, and the one form in which all of them are told.

mod core;
mod machine;
pub mod replay;

pub use core::{Options as CoreOptions, core};
pub use machine::Machine;

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// What a benchmark found, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    /// Its name, as `suanzu bench` takes it.
    pub bench: String,
    /// Where it ran.
    pub machine: Machine,
    /// What was measured.
    pub results: Vec<Measured>,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its name, such as `core.decisions_per_second`.
    pub metric: String,
    /// What tells it from others of its name.
    pub labels: BTreeMap<String, String>,
    /// The figure.
    pub value: f64,
    /// Its unit, such as `1/s` or `s`.
    pub unit: String,
}

impl BenchReport {
    /// A report without figures of a benchmark that works in `folder`, whose file system is named.
    pub fn new(bench: &str, folder: &Path) -> BenchReport {
        BenchReport { bench: bench.into(), machine: Machine::look(folder), results: Vec::new() }
    }

    /// Adds a figure.
    pub fn add(&mut self, metric: &str, labels: &[(&str, &str)], value: f64, unit: &str) {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.results.push(Measured { metric: metric.into(), labels, value, unit: unit.into() });
    }
}
