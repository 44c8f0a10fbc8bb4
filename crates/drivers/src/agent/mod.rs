//! The agent: holds what is assigned, makes it so through a driver, and says what it saw.
//!
//! One [`Agent::step`] lists, acts and reports, synchronously. Nothing is concluded from an error or from a single
//! empty listing: an absence is reported only after repeated complete listings and a direct question.

mod step;
mod trace;

use crate::{Assigned, Driver, Stale, Wake};
use protocol::{Changes, Instance, Join, Joined, Poll, Report};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use trace::Trace;
use units::{AgentId, DeviceId, NodeId, Phase, Time, Wanted};

/// How often an agent acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Milliseconds between proofs of service.
    pub proof_ms: i64,
    /// Milliseconds between steps while something is on its way, and before a failed call is repeated.
    pub settle_ms: i64,
    /// Milliseconds between steps while nothing is, where the driver cannot say when to look.
    pub idle_ms: i64,
}

impl Default for Pace {
    /// A proof each ten seconds bounds what a failed node's tenant could be charged too much before it is reversed;
    /// 50 ms is what the server gathers changes for, so looking more often gains nothing.
    fn default() -> Self {
        Pace { proof_ms: 10_000, settle_ms: 50, idle_ms: 1_000 }
    }
}

/// The state of one agent between steps.
#[derive(Debug)]
pub struct Agent {
    id: AgentId,
    log: Arc<str>,
    pace: Pace,
    nodes: BTreeMap<NodeId, String>,
    /// Uuid and index of each device.
    devices: BTreeMap<DeviceId, (String, u32)>,
    assigned: Assigned,
    traces: BTreeMap<Instance, Trace>,
    measuring: BTreeSet<DeviceId>,
    clean: BTreeSet<DeviceId>,
    faults: BTreeMap<DeviceId, String>,
    reported_faults: BTreeMap<DeviceId, String>,
    proof_due: Time,
    /// The latest step left something that only another step can settle.
    unsettled: bool,
}

impl Agent {
    /// An agent that has just joined and holds nothing yet.
    pub fn new(join: &Join, joined: &Joined, pace: Pace) -> Agent {
        let reported = join.nodes.iter().flat_map(|node| &node.devices);
        let index_of: BTreeMap<&str, u32> = reported.map(|d| (d.uuid.as_str(), d.index)).collect();
        let named = |uuid: &String| (uuid.clone(), index_of.get(uuid.as_str()).copied().unwrap_or(0));
        Agent {
            id: joined.agent,
            log: joined.log.as_str().into(),
            pace,
            nodes: joined.nodes.iter().map(|n| (n.node, n.name.clone())).collect(),
            devices: joined.nodes.iter().flat_map(|n| &n.devices).map(|d| (d.device, named(&d.uuid))).collect(),
            assigned: Assigned::default(),
            traces: BTreeMap::new(),
            measuring: BTreeSet::new(),
            clean: BTreeSet::new(),
            faults: BTreeMap::new(),
            reported_faults: BTreeMap::new(),
            proof_due: Time(i64::MIN),
            unsettled: false,
        }
    }

    /// What it is called.
    pub fn id(&self) -> AgentId {
        self.id
    }

    /// What it holds.
    pub fn assigned(&self) -> &Assigned {
        &self.assigned
    }

    /// The next question to the server.
    pub fn poll(&self, clock: Time) -> Poll {
        Poll { agent: self.id, generation: self.assigned.poll_from(), digest: self.assigned.digest(), clock }
    }

    /// Takes the server's answer in; the next step acts on it. A stale one changes nothing. Its sessions are the
    /// caller's to open.
    pub fn apply(&mut self, changes: Changes, now: Time) -> Result<(), Stale> {
        let measuring = changes.measure_clean.iter().copied().collect();
        self.assigned.apply(changes, now)?;
        self.measuring = measuring;
        // A device that is in use again is measured anew when it is freed.
        let waiting = &self.measuring;
        self.clean.retain(|device| waiting.contains(device));
        Ok(())
    }

    /// Looks, acts, and says what is new; `None` where nothing is.
    pub fn step(&mut self, driver: &mut dyn Driver, now: Time) -> Option<Report> {
        self.act_on(driver, now);
        let report = self.report(driver, now);
        (!report.is_empty()).then_some(report)
    }

    /// Marks a report as accepted. What the server knows to be gone is forgotten, as the server forgets it.
    pub fn acknowledge(&mut self, report: &Report) {
        for seen in &report.observations {
            let instance = Instance { lease: seen.lease, attempt: seen.attempt, node: seen.node };
            let ending = self.assigned.get(instance).is_some_and(|held| held.wanted() == Wanted::End);
            if seen.phase == Phase::Gone && ending {
                self.assigned.forget(instance);
                self.traces.remove(&instance);
            } else if let Some(trace) = self.traces.get_mut(&instance) {
                trace.reported = Some(seen.phase.clone());
            }
        }
        for device in &report.clean {
            self.clean.remove(device);
            self.measuring.remove(device);
        }
        self.reported_faults.extend(report.faults.iter().map(|f| (f.device, f.reason.clone())));
    }

    /// When the next step is worth taking, if no answer of the server comes before.
    pub fn next_step(&self, driver: &dyn Driver, now: Time) -> Time {
        let serving = self.traces.values().any(|trace| trace.phase == Some(Phase::Ready));
        let proof = if serving { self.proof_due } else { Time::MAX };
        let settle = now.plus_ms(self.pace.settle_ms);
        let wake = match driver.wake(now) {
            Wake::Unknown if self.is_as_assigned() => now.plus_ms(self.pace.idle_ms),
            Wake::Unknown => settle,
            Wake::At(time) => time,
            Wake::Never => Time::MAX,
        };
        let repeat = if self.unsettled || self.has_news() { settle } else { Time::MAX };
        proof.min(wake).min(repeat).max(now.plus_ms(1))
    }

    /// Whether something was seen that the server has not accepted yet.
    fn has_news(&self) -> bool {
        !self.clean.is_empty() || self.traces.iter().any(|(i, t)| t.phase != t.reported && self.assigned.get(*i).is_some())
    }

    fn is_as_assigned(&self) -> bool {
        let settled = |trace: &Trace| trace.has_ended() || (trace.present && trace.phase == Some(Phase::Ready));
        let as_wished = |instance| self.traces.get(&instance).is_some_and(settled);
        self.measuring.is_empty()
            && self.assigned.iter().all(|(instance, held)| held.wanted() == Wanted::Run && as_wished(instance))
    }
}
