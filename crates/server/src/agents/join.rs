//! An agent says which nodes it has; it is told what they are called.

use crate::{App, Problem};
use engine::{Attach, Submission};
use protocol::{DeviceReport, Join, Joined, JoinedDevice, JoinedNode, NodeReport};
use rental::{
    Command, fleet,
    placement::{DeviceSpec, NodeSpec},
};
use std::collections::HashMap;
use units::{AgentId, DeviceId, NodeId, PoolId};

/// The pool of nodes whose label `pool=NAME` names no other.
const DEFAULT_POOL: &str = "default";

/// The agent of this name, made known if it is new.
pub async fn enroll(app: &App, name: &str) -> Result<AgentId, Problem> {
    let command = Command::Fleet(fleet::Command::JoinAgent { name: name.to_owned() });
    app.handle().submit(Submission::plain("operator", command)).await?;
    let known = app.handle().read(|state| state.fleet.agents.iter().find(|(_, known)| *known == name).map(|(id, _)| *id));
    known.ok_or_else(|| Problem::not_found(format!("agent '{name}'")))
}

/// Takes an agent's nodes into the fleet, or finds them there; the same names and devices keep their ids.
pub async fn join(app: &App, agent: AgentId, join: &Join) -> Result<Joined, Problem> {
    if join.version != protocol::VERSION {
        let detail = format!("the agent speaks version {}, this server version {}", join.version, protocol::VERSION);
        return Err(Problem::new("version_mismatch", detail));
    }
    let mut nodes = Vec::with_capacity(join.nodes.len());
    for node in &join.nodes {
        nodes.push(take_in(app, agent, node).await?);
    }
    app.handle().liveness(|liveness| liveness.heard(agent, app.handle().now(), None));
    Ok(Joined { agent, log: app.handle().keys().log().to_string(), nodes })
}

async fn take_in(app: &App, agent: AgentId, node: &NodeReport) -> Result<JoinedNode, Problem> {
    let spec = spec(pool(app, node).await?, node);
    let command = Command::Fleet(fleet::Command::AddNode { pool: spec.pool, agent, name: node.name.clone(), spec });
    let uuids = node.devices.iter().map(|device| device.uuid.clone()).collect();
    let submission = Submission { attach: Attach::Devices(uuids), ..Submission::plain(agent.to_string(), command) };
    app.handle().submit(submission).await?;
    let (id, devices) = known(app, &node.name).ok_or_else(|| Problem::not_found(format!("node '{}'", node.name)))?;
    let by_uuid: HashMap<String, DeviceId> = app.handle().directory(|d| d.devices(id))?.into_iter().zip(devices).collect();
    let joined = |device: &DeviceReport| {
        let id = by_uuid.get(&device.uuid).copied();
        let id =
            id.ok_or_else(|| Problem::new("exists", format!("{} is known with other cards than {}", node.name, device.uuid)))?;
        Ok(JoinedDevice { uuid: device.uuid.clone(), device: id })
    };
    let devices = node.devices.iter().map(joined).collect::<Result<_, Problem>>()?;
    Ok(JoinedNode { name: node.name.clone(), node: id, devices })
}

fn known(app: &App, name: &str) -> Option<(NodeId, Vec<DeviceId>)> {
    app.handle().read(|state| {
        let (id, _) = state.fleet.nodes.iter().find(|(_, node)| node.name == name)?;
        let devices = state.fleet.devices().node(*id)?.devices().map(|device| device.id()).collect();
        Some((*id, devices))
    })
}

/// The pool that the node's label names; only the default one is made for it.
async fn pool(app: &App, node: &NodeReport) -> Result<PoolId, Problem> {
    let name = node.labels.iter().find_map(|label| label.strip_prefix("pool=")).unwrap_or(DEFAULT_POOL);
    let find = || app.handle().read(|state| state.fleet.pools.iter().find(|(_, known)| *known == name).map(|(id, _)| *id));
    if find().is_none() && name == DEFAULT_POOL {
        let command = Command::Fleet(fleet::Command::AddPool { name: name.to_owned() });
        app.handle().submit(Submission::plain("operator", command)).await?;
    }
    find().ok_or_else(|| Problem::not_found(format!("pool '{name}'")))
}

fn spec(pool: PoolId, node: &NodeReport) -> NodeSpec {
    let device = |device: &DeviceReport| DeviceSpec {
        // The core gives the number.
        id: DeviceId(0),
        model: device.model.clone(),
        memory_mib: device.memory_mib,
        tflops_milli: u32::try_from(device.tflops_milli).unwrap_or(u32::MAX),
        // One at once means: whole cards only.
        max_shares: if device.max_shares > 1 { u8::try_from(device.max_shares).unwrap_or(u8::MAX) } else { 0 },
    };
    NodeSpec {
        pool,
        cpu_milli: node.cpu_milli,
        memory_mib: node.memory_mib,
        labels: node.labels.clone(),
        devices: node.devices.iter().map(device).collect(),
    }
}
