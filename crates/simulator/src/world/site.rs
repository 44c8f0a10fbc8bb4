//! One machine room: an agent with its nodes, the simulated backend under it, and the line to the control plane.

use super::Sabotage;
use crate::random::Random;
use drivers::{
    Agent, Driver, Observed, Order, Pace,
    simulated::{Behaviour, Simulated},
};
use protocol::{Changes, Generation, Instance, Join, Joined, Report};
use std::collections::BTreeMap;
use units::{DeviceId, NodeId, Time};

/// A poll without news is answered after so long.
pub(crate) const POLL_MS: i64 = 20_000;
/// Before a call that failed is repeated.
const BACKOFF_MS: i64 = 5_000;

/// How a line treats what is sent over it, in permille.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Line {
    /// The call does not arrive.
    pub lost: u32,
    /// The call arrives and its answer does not: so it is repeated.
    pub unanswered: u32,
    /// The caller gives up, and the call, or its answer, arrives later all the same.
    pub late: u32,
}

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    Lost,
    Unanswered,
    /// Arrives after so many milliseconds.
    Late(i64),
}

/// An agent, its backend, its line.
pub(crate) struct Site {
    join: Join,
    joined: Joined,
    pace: Pace,
    agent: Agent,
    pub driver: Simulated,
    /// Names the stream of the line's chances.
    stream: u64,
    /// The node's monotonic clock less true time: ages and deadlines are kept in it.
    offset_ms: i64,
    /// How far the node's wall clock is ahead of the control plane's.
    pub skew_ms: i64,
    pub line: Line,
    cut_until: Time,
    /// How often the agent's process was started: an answer to an earlier process reaches nobody.
    pub life: u32,
    /// The agent's process is not running until then.
    down_until: Option<Time>,
    pub next_step: Time,
    pub next_poll: Time,
    uuids: BTreeMap<DeviceId, String>,
    highest: Generation,
}

