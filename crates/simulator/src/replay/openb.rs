//! Alibaba's `cluster-trace-gpu-v2023` (Weng et al., USENIX ATC 2023): nodes and pods.

use super::trace::{Job, MODELS, Node, ReplayError, Trace, memory_of, rows};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use units::{Beside, Share, Size, UnitKind};

#[derive(Deserialize)]
struct NodeRow {
    sn: String,
    cpu_milli: u32,
    memory_mib: u32,
    gpu: u32,
    model: String,
}

#[derive(Deserialize)]
struct PodRow {
    name: String,
    cpu_milli: u32,
    memory_mib: u32,
    num_gpu: u32,
    gpu_milli: u32,
    /// Absent in the `multigpu` variants.
    #[serde(default)]
    gpu_spec: String,
    qos: String,
    creation_time: i64,
    deletion_time: i64,
    scheduled_time: Option<f64>,
}

/// The file of all nodes beside a pod list, if there is one.
pub(super) fn nodes_beside(pods: &Path) -> Option<PathBuf> {
    let folder = pods.parent()?;
    Some(folder.join("openb_node_list_all_node.csv")).filter(|path| path.is_file())
}

pub(super) fn read(nodes: &Path, pods: &Path) -> Result<Trace, ReplayError> {
    let nodes: Vec<NodeRow> = rows(nodes)?;
    let jobs: Vec<PodRow> = rows(pods)?;
    let here: BTreeSet<&str> = nodes.iter().map(|node| node.model.as_str()).filter(|model| !model.is_empty()).collect();
    let assumed = vec![
        "a share gets the same part of the smallest acceptable card's memory as of its compute, rounded down".into(),
        "G2 counts as a 24 GiB card and G3 as an 80 GiB card: the trace does not disclose them".into(),
        "tenants are the trace's classes of service: it names no users".into(),
        "a pod that has no place by its deletion is withdrawn then".into(),
    ];
    Ok(Trace {
        name: format!("openb ({})", pods.file_name().unwrap_or_default().to_string_lossy()),
        jobs: jobs.iter().map(|pod| job(pod, &here)).collect(),
        nodes: nodes.iter().map(node).collect(),
        assumed,
    })
}

fn node(row: &NodeRow) -> Node {
    let cards = (row.gpu > 0).then(|| (row.model.clone(), row.gpu));
    Node { name: row.sn.clone(), cpu_milli: row.cpu_milli, memory_mib: row.memory_mib, cards }
}

fn job(pod: &PodRow, here: &BTreeSet<&str>) -> Job {
    let models: Vec<String> = pod.gpu_spec.split('|').filter(|model| !model.is_empty()).map(str::to_owned).collect();
    // The last pods' scheduling times are given with a fraction.
    let began = pod.scheduled_time.map_or(pod.creation_time, |at| at as i64);
    Job {
        name: pod.name.clone(),
        owner: pod.qos.clone(),
        at_ms: pod.creation_time * 1000,
        runs_ms: (pod.deletion_time - began).max(1) * 1000,
        given_up_ms: Some(pod.deletion_time.max(pod.creation_time + 1) * 1000),
        size: size(pod, &models, here),
        models,
        beside: Beside { cpu_milli: if pod.num_gpu == 0 { 0 } else { pod.cpu_milli }, memory_mib: pod.memory_mib },
    }
}

fn size(pod: &PodRow, models: &[String], here: &BTreeSet<&str>) -> Size {
    match (pod.num_gpu, pod.gpu_milli) {
        (0, _) => Size::Units(UnitKind::Cpu, pod.cpu_milli.max(1).into()),
        (1, milli) if milli < 1000 => {
            let of_fleet = MODELS.iter().map(|(name, ..)| *name).filter(|name| here.contains(name));
            let accepted: Vec<&str> =
                if models.is_empty() { of_fleet.collect() } else { models.iter().map(String::as_str).collect() };
            let card = accepted.into_iter().map(memory_of).min().unwrap_or(0);
            Size::Share(Share { compute: milli.max(1), memory_mib: (card * milli / 1000).max(1) })
        }
        (cards, _) => Size::Cards(cards),
    }
}
