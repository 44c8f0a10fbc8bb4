//! Microsoft's Philly jobs as prepared for Gavel (OSDI 2020): arrivals, GPU counts, estimated durations on V100s.

use super::trace::{Job, Node, ReplayError, Trace, rows};
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};
use units::{Beside, Size};

/// Nodes where none are asked for: 768 cards against 254 that the trace keeps busy on average, so that there is a queue
/// at its peaks and none between them.
pub(super) const NODES: u32 = 96;
/// Cards of a node.
const CARDS: u32 = 8;

#[derive(Deserialize)]
struct Row {
    vc: String,
    job_type: String,
    arrival_s: f64,
    num_gpu: u32,
    est_duration_v100_s: Option<f64>,
}

pub(super) fn read(path: &Path, nodes: u32) -> Result<Trace, ReplayError> {
    let rows: Vec<Row> = rows(path)?;
    let medians = medians(&rows);
    let unknown = rows.iter().filter(|row| row.est_duration_v100_s.is_none()).count();
    let assumed = vec![
        format!("the fleet: {nodes} nodes of {CARDS} V100-16GB, 64 cores and 512 GiB each; the trace names none"),
        format!("{unknown} jobs without a duration run for the median of those with as many GPUs"),
        "6 cores and 48 GiB beside each card".into(),
        "tenants are the trace's virtual clusters".into(),
    ];
    let node = |n| Node {
        name: format!("philly-node-{n:04}"),
        cpu_milli: 64_000,
        memory_mib: 524_288,
        cards: Some(("V100-16GB".into(), CARDS)),
    };
    Ok(Trace {
        name: "philly-gavel".into(),
        nodes: (0..nodes).map(node).collect(),
        jobs: rows.iter().enumerate().map(|(n, row)| job(n, row, &medians)).collect(),
        assumed,
    })
}

/// Median duration in seconds by number of GPUs; under 0 that of all.
fn medians(rows: &[Row]) -> BTreeMap<u32, f64> {
    let mut by_gpus: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in rows {
        if let Some(seconds) = row.est_duration_v100_s {
            by_gpus.entry(row.num_gpu).or_default().push(seconds);
            by_gpus.entry(0).or_default().push(seconds);
        }
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    by_gpus.into_iter().map(|(gpus, all)| (gpus, median(all))).collect()
}

fn job(n: usize, row: &Row, medians: &BTreeMap<u32, f64>) -> Job {
    let median = medians.get(&row.num_gpu).or_else(|| medians.get(&0)).copied().unwrap_or(3600.0);
    let seconds = row.est_duration_v100_s.unwrap_or(median);
    // On several nodes what is beside counts for each of them.
    let on_one = row.num_gpu.min(CARDS);
    Job {
        name: format!("{n} {}", row.job_type),
        owner: row.vc.clone(),
        at_ms: (row.arrival_s * 1000.0) as i64,
        runs_ms: ((seconds * 1000.0) as i64).max(1),
        given_up_ms: None,
        size: Size::Cards(row.num_gpu),
        models: Vec::new(),
        beside: Beside { cpu_milli: 6_000 * on_one, memory_mib: 49_152 * on_one },
    }
}
