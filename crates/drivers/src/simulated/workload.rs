//! One workload that does not exist: a few instants, compared with now.

use super::{Behaviour, random::Random};
use crate::{Observed, Order};
use protocol::{Generation, Instance};
use std::sync::Arc;
use units::{Phase, Time};

#[derive(Debug)]
pub(super) struct SimulatedWorkload {
    born: Generation,
    pub(super) devices: Vec<String>,
    started: Time,
    ready_at: Time,
    /// How and when it ends by itself.
    ending: Option<(Phase, Time)>,
    pub(super) stop_by: Option<Time>,
    /// When nothing of it is left, once it is being ended.
    gone_at: Option<Time>,
    pub(super) output: Vec<u8>,
}

impl SimulatedWorkload {
    pub(super) fn start(order: &Order, behaviour: &Behaviour, random: &mut Random, now: Time) -> SimulatedWorkload {
        let ready_at = now.plus_ms(random.within(behaviour.start_ms));
        let fails = random.happens(behaviour.start_fails_permille);
        let crashes = random.happens(behaviour.crash_permille);
        let crash_at = ready_at.plus_ms(random.within(behaviour.crash_ms));
        let ending = match order.workload.argv.first().map(String::as_str) {
            _ if fails => Some((Phase::Failed("the simulated start failed".into()), ready_at)),
            Some("exit") => Some((Phase::Exited(argument(order).parse().unwrap_or(0)), ready_at)),
            _ if crashes => Some((Phase::Exited(1), crash_at)),
            _ => run_ms(order).map(|ms| (Phase::Exited(0), ready_at.plus_ms(ms))),
        };
        let prints = order.workload.argv.first().is_some_and(|word| word == "print");
        SimulatedWorkload {
            born: order.born,
            devices: order.devices.iter().map(|d| d.uuid.clone()).collect(),
            started: now,
            ready_at,
            ending,
            stop_by: order.stop_by,
            gone_at: None,
            output: if prints { format!("{}\n", argument(order)).into_bytes() } else { Vec::new() },
        }
    }

    pub(super) fn observed(&self, log: &Arc<str>, instance: Instance, now: Time) -> Observed {
        let (phase, since) = self.phase(now);
        let ago_ms = u64::try_from(now.since(since)).unwrap_or(0);
        Observed { instance, log: log.clone(), born: self.born, phase, ago_ms }
    }

    fn phase(&self, now: Time) -> (Phase, Time) {
        let ended = self.ending.as_ref().filter(|(_, at)| *at <= now);
        let stopped = self.stop_by.filter(|stop_by| *stop_by <= now);
        match (ended, stopped) {
            (Some((phase, at)), stopped) if stopped.is_none_or(|stop_by| *at <= stop_by) => (phase.clone(), *at),
            (_, Some(stop_by)) => (Phase::OutOfFunds, stop_by),
            _ if self.ready_at <= now => (Phase::Ready, self.ready_at),
            _ => (Phase::Starting("starting".into()), self.started),
        }
    }

    /// Ends it by itself, unless it has already ended.
    pub(super) fn finish(&mut self, phase: Phase, now: Time) {
        if self.ending.as_ref().is_none_or(|(_, at)| *at > now) {
            self.ending = Some((phase, now));
        }
    }

    /// Ends it on request; the first request counts.
    pub(super) fn end(&mut self, gone_at: Time) {
        self.gone_at.get_or_insert(gone_at);
    }

    pub(super) fn is_gone(&self, now: Time) -> bool {
        self.gone_at.is_some_and(|at| at <= now)
    }

    /// The next instant at which it looks different, if there is one.
    pub(super) fn next_change(&self, now: Time) -> Option<Time> {
        let ends_at = self.ending.as_ref().map(|(_, at)| *at);
        [Some(self.ready_at), ends_at, self.stop_by, self.gone_at].into_iter().flatten().filter(|at| *at > now).min()
    }
}

fn argument(order: &Order) -> &str {
    order.workload.argv.get(1).map_or("", String::as_str)
}

fn run_ms(order: &Order) -> Option<i64> {
    order.workload.env.get("SIMULATED_RUN_MS")?.parse().ok()
}
