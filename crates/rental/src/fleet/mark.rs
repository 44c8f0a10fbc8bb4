//! Nodes and devices are offered, drained, lost, returned, removed; freed devices are cleared.

use super::{Cleared, DeviceMarked, Event, Mark, NodeMarked, NodeRemoved, State};
use crate::{Refusal, State as Root};
use units::{DeviceId, Grant, LeaseId, NodeId};

pub(super) fn node(fleet: &State, node: NodeId, mark: Mark) -> Result<Vec<Event>, Refusal> {
    let known = fleet.nodes.get(&node).ok_or_else(|| Refusal::missing(node))?;
    // A lost node that is seen again goes back to what it was meant to be only when told so: draining stays draining.
    if known.mark == mark || (known.mark == Mark::Draining && mark == Mark::Lost) {
        return Ok(Vec::new());
    }
    Ok(vec![NodeMarked { node, mark }.into()])
}

pub(super) fn remove(root: &Root, node: NodeId) -> Result<Vec<Event>, Refusal> {
    let view = root.fleet.devices().node(node).ok_or_else(|| Refusal::missing(node))?;
    if !view.is_empty() {
        return Err(Refusal::WrongState(format!("{node} still holds leases or devices that are not clean: drain it first")));
    }
    Ok(vec![NodeRemoved { node }.into()])
}

pub(super) fn device(fleet: &State, device: DeviceId, offered: bool) -> Result<Vec<Event>, Refusal> {
    let view = fleet.devices().device(device).ok_or_else(|| Refusal::missing(device))?;
    Ok(if view.is_in_service() == offered { Vec::new() } else { vec![DeviceMarked { device, offered }.into()] })
}

pub(super) fn clear(fleet: &State, devices: &[DeviceId]) -> Vec<Event> {
    let clean = |grant: &Grant| fleet.whole_cards(grant).all(|device| devices.contains(&device));
    let (leases, grants): (Vec<LeaseId>, Vec<Grant>) =
        fleet.waiting().filter(|(_, grant)| clean(grant)).map(|(lease, grant)| (lease, grant.clone())).unzip();
    if grants.is_empty() { Vec::new() } else { vec![Cleared { leases, grants }.into()] }
}

/// What leaves a lease, and what of it is clean at once because no card was had whole.
pub(crate) fn give_back(fleet: &State, lease: LeaseId, grants: Vec<Grant>) -> Vec<crate::Event> {
    let at_once: Vec<Grant> = grants.iter().filter(|grant| fleet.whole_cards(grant).next().is_none()).cloned().collect();
    let mut events = vec![crate::Event::Fleet(super::Freed { lease, grants }.into())];
    if !at_once.is_empty() {
        let leases = vec![lease; at_once.len()];
        events.push(crate::Event::Fleet(Cleared { leases, grants: at_once }.into()));
    }
    events
}