impl Site {
    pub fn new(join: Join, joined: Joined, behaviour: Behaviour, mut random: Random, now: Time) -> Site {
        let driver = Simulated::new(&joined.log, behaviour, random.next());
        // Proofs each minute: six times as rare as in production, so that virtual days stay affordable.
        let pace = Pace { proof_ms: 60_000, ..Pace::default() };
        let devices = joined.nodes.iter().flat_map(|node| &node.devices);
        Site {
            agent: Agent::new(&join, &joined, pace),
            driver,
            pace,
            offset_ms: random.within(-1_000_000_000, 1_000_000_000),
            skew_ms: random.within(-2_000, 2_000),
            stream: random.next(),
            line: Line::default(),
            cut_until: now,
            life: 0,
            down_until: None,
            next_step: now,
            next_poll: now,
            uuids: devices.map(|d| (d.device, d.uuid.clone())).collect(),
            highest: Generation::NONE,
            join,
            joined,
        }
    }

    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.joined.nodes.iter().map(|node| node.node)
    }

    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The node's own time.
    pub fn clock(&self, now: Time) -> Time {
        now.plus_ms(self.offset_ms)
    }

    /// What is really on its nodes.
    pub fn truth(&self, now: Time) -> impl Iterator<Item = Observed> + '_ {
        self.driver.truth(self.clock(now))
    }

    /// Whether a device of this site really holds nothing; `None` where it is another's.
    pub fn is_clean(&self, device: DeviceId, now: Time) -> Option<bool> {
        self.uuids.get(&device).map(|uuid| self.driver.is_clean(uuid, self.clock(now)))
    }

    pub fn uuids(&self) -> Vec<(DeviceId, String)> {
        self.uuids.iter().map(|(device, uuid)| (*device, uuid.clone())).collect()
    }

    /// When it next does something by itself.
    pub fn next(&self) -> Time {
        self.down_until.unwrap_or(self.next_step.min(self.next_poll))
    }

    /// Nothing passes until then, either way.
    pub fn cut(&mut self, until: Time) {
        self.cut_until = self.cut_until.max(until);
    }

    /// The agent's process dies and comes back; its workloads run on.
    pub fn kill_agent(&mut self, until: Time) {
        self.life += 1;
        self.down_until = Some(until);
    }

    /// A machine restarts: its workloads are gone without a record, the agent comes back.
    pub fn reboot(&mut self, node: NodeId, until: Time) {
        self.driver.reboot(node);
        self.kill_agent(until);
    }

    /// No fault is in force any more.
    pub fn heal(&mut self, now: Time) {
        self.line = Line::default();
        self.cut_until = now;
        self.skew_ms = 0;
        self.driver.silence(self.clock(now));
        self.driver.lie_empty(0);
        for uuid in self.uuids.values() {
            self.driver.restore_device(uuid);
        }
        self.revive(now);
        (self.next_step, self.next_poll) = (now, now);
    }

    /// Whether the agent's process runs; brings it back if its time has come.
    pub fn is_up(&mut self, now: Time) -> bool {
        if self.down_until.is_some_and(|until| until <= now) {
            self.revive(now);
        }
        self.down_until.is_none()
    }

    fn revive(&mut self, now: Time) {
        if self.down_until.take().is_some() {
            self.agent = Agent::new(&self.join, &self.joined, self.pace);
            self.highest = Generation::NONE;
            (self.next_step, self.next_poll) = (now, now);
        }
    }

    /// What becomes of a call that is made now. By the instant, not by the number of calls before: so that a run which is
    /// shortened keeps its chances.
    pub fn fate(&self, now: Time) -> Fate {
        if now < self.cut_until {
            return Fate::Lost;
        }
        let mut random = Random::of(self.stream, now.0.unsigned_abs());
        let at = u32::try_from(random.below(1000)).unwrap_or(0);
        let Line { lost, unanswered, late } = self.line;
        match at {
            _ if at < lost => Fate::Lost,
            _ if at < lost + unanswered => Fate::Unanswered,
            // Up to ten minutes: what a proxy may hold back and still deliver.
            _ if at < lost + unanswered + late => Fate::Late(random.within(1_000, 600_000)),
            _ => Fate::Answered,
        }
    }

    /// The agent looks and acts; gives its report.
    pub fn step(&mut self, now: Time) -> Option<Report> {
        let clock = self.clock(now);
        let report = self.agent.step(&mut self.driver, clock);
        self.plan(now);
        report
    }

    /// The server has taken the report.
    pub fn acknowledge(&mut self, report: &Report, now: Time) {
        self.agent.acknowledge(report);
        self.plan(now);
    }

    /// The report was not taken: not again at once.
    pub fn back_off(&mut self, now: Time) {
        self.next_step = self.next_step.max(now.plus_ms(BACKOFF_MS));
    }

    /// The poll was not answered: again after a while.
    pub fn poll_again(&mut self, now: Time) {
        self.next_poll = now.plus_ms(BACKOFF_MS);
    }

    fn plan(&mut self, now: Time) {
        self.next_step = self.agent.next_step(&self.driver, self.clock(now)).plus_ms(-self.offset_ms).max(now.plus_ms(1));
    }

    /// The next question to the server, whose clock shows `clock`.
    pub fn ask(&self, clock: Time) -> protocol::Poll {
        self.agent.poll(clock.plus_ms(self.skew_ms))
    }

    /// An answer arrives. One that is overtaken changes nothing.
    pub fn hear(&mut self, changes: Changes, now: Time) -> Result<(), String> {
        if self.down_until.is_some() {
            return Ok(());
        }
        let given = changes.generation;
        let clock = self.clock(now);
        if self.agent.apply(changes, clock).is_ok() {
            if given < self.highest {
                return Err(format!("{} went from generation {} back to {given}", self.agent.id(), self.highest));
            }
            self.highest = given;
            self.next_step = now;
        }
        Ok(())
    }

    /// Starts what nobody assigned, as a broken build might.
    pub fn start_unassigned(&mut self, sabotage: Option<Sabotage>, now: Time) {
        let Some(node) = self.joined.nodes.first().filter(|_| sabotage == Some(Sabotage::StartUnassigned)) else { return };
        let instance = Instance { lease: units::LeaseId(999_999), attempt: 1, node: node.node };
        let grant = units::Grant { node: node.node, cpu_milli: 1, memory_mib: 1, slices: Vec::new(), exclusive: false };
        let order = Order {
            instance,
            born: self.highest,
            node: node.name.clone(),
            workload: units::Workload::default(),
            grant,
            devices: Vec::new(),
            env: BTreeMap::new(),
            stop_by: None,
        };
        let clock = self.clock(now);
        // Where the backend is silent it starts later, with the next try.
        let _ = self.driver.start(&order, clock);
    }
}
