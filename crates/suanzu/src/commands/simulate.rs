//! `suanzu simulate`: the production core in worlds that exist in memory only.

use crate::{
    app::{App, Done},
    failure::Failure,
    language::phrases as p,
    output::{Column, Format, Show},
};
use anyhow::Context as _;
use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;
use simulator::{faults, replay};
use std::{path::PathBuf, process::ExitCode};

/// What can be simulated.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Random lives with faults, every bill checked by the auditor; ends with 1 where anything breaks
    Faults {
        /// How many worlds
        #[arg(long, default_value_t = 20)]
        seeds: u64,
        /// The first world's seed
        #[arg(long, default_value_t = 1)]
        first_seed: u64,
        /// Commands in each world
        #[arg(long, default_value_t = 2_000)]
        commands: u32,
    },
    /// A recorded trace in compressed time: occupancy, waiting, revenue, bills
    Trace {
        /// The trace's file, or the folder that holds it
        trace: PathBuf,
        /// How much faster time goes
        #[arg(long, default_value_t = 10)]
        divide_by: i64,
        /// Nodes, where the trace names none
        #[arg(long)]
        nodes: Option<u32>,
        /// Draws the moments that machines take
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// What a simulation of faults comes to.
const FAULTS: &[Column] = &[
    Column::new(&p::WORLDS, "/seeds", Show::Text),
    Column::new(&p::COMMANDS, "/commands", Show::Text),
    Column::new(&p::ENTRIES, "/entries", Show::Text),
    Column::new(&p::LEASES, "/leases", Show::Text),
    Column::new(&p::HOURS, "/virtual_hours", Show::Text),
    Column::new(&p::CHARGED, "/charged", Show::Money),
    Column::new(&p::BROKEN, "/broken/what", Show::Text),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::Faults { seeds, first_seed, commands } => {
            let options =
                faults::Options { seeds: *seeds, first_seed: *first_seed, commands: *commands, ..faults::Options::default() };
            let report = faults::run(&options, &|_| {});
            app.screen.object(&json(&report)?, FAULTS)?;
            if let Some(broken) = &report.broken {
                app.screen.note(&broken.to_string());
                return Ok(ExitCode::FAILURE);
            }
        }
        Verb::Trace { trace, divide_by, nodes, seed } => {
            let options = replay::Options { divide_by: *divide_by, nodes: *nodes, seed: *seed, ..replay::Options::new(trace) };
            let report = replay::run(&options, &|_, _| {}).context("replaying the trace")?;
            match app.screen.format {
                Format::Table => app.screen.write(&report.to_string())?,
                _ => app.screen.object(&json(&report)?, &[])?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn json(report: &impl Serialize) -> Result<Value, Failure> {
    Ok(serde_json::to_value(report).context("writing the report")?)
}
