//! What stands on each node: recounted from lists of grants whenever one comes.

use crate::{
    facts::{
        Grant,
        fleet::{Cleared, DeviceMarked, DeviceSpec, Fact, Freed, NodeAdded, NodeMarked, Taken},
    },
    findings::Findings,
};
use std::collections::BTreeMap;
use units::{DeviceId, LeaseId, NodeId};

/// Compute of a whole card, in permille.
const WHOLE: u64 = 1000;

/// Nodes and what stands on them.
#[derive(Default)]
pub struct Fleet {
    nodes: BTreeMap<u64, Node>,
    /// Which node has a device.
    homes: BTreeMap<u64, u64>,
    /// How many grants a lease has that are not freed.
    taken: BTreeMap<u64, usize>,
    last: Last,
}

/// Highest numbers given so far.
#[derive(Default)]
struct Last {
    pool: u64,
    agent: u64,
    node: u64,
    device: u64,
}

struct Node {
    offered: bool,
    cpu: u32,
    memory: u32,
    devices: Vec<Device>,
    standing: Vec<Standing>,
}

/// A card of a node.
pub struct Device {
    pub id: u64,
    pub model: String,
    pub memory: u32,
    /// Thousandths.
    pub tflops: u32,
    max_shares: u8,
    offered: bool,
}

/// A grant on a node, from the time it is taken until it is cleared.
struct Standing {
    lease: u64,
    grant: Grant,
    freed: bool,
}

impl Fleet {
    /// A card.
    pub fn device(&self, device: u64) -> Option<&Device> {
        self.nodes.get(self.homes.get(&device)?)?.devices.iter().find(|d| d.id == device)
    }

    /// How many grants a lease has that are not freed.
    pub fn count(&self, lease: u64) -> usize {
        self.taken.get(&lease).copied().unwrap_or(0)
    }

    /// Whether a lease has exactly this on its node.
    pub fn has(&self, lease: u64, grant: &Grant) -> bool {
        let node = self.nodes.get(&grant.node);
        node.is_some_and(|node| node.standing.iter().any(|s| s.lease == lease && !s.freed && s.grant == *grant))
    }

    /// Whether new leases may come to where the grant is.
    pub fn offers(&self, grant: &Grant) -> bool {
        let node = self.nodes.get(&grant.node).is_some_and(|node| node.offered);
        node && grant.slices.iter().all(|slice| self.device(slice.device).is_some_and(|d| d.offered))
    }

    /// Follows a fact; `touched` gathers the leases that it concerns.
    pub fn fold(&mut self, fact: Fact, touched: &mut Vec<u64>, found: &mut Findings) {
        match fact {
            Fact::PoolAdded(e) => rise(&mut self.last.pool, e.pool, "pool", found),
            Fact::AgentJoined(e) => rise(&mut self.last.agent, e.agent, "agent", found),
            Fact::NodeAdded(e) => self.add(e, found),
            Fact::NodeMarked(e) => self.mark(&e, found),
            Fact::NodeRemoved(e) => self.remove(e.node, found),
            Fact::DeviceMarked(e) => self.mark_device(&e, found),
            Fact::Taken(e) => {
                touched.push(e.lease);
                self.take(e, found);
            }
            Fact::Freed(e) => {
                touched.push(e.lease);
                self.free(&e, found);
            }
            Fact::Cleared(e) => self.clear(&e, found),
        }
    }

    fn add(&mut self, e: NodeAdded, found: &mut Findings) {
        rise(&mut self.last.node, e.node, "node", found);
        found.check((1..=self.last.pool).contains(&e.spec.pool), || format!("pool-{} is not known", e.spec.pool));
        found.check((1..=self.last.agent).contains(&e.agent), || format!("agent-{} is not known", e.agent));
        for device in &e.spec.devices {
            rise(&mut self.last.device, device.id, "device", found);
            self.homes.insert(device.id, e.node);
        }
        let devices = e.spec.devices.into_iter().map(device).collect();
        let node = Node { offered: true, cpu: e.spec.cpu, memory: e.spec.memory, devices, standing: Vec::new() };
        self.nodes.insert(e.node, node);
    }

    fn mark(&mut self, e: &NodeMarked, found: &mut Findings) {
        match self.nodes.get_mut(&e.node) {
            Some(node) => node.offered = e.mark == 0,
            None => found.wrong(format!("{} is not known", NodeId(e.node))),
        }
    }

    fn mark_device(&mut self, e: &DeviceMarked, found: &mut Findings) {
        let node = self.homes.get(&e.device).and_then(|node| self.nodes.get_mut(node));
        match node.and_then(|node| node.devices.iter_mut().find(|d| d.id == e.device)) {
            Some(device) => device.offered = e.offered,
            None => found.wrong(format!("{} is not known", DeviceId(e.device))),
        }
    }

    fn remove(&mut self, node: u64, found: &mut Findings) {
        let Some(gone) = self.nodes.remove(&node) else { return found.wrong(format!("{} is not known", NodeId(node))) };
        found.check(gone.standing.is_empty(), || format!("{} is removed with leases on it", NodeId(node)));
        for device in gone.devices {
            self.homes.remove(&device.id);
        }
    }

