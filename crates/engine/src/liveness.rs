//! Last signs of life, by our clock: never journaled by themselves. After a restart everybody counts as just seen; when an
//! agent was last heard before it is kept in the directory once a minute, so that a node that never comes back is
//! charged to about then.

use rental::{
    Command, State, fleet,
    fleet::Mark,
    lease::{self, Status},
};
use rustc_hash::FxHashMap;
use units::{AgentId, LeaseId, NodeId, Observation, Phase, Time};

/// Who was last heard of when, and whose clock is how far off.
#[derive(Debug, Default)]
pub struct Liveness {
    agents: FxHashMap<AgentId, Heard>,
    /// The last proof of each lease's service, from each of its nodes that gave one.
    serving: FxHashMap<LeaseId, Vec<Proof>>,
    /// Since when we watch: silence before that is ours.
    watching: Option<Time>,
    looked: Time,
    /// When agents were last heard before the restart.
    before: FxHashMap<AgentId, Time>,
    kept: Time,
}

/// Signs of life are kept so often; a node lost across a restart is charged at most so much less than it served.
const KEEP_MS: i64 = 60_000;
/// Silence is looked for so often; looking costs a walk over all nodes.
const LOOK_MS: i64 = 1000;

/// What is known of an agent.
#[derive(Debug, Clone, Copy)]
struct Heard {
    at: Time,
    clock_off_ms: i64,
}

/// That an attempt of a lease served on a node.
#[derive(Debug, Clone, Copy)]
struct Proof {
    node: NodeId,
    attempt: u32,
    at: Time,
}

impl Liveness {
    /// An agent was heard; `clock` is what its own clock says, where it said so.
    pub fn heard(&mut self, agent: AgentId, now: Time, clock: Option<Time>) {
        let before = self.agents.get(&agent).map_or(0, |heard| heard.clock_off_ms);
        let clock_off_ms = clock.map_or(before, |clock| clock.since(now));
        self.agents.insert(agent, Heard { at: now, clock_off_ms });
    }

    /// An attempt of a lease was seen serving on a node.
    pub fn served(&mut self, lease: LeaseId, attempt: u32, node: NodeId, now: Time) {
        let proofs = self.serving.entry(lease).or_default();
        proofs.retain(|proof| proof.node != node);
        proofs.push(Proof { node, attempt, at: now });
    }

    /// When an agent was last heard.
    pub fn last_heard(&self, agent: AgentId) -> Option<Time> {
        self.agents.get(&agent).map(|heard| heard.at)
    }

    /// The last proof of the service of a lease's attempt: from all of its nodes, for it serves as a whole or not at all.
    pub fn last_served(&self, lease: LeaseId, attempt: u32) -> Option<Time> {
        self.serving.get(&lease)?.iter().filter(|proof| proof.attempt == attempt).map(|proof| proof.at).min()
    }

    /// When what an agent saw began, by our clock: what failed has served until it was last seen to serve.
    pub fn began(&self, seen: &Observation, now: Time) -> Time {
        let ago = now.plus_ms(-i64::try_from(seen.ago_ms).unwrap_or(i64::MAX));
        match seen.phase {
            Phase::Failed(_) | Phase::Gone => self.last_served(seen.lease, seen.attempt).map_or(ago, |served| served.min(ago)),
            Phase::Starting(_) | Phase::Ready | Phase::Exited(_) | Phase::OutOfFunds => ago,
        }
    }

    /// How far an agent's clock is ahead of ours, in milliseconds.
    pub fn clock_off_ms(&self, agent: AgentId) -> Option<i64> {
        self.agents.get(&agent).map(|heard| heard.clock_off_ms)
    }

    /// What is kept of the time before this process: agents with when they were last heard.
    pub(crate) fn remember(&mut self, agent: AgentId, heard: Time) {
        self.before.insert(agent, heard);
    }

    /// What is to be kept now, if it is time: agents with when they were last heard.
    pub(crate) fn due_to_keep(&mut self, now: Time) -> Vec<(AgentId, Time)> {
        if now.since(self.kept) < KEEP_MS {
            return Vec::new();
        }
        self.kept = now;
        let mut all: Vec<(AgentId, Time)> = self.agents.iter().map(|(agent, heard)| (*agent, heard.at)).collect();
        all.sort_unstable();
        all
    }

    /// What silence and wrong clocks demand: nodes out of the offer and back into it, leases given up.
    pub(crate) fn verdicts(&mut self, state: &State, now: Time) -> Vec<Command> {
        let since = *self.watching.get_or_insert(now);
        let mut commands = Vec::new();
        if now.since(self.looked) < LOOK_MS {
            return commands;
        }
        self.looked = now;
        for (node, known) in &state.fleet.nodes {
            let heard = self.agents.get(&known.agent).map_or(since, |heard| heard.at);
            let off = self.agents.get(&known.agent).map_or(0, |heard| heard.clock_off_ms);
            let wanted = standing(state, known.mark, now.since(heard), off);
            if wanted != known.mark {
                commands.push(Command::Fleet(fleet::Command::MarkNode { node: *node, mark: wanted }));
            }
            let lost_after = state.market.policy.lost_after_ms;
            if lost_after > 0 && now.since(heard) >= lost_after {
                commands.extend(self.give_up(state, *node, known.agent, heard));
            }
        }
        self.serving.retain(|lease, proofs| {
            let lease = state.lease.get(*lease);
            let serves = |proof: &Proof| lease.is_some_and(|l| l.attempt == proof.attempt && l.member(proof.node).is_some());
            proofs.retain(serves);
            !proofs.is_empty()
        });
        commands
    }

    fn give_up(&self, state: &State, node: NodeId, agent: AgentId, heard: Time) -> Option<Command> {
        let running = state.lease.on_node(node).filter(|l| matches!(l.status, Status::Starting | Status::Running));
        // At most so many in one entry; the next wake goes on.
        let some = running.take(rental::GATHER_LEASES);
        let before = self.before.get(&agent).copied();
        let served = |l: &lease::Lease| self.last_served(l.id, l.attempt).or(before.max(l.ready)).unwrap_or(heard);
        let leases: Vec<(LeaseId, Time)> = some.map(|l| (l.id, served(l))).collect();
        (!leases.is_empty()).then_some(Command::Lease(lease::Command::GiveUp { leases }))
    }
}

fn standing(state: &State, mark: Mark, silent_ms: i64, clock_off_ms: i64) -> Mark {
    let policy = &state.market.policy;
    match mark {
        // Drained by the operator: silence changes nothing, there is nothing on offer.
        Mark::Draining => Mark::Draining,
        _ if silent_ms >= policy.unseen_after_ms => Mark::Lost,
        _ if clock_off_ms.abs() > policy.clock_off_ms => Mark::Unfit,
        _ => Mark::Offered,
    }
}
