//! What an agent remembers of one workload between steps.

use protocol::Instance;
use units::{Observation, Phase, Time};

/// The latest that is known of one workload, and what of it the server has accepted.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub(super) phase: Option<Phase>,
    pub(super) since: Time,
    pub(super) reported: Option<Phase>,
    /// It was started by this agent or seen: from now on its absence means something.
    pub(super) known: bool,
    /// In the latest listing.
    pub(super) present: bool,
    /// The latest listing that held it.
    pub(super) last_seen: Option<Time>,
    /// Complete listings in a row that lacked it.
    pub(super) missing: u32,
    /// The deadline that the driver was last given.
    pub(super) deadline: Option<Option<Time>>,
    /// A start that failed is not repeated before.
    pub(super) retry_at: Time,
}

impl Trace {
    /// Notes a phase; being in it already changes nothing, also not since when.
    pub(super) fn enter(&mut self, phase: Phase, since: Time) {
        if self.phase.as_ref() != Some(&phase) {
            self.phase = Some(phase);
            self.since = since;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, Some(Phase::Exited(_) | Phase::Failed(_) | Phase::Gone | Phase::OutOfFunds))
    }

    pub(super) fn serves(&self) -> bool {
        self.present && self.phase == Some(Phase::Ready)
    }

    /// The difference to what the server has heard, if there is one.
    pub(super) fn news(&self, instance: Instance, now: Time) -> Option<Observation> {
        let phase = self.phase.clone().filter(|phase| self.reported.as_ref() != Some(phase))?;
        let ago_ms = u64::try_from(now.since(self.since)).unwrap_or(0);
        Some(Observation { lease: instance.lease, attempt: instance.attempt, node: instance.node, phase, ago_ms })
    }
}