    fn take(&mut self, e: Taken, found: &mut Findings) {
        for grant in e.grants {
            let id = NodeId(grant.node);
            let Some(node) = self.nodes.get_mut(&grant.node) else {
                found.wrong(format!("{} takes what {id} has, and there is no such node", LeaseId(e.lease)));
                continue;
            };
            let twice = node.standing.iter().any(|s| s.lease == e.lease && !s.freed);
            found.check(!twice, || format!("{} takes a second time on {id}", LeaseId(e.lease)));
            node.standing.push(Standing { lease: e.lease, grant, freed: false });
            *self.taken.entry(e.lease).or_default() += 1;
            if let Some(what) = node.overcommitted() {
                found.wrong(format!("with {}, {id} {what}", LeaseId(e.lease)));
            }
        }
    }

    fn free(&mut self, e: &Freed, found: &mut Findings) {
        for grant in &e.grants {
            let standing = self.nodes.get_mut(&grant.node).map(|node| &mut node.standing);
            let mine = standing.and_then(|all| all.iter_mut().find(|s| s.lease == e.lease && !s.freed && s.grant == *grant));
            let Some(mine) = mine else {
                found.wrong(format!("{} gives back what it does not have on {}", LeaseId(e.lease), NodeId(grant.node)));
                continue;
            };
            mine.freed = true;
            if let Some(count) = self.taken.get_mut(&e.lease) {
                *count = count.saturating_sub(1);
            }
            if self.taken.get(&e.lease) == Some(&0) {
                self.taken.remove(&e.lease);
            }
        }
    }

    fn clear(&mut self, e: &Cleared, found: &mut Findings) {
        found.check(e.leases.len() == e.grants.len(), || "as many leases as grants are cleared".into());
        for (lease, grant) in e.leases.iter().zip(&e.grants) {
            let node = self.nodes.get_mut(&grant.node);
            let at =
                node.as_ref().and_then(|n| n.standing.iter().position(|s| s.lease == *lease && s.freed && s.grant == *grant));
            match node.zip(at) {
                Some((node, at)) => drop(node.standing.remove(at)),
                None => {
                    found.wrong(format!("{} is cleared of {}, which was not freed there", NodeId(grant.node), LeaseId(*lease)))
                }
            }
        }
    }
}

fn device(spec: DeviceSpec) -> Device {
    let DeviceSpec { id, model, memory, tflops, max_shares } = spec;
    Device { id, model, memory, tflops, max_shares, offered: true }
}

/// Numbers are given in order and never again.
fn rise(last: &mut u64, next: u64, kind: &str, found: &mut Findings) {
    found.check(next == *last + 1, || format!("{kind}-{next} comes where {kind}-{} is next", *last + 1));
    *last = next.max(*last);
}

impl Node {
    /// What there is too much of, freed and not yet cleared included.
    fn overcommitted(&self) -> Option<String> {
        let with_freed = self.excess(|_| true)?;
        let without = self.excess(|standing| !standing.freed);
        Some(if without.is_some() { with_freed } else { format!("{with_freed}, because what was freed is not cleared") })
    }

    fn excess(&self, counts: impl Fn(&Standing) -> bool) -> Option<String> {
        let standing = || self.standing.iter().filter(|s| counts(s)).map(|s| &s.grant);
        let sum = |of: fn(&Grant) -> u32| standing().map(|g| u64::from(of(g))).sum::<u64>();
        let exclusive = standing().any(|g| g.exclusive);
        if exclusive && standing().count() > 1 {
            return Some("is taken whole and has something else on it".into());
        }
        let (cpu, memory) = (sum(|g| g.cpu), sum(|g| g.memory));
        if cpu > u64::from(self.cpu) {
            return Some(format!("has {cpu} of {} thousandths of a core given out", self.cpu));
        }
        if memory > u64::from(self.memory) {
            return Some(format!("has {memory} of {} MiB given out", self.memory));
        }
        let foreign = |device: u64| self.devices.iter().all(|d| d.id != device);
        if let Some(slice) = standing().flat_map(|g| &g.slices).find(|s| foreign(s.device)) {
            return Some(format!("gives out {}, which it does not have", DeviceId(slice.device)));
        }
        self.devices.iter().find_map(|device| device.excess(standing()))
    }
}

impl Device {
    /// Whether so much of it is all of it.
    pub fn is_whole(&self, compute: u32, memory: u32) -> bool {
        u64::from(compute) == WHOLE && memory == self.memory
    }

    fn excess<'a>(&self, grants: impl Iterator<Item = &'a Grant>) -> Option<String> {
        let (mut compute, mut memory, mut shares, mut whole) = (0u64, 0u64, 0u32, 0u32);
        for slice in grants.flat_map(|g| &g.slices).filter(|s| s.device == self.id) {
            compute += u64::from(slice.share.compute);
            memory += u64::from(slice.share.memory);
            if self.is_whole(slice.share.compute, slice.share.memory) {
                whole += 1;
            } else {
                shares += 1;
            }
        }
        let id = DeviceId(self.id);
        if compute > WHOLE {
            return Some(format!("has {compute} of {WHOLE} permille of {id} given out"));
        }
        if memory > u64::from(self.memory) {
            return Some(format!("has {memory} of {} MiB of {id} given out", self.memory));
        }
        if whole > 0 && shares > 0 {
            return Some(format!("has {id} given out whole and in shares"));
        }
        (shares > u32::from(self.max_shares)).then(|| format!("has {shares} of {} shares of {id} given out", self.max_shares))
    }
}
