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

pub(super) fn clear(fleet: &State, devices: &[DeviceId], heard: Option<u64>) -> Vec<Event> {
    let clean = |grant: &Grant| fleet.whole_cards(grant).all(|device| devices.contains(&device));
    let freed = fleet.freed().filter(|(_, freed)| heard.is_none_or(|heard| freed.seq <= heard) && clean(&freed.grant));
    let (leases, grants): (Vec<LeaseId>, Vec<Grant>) = freed.map(|(lease, freed)| (lease, freed.grant.clone())).unzip();
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

#[cfg(test)]
mod tests {
    use super::super::{Freed, NodeAdded, Taken, state::apply};
    use super::*;
    use placement::{DeviceSpec, NodeSpec};
    use units::{AgentId, PoolId, Share, Slice};

    #[test]
    fn a_measurement_counts_only_for_what_was_freed_before_it() {
        let device = DeviceId(1);
        let card = DeviceSpec { id: device, model: "T4".into(), memory_mib: 15_360, tflops_milli: 65_000, max_shares: 0 };
        let spec = NodeSpec { pool: PoolId(1), cpu_milli: 0, memory_mib: 0, labels: vec![], devices: vec![card] };
        let slice = Slice { device, share: Share { compute: Share::WHOLE, memory_mib: 15_360 } };
        let grant = Grant { node: NodeId(1), cpu_milli: 0, memory_mib: 0, slices: vec![slice], exclusive: false };
        let events: [Event; 3] = [
            NodeAdded { node: NodeId(1), agent: AgentId(1), name: "n".into(), spec }.into(),
            Taken { lease: LeaseId(1), grants: vec![grant.clone()] }.into(),
            Freed { lease: LeaseId(1), grants: vec![grant] }.into(),
        ];
        let mut fleet = State::default();
        for (seq, event) in (1..).zip(events) {
            apply(&mut fleet, seq, &event, &mut 0);
        }
        assert_eq!(clear(&fleet, &[device], Some(2)), [], "measured before it was freed: a report that comes late");
        assert_eq!(clear(&fleet, &[device], Some(3)).len(), 1);
        assert_eq!(clear(&fleet, &[device], None).len(), 1);
    }
}
