//! Nodes that exist on paper only.

use crate::models;
use protocol::{DeviceReport, NodeReport};

/// Most leases that share one simulated card: a soft share is at least a tenth of one.
const MAX_SHARES: u32 = 10;

/// A node with `cards` GPUs of a known model (0 cards: CPU only), and CPU and memory as such servers have: 16 cores
/// and 128 GiB a card.
///
/// # Panics
/// If the model is not one of [`models`].
pub fn node(name: &str, model: &str, cards: u32) -> NodeReport {
    let model = models::by_name(model).expect("a simulated node is made of a known model");
    let device = |index| DeviceReport {
        uuid: format!("SIM-{name}-{index}"),
        model: model.name.to_owned(),
        memory_mib: model.memory_mib,
        tflops_milli: model.tflops_milli,
        max_shares: MAX_SHARES,
        index,
    };
    NodeReport {
        name: name.to_owned(),
        cpu_milli: 16_000 * cards.max(1),
        memory_mib: 131_072 * cards.max(1),
        labels: vec!["simulated".to_owned()],
        devices: (0..cards).map(device).collect(),
    }
}

/// The fleet that a newcomer finds: four models, from one T4 box to an H100 server.
pub fn demo() -> Vec<NodeReport> {
    vec![
        node("sim-h100-a", "H100-80GB", 8),
        node("sim-a100-a", "A100-80GB", 8),
        node("sim-a100-b", "A100-80GB", 8),
        node("sim-l40s-a", "L40S", 4),
        node("sim-t4-a", "T4", 4),
    ]
}
