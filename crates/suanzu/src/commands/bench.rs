//! `suanzu bench`: figures of this build on this machine, in one form. See docs/benchmarks.md.

use crate::{
    app::{App, Done},
    bench::{OPEN, orders, start},
    failure::Failure,
    language::phrases as p,
    output::{Column, Format, Show},
};
use anyhow::{Context as _, anyhow};
use clap::Subcommand;
use serde_json::json;
use simulator::bench::{BenchReport, CoreOptions, core, replay};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};
use tempfile::TempDir;

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Decisions of the core: ordered, ready, renewed, stopped, cleared
    Core,
    /// Durable orders through HTTP
    Orders {
        /// How long it orders, and then orders and stops, in seconds
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        /// Connections at the same time
        #[arg(long, default_value_t = 64)]
        connections: usize,
    },
    /// Folding a journal, and restarting on it
    Replay {
        /// Entries of the journal
        #[arg(long, default_value_t = 1_000_000)]
        entries: u64,
        /// Leases that are live in it
        #[arg(long, default_value_t = 100_000)]
        live: u64,
    },
    /// From an order to a ready process, or container, on this host
    Start {
        /// How many starts
        #[arg(long, default_value_t = 20)]
        times: usize,
        /// Containers instead of processes
        #[arg(long)]
        containers: bool,
    },
}

const COLUMNS: &[Column] = &[
    Column::new(&p::METRIC, "/metric", Show::Text),
    Column::new(&p::VALUE, "/value", Show::Text),
    Column::new(&p::UNIT, "/unit", Show::Text),
    Column::new(&p::LABELS, "/labels", Show::Text),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let folder = Folder::of(app)?;
    let report = match verb {
        Verb::Core => core(&CoreOptions::default()),
        Verb::Orders { seconds, connections } => of_orders(folder.path(), *seconds, *connections)?,
        Verb::Replay { entries, live } => of_replay(folder.path(), *entries, *live)?,
        Verb::Start { times, containers } => of_start(folder.path(), *times, *containers)?,
    };
    show(&report, app)
}

/// A fresh folder, or the one that was named, which must not hold a journal.
enum Folder {
    Fresh(TempDir),
    Named(PathBuf),
}

impl Folder {
    fn of(app: &App) -> Result<Folder, Failure> {
        match &app.data {
            None => Ok(Folder::Fresh(tempfile::Builder::new().prefix("suanzu-bench-").tempdir()?)),
            Some(folder) if folder.join("journal.sqlite").exists() => {
                Err(anyhow!("{} holds a journal already; a benchmark begins its own", folder.display()).into())
            }
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                Ok(Folder::Named(folder.clone()))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Folder::Fresh(folder) => folder.path(),
            Folder::Named(folder) => folder,
        }
    }
}

fn of_orders(folder: &Path, seconds: u64, connections: usize) -> Result<BenchReport, Failure> {
    let figures = orders::run(folder, orders::Options { time: Duration::from_secs(seconds), connections })?;
    let mut report = BenchReport::new("orders", folder);
    let connections = connections.to_string();
    let labels = [("connections", connections.as_str()), ("fleet", figures.fleet.as_str())];
    report.add("orders.durable_per_second", &labels, figures.per_second, "1/s");
    report.add("orders.turnover_per_second", &labels, figures.turnover_per_second, "1/s");
    report.add("orders.latency_p50_milliseconds", &[], figures.latency_ms.0, "ms");
    report.add("orders.latency_p99_milliseconds", &[], figures.latency_ms.1, "ms");
    report.add("orders.refused", &[], figures.refused as f64, "1");
    report.add("orders.entries", &[], figures.entries as f64, "1");
    report.add("orders.views_behind_max_milliseconds", &[], figures.views_behind_ms as f64, "ms");
    report.add("disk.sync_p50_milliseconds", &[("file_system", &figures.file_system)], figures.sync_p50_ms, "ms");
    Ok(report)
}

fn of_replay(folder: &Path, entries: u64, live: u64) -> Result<BenchReport, Failure> {
    let this = std::env::current_exe().context("finding this binary")?;
    let exec = Some(vec![this.into_os_string(), OPEN.into()]);
    let options = replay::Options { entries, live, folder: Some(folder.into()), exec, ..replay::Options::default() };
    Ok(replay::replay(&options, &|_| {}).context("replaying")?)
}

fn of_start(folder: &Path, times: usize, containers: bool) -> Result<BenchReport, Failure> {
    let seconds = start::run(folder, times.max(1), containers)?;
    let what = if containers { "container" } else { "process" };
    let mut report = BenchReport::new("start", folder);
    let starts = seconds.len().to_string();
    for (name, permille) in [("p50", 500), ("p95", 950)] {
        let at = seconds[(seconds.len() * permille / 1000).min(seconds.len() - 1)];
        report.add(&format!("start.{what}_{name}_seconds"), &[("starts", &starts)], at, "s");
    }
    Ok(report)
}

fn show(report: &BenchReport, app: &App) -> Done {
    let whole = serde_json::to_value(report).context("a report is plain data")?;
    if app.screen.format == Format::Table {
        let machine = &report.machine;
        app.screen.note(&format!("{}, {} cores, {} MiB, {}", machine.cpu, machine.cores, machine.memory_mib, machine.system));
        if !machine.optimised {
            app.screen.say(&p::NOT_OPTIMISED, &[]);
        }
        app.screen.list(&json!({ "items": whole["results"] }), COLUMNS)?;
    } else {
        app.screen.object(&whole, &[])?;
    }
    Ok(ExitCode::SUCCESS)
}
