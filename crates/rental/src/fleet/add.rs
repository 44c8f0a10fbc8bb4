//! Pools, agents and nodes come into the fleet.

use super::{AgentJoined, Event, NodeAdded, PoolAdded, State};
use crate::Refusal;
use placement::NodeSpec;
use units::{AgentId, DeviceId, NodeId, PoolId};

/// No server that is sold carries more than this many GPUs; a larger number is a slip.
const MOST_DEVICES: usize = 64;

pub(super) fn pool(fleet: &State, name: &str) -> Result<Vec<Event>, Refusal> {
    named(name)?;
    if fleet.pools.values().any(|known| known == name) {
        return Ok(Vec::new());
    }
    let pool = PoolId(fleet.pools.keys().last().map_or(1, |last| last.0 + 1));
    Ok(vec![PoolAdded { pool, name: name.into() }.into()])
}

pub(super) fn agent(fleet: &State, name: &str) -> Result<Vec<Event>, Refusal> {
    named(name)?;
    if fleet.agents.values().any(|known| known == name) {
        return Ok(Vec::new());
    }
    let agent = AgentId(fleet.agents.keys().last().map_or(1, |last| last.0 + 1));
    Ok(vec![AgentJoined { agent, name: name.into() }.into()])
}

pub(super) fn node(fleet: &State, pool: PoolId, agent: AgentId, name: &str, spec: &NodeSpec) -> Result<Vec<Event>, Refusal> {
    named(name)?;
    if !fleet.pools.contains_key(&pool) {
        return Err(Refusal::missing(pool));
    }
    if !fleet.agents.contains_key(&agent) {
        return Err(Refusal::missing(agent));
    }
    check(spec)?;
    if let Some((id, known)) = fleet.nodes.iter().find(|(_, node)| node.name == name) {
        let same = known.agent == agent && same_shape(fleet, *id, spec);
        return if same { Ok(Vec::new()) } else { Err(Refusal::Exists(format!("node '{name}' of another shape or agent"))) };
    }
    let mut spec = NodeSpec { pool, ..spec.clone() };
    for (n, device) in (1..).zip(&mut spec.devices) {
        device.id = DeviceId(fleet.last_device + n);
    }
    Ok(vec![NodeAdded { node: NodeId(fleet.last_node + 1), agent, name: name.into(), spec }.into()])
}

fn named(name: &str) -> Result<(), Refusal> {
    let fine = !name.is_empty() && name.len() <= 128 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fine { Ok(()) } else { Err(Refusal::invalid("name", "write 1 to 128 letters, digits, '-', '_' or '.'")) }
}

fn check(spec: &NodeSpec) -> Result<(), Refusal> {
    if spec.devices.len() > MOST_DEVICES {
        return Err(Refusal::invalid("devices", format!("at most {MOST_DEVICES} on a node")));
    }
    if spec.devices.iter().any(|d| d.model.is_empty() || d.memory_mib == 0) {
        return Err(Refusal::invalid("devices", "each needs a model and its memory in MiB"));
    }
    if spec.cpu_milli == 0 && spec.devices.is_empty() {
        return Err(Refusal::invalid("cpu_milli", "a node without CPU and GPUs has nothing to rent"));
    }
    Ok(())
}

fn same_shape(fleet: &State, id: NodeId, spec: &NodeSpec) -> bool {
    let Some(node) = fleet.devices().node(id) else { return false };
    let devices = node.devices().map(|d| (d.model(), d.memory_mib()));
    devices.eq(spec.devices.iter().map(|d| (d.model.as_str(), d.memory_mib)))
}
