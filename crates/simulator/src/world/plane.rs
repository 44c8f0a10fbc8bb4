//! The control plane: the production engine on a simulated disk, with a clock of its own, that can be killed and opened
//! again.

use super::{Disk, Sabotage};
use engine::{Answer, Directory, Engine, Rejected, Submission};
use rental::{Failed, State};
use units::{Time, Workload};

/// Silence is looked for so often while nothing else is due; the production writer looks each second, which would only
/// make virtual hours slower.
const IDLE_MS: i64 = 10_000;
/// Before a failed append is tried again.
const RETRY_MS: i64 = 500;

/// The control plane, up or down.
pub(crate) struct Plane {
    pub disk: Disk,
    engine: Option<Engine>,
    /// How far its clock is ahead of true time.
    ahead_ms: i64,
    /// What was durable when it went down; `None` where that is not known.
    before: Option<State>,
    /// When it is opened again, while it is down.
    up_at: Option<Time>,
    /// When it next has something to do, in true time.
    pub next_turn: Time,
    sabotage: Option<Sabotage>,
}

/// What became of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All that was decided is durable.
    Done,
    /// Nothing of the batch is; it goes on.
    Failed,
    /// It is down.
    Down,
}

impl Plane {
    pub fn new(seed: u64, sabotage: Option<Sabotage>, now: Time) -> Result<Plane, String> {
        let disk = Disk::new(seed, sabotage);
        let before = Some(State::default());
        let mut plane = Plane { disk, engine: None, ahead_ms: 0, before, up_at: Some(now), next_turn: now, sabotage };
        plane.open(now)?;
        Ok(plane)
    }

    /// The writer, while it is up.
    pub fn engine(&mut self) -> Option<&mut Engine> {
        self.engine.as_mut()
    }

    /// The durable state, while it is up.
    pub fn state(&self) -> Option<std::sync::RwLockReadGuard<'_, State>> {
        self.engine.as_ref().map(Engine::state)
    }

    /// What its clock shows.
    pub fn clock(&self, now: Time) -> Time {
        now.plus_ms(self.ahead_ms)
    }

    /// Its clock jumps forward.
    pub fn jump(&mut self, ms: i64, now: Time) {
        self.ahead_ms += ms;
        self.next_turn = now;
    }

    /// What a lease runs, as the directory keeps it.
    pub fn workload(&self, lease: units::LeaseId) -> Option<Workload> {
        Directory(self.engine.as_ref()?.source()).workload(lease).ok().flatten()
    }

    /// Decides one wish. It counts once a turn is [`Turn::Done`].
    pub fn submit(&mut self, now: Time, submission: Submission) -> Result<Answer, Rejected> {
        let clock = self.clock(now);
        let down = || Rejected::Stopped("the control plane is down".into());
        self.engine.as_mut().ok_or_else(down)?.submit(clock, submission)
    }

    /// Carries out what is due and makes the batch durable.
    pub fn turn(&mut self, now: Time) -> Result<Turn, String> {
        if self.up_at.is_some_and(|at| at <= now) {
            self.open(now)?;
        }
        let clock = self.clock(now);
        let Some(engine) = &mut self.engine else {
            self.next_turn = self.up_at.unwrap_or(Time::MAX);
            return Ok(Turn::Down);
        };
        if self.sabotage != Some(Sabotage::NeverDue) {
            engine.tick(clock);
        }
        let committed = engine.commit();
        let failed = committed.is_err();
        if engine.stopped().is_some() {
            // An operator looks and starts it anew; whether the last batch is there is for the disk to say.
            self.engine = None;
            self.before = None;
            self.up_at = Some(now.plus_ms(RETRY_MS));
            self.next_turn = now.plus_ms(RETRY_MS);
            return Ok(Turn::Down);
        }
        if failed {
            self.next_turn = now.plus_ms(RETRY_MS);
            return Ok(Turn::Failed);
        }
        let wait = engine.next_wakeup(clock).map_or(IDLE_MS, |at| at.since(clock).clamp(1, IDLE_MS));
        self.next_turn = now.plus_ms(wait);
        if self.disk.take_tampered() {
            // What was written is what counts, also for the build that wrote it.
            self.engine = None;
            self.before = None;
            self.open(now)?;
        }
        Ok(Turn::Done)
    }

    /// The process dies; it is started again after `down_ms`, with a clock that is off by `jump_ms` more.
    pub fn crash(&mut self, now: Time, down_ms: i64, jump_ms: i64) {
        let Some(engine) = self.engine.take() else { return };
        self.before = Some(engine.state().clone());
        self.ahead_ms += jump_ms;
        self.up_at = Some(now.plus_ms(down_ms));
        self.next_turn = now.plus_ms(down_ms);
    }

    /// It is started now if it is down.
    pub fn restart(&mut self, now: Time) -> Result<(), String> {
        if self.engine.is_none() { self.open(now) } else { Ok(()) }
    }

    /// Nothing that is due with an empty memo was left undone.
    pub fn nothing_due(&self, now: Time) -> Result<(), String> {
        let Some(state) = self.state() else { return Ok(()) };
        let clock = self.clock(now).max(state.time);
        match rental::due(&state, clock, &mut Failed::default()) {
            Some(command) => Err(format!("{} is due and was passed over: {command:?}", command.kind())),
            None => Ok(()),
        }
    }

    fn open(&mut self, now: Time) -> Result<(), String> {
        self.disk.reopen();
        let mut reader = self.disk.clone();
        let engine = Engine::open(Box::new(self.disk.clone()), None, &mut reader).map_err(|e| format!("reopening: {e}"))?;
        if let Some(before) = self.before.take() {
            // Cheap first: a comparison of whole states that fails is only worth a sentence.
            let after = engine.state();
            if *after != before {
                return Err(format!("after a restart the state is not the one before (entry {} and {})", after.seq, before.seq));
            }
        }
        // As the production clock does: never behind the last entry.
        let last = engine.state().time;
        self.ahead_ms = self.ahead_ms.max(last.since(now));
        self.engine = Some(engine);
        self.up_at = None;
        self.next_turn = now;
        Ok(())
    }
}
