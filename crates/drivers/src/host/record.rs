//! What a shim knows of its workload, as it writes it down.

use super::{processes::Mark, sign::Sign};
use protocol::Generation;
use serde::{Deserialize, Serialize};
use units::Phase;

/// What the shim knows of its workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) shim: Mark,
    pub(crate) born: Generation,
    pub(crate) state: State,
    /// Since when.
    pub(crate) since: Sign,
}

/// Where a workload is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Starting,
    Running,
    /// Its tree is being ended.
    Ending(End),
    /// Nothing of its tree is left.
    Ended(End),
}

/// Why a workload ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Exited(i32),
    Failed(String),
    OutOfFunds,
    /// The agent wanted it so.
    Requested,
}

impl End {
    fn phase(&self) -> Phase {
        match self {
            End::Exited(code) => Phase::Exited(*code),
            End::Failed(reason) => Phase::Failed(reason.clone()),
            End::OutOfFunds => Phase::OutOfFunds,
            // As a shell says it of a command that was told to terminate: 128 + SIGTERM.
            End::Requested => Phase::Exited(143),
        }
    }
}

impl Record {
    /// A record of the calling process, from now on.
    pub(crate) fn now(born: Generation, state: State) -> Record {
        Record { shim: Mark::own(), born, state, since: Sign::now() }
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    /// The phase that the record stands for at `now`, with the milliseconds since. `last` is the last sign of life beside it,
    /// which is asked for only where it is needed.
    pub(crate) fn phase(&self, now: &Sign, last: impl FnOnce() -> Option<Sign>) -> (Phase, u64) {
        let lost = |why: &str| (Phase::Failed(why.into()), self.last_alive_ms(now, last()));
        let phase = match &self.state {
            State::Ended(end) => end.phase(),
            // It has begun, whatever became of the shim. Only while the agent has it ended it still serves.
            State::Ending(end) if *end != End::Requested => end.phase(),
            _ if self.shim.boot != now.boot => return lost("the machine was restarted"),
            _ if !self.shim.is_alive() => return lost("its shim was killed"),
            State::Starting => Phase::Starting("starting".into()),
            State::Running | State::Ending(_) => Phase::Ready,
        };
        (phase, self.since.until(now))
    }

    /// Milliseconds since the workload was last known to live: the record itself was written while it did, and is all there is
    /// where no sign came after it.
    pub(crate) fn last_alive_ms(&self, now: &Sign, last: Option<Sign>) -> u64 {
        last.map_or(u64::MAX, |sign| sign.until(now)).min(self.since.until(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(boot: &str, up_ms: u64, wall_ms: u64) -> Sign {
        Sign { boot: boot.into(), up_ms, wall_ms }
    }

    fn before_the_restart(state: State) -> Record {
        let shim = Mark { pid: 1, start_ticks: 0, boot: "before".into() };
        Record { shim, born: Generation { epoch: 1, seq: 1 }, state, since: at("before", 1_000, 10_000_000) }
    }

    #[test]
    fn after_a_restart_of_the_machine_a_workload_counts_to_its_last_sign_and_one_that_had_ended_to_its_end() {
        // The last sign came an hour after the start, the restart two hours after that.
        let (last, now) = (at("before", 3_601_000, 13_600_000), at("after", 30_000, 20_800_000));
        let lost = |ago| (Phase::Failed("the machine was restarted".into()), ago);
        for (state, last, seen) in [
            (State::Running, Some(last.clone()), lost(7_200_000)),
            (State::Running, None, lost(10_800_000)),
            (State::Starting, None, lost(10_800_000)),
            (State::Ending(End::Requested), Some(last.clone()), lost(7_200_000)),
            (State::Ending(End::OutOfFunds), Some(last.clone()), (Phase::OutOfFunds, 10_800_000)),
            (State::Ended(End::Exited(3)), Some(last.clone()), (Phase::Exited(3), 10_800_000)),
        ] {
            assert_eq!(before_the_restart(state.clone()).phase(&now, || last), seen, "{state:?}");
        }
    }
}
