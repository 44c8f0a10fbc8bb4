//! A world around the core: it keeps the journal as bytes, plays what time demands as the engine will, and holds every
//! entry against the core's promises.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod oracle;
pub mod script;

mod asked;
mod shown;
mod words;

use rental::{Command, Event, Failed, Part, Refusal, State, apply, decide, due, next_wakeup, seal};
use units::{Owner, Time};

/// More due commands at one instant than any test has cause for: `due` that does not progress is caught here.
const MOST_DUE: usize = 5_000;

/// An entry as it was made.
#[derive(Debug, Clone)]
pub struct Entry {
    pub time: Time,
    pub command: Command,
    pub events: Vec<Event>,
}

/// A core with its clock and its journal.
#[derive(Default)]
pub struct World {
    pub state: State,
    pub now: Time,
    pub entries: Vec<Entry>,
    memo: Failed,
    journal: Vec<Vec<(Owner, Vec<u8>)>>,
}

impl World {
    /// Answers a command at the present time and records what it changed.
    pub fn submit(&mut self, command: &Command) -> Result<Vec<Event>, Refusal> {
        let events = decide(&self.state, self.now, command)?;
        if !events.is_empty() {
            self.record(command.clone(), events.clone());
        }
        Ok(events)
    }

    /// Plays what time demands up to `until`, waking where `next_wakeup` says, and stands there.
    pub fn advance(&mut self, until: Time) -> Result<(), String> {
        loop {
            self.settle()?;
            match next_wakeup(&self.state, self.now) {
                Some(at) if at <= self.now => return Err(format!("it is {}, and the next wake-up was at {at}", self.now)),
                Some(at) if at <= until => {
                    self.assert_idle(at.plus_ms(-1))?;
                    self.now = at;
                }
                _ => break,
            }
        }
        self.assert_idle(until)?;
        self.now = until;
        self.settle()
    }

    /// Plays what is due now until nothing is.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..MOST_DUE {
            let fresh = due(&self.state, self.now, &mut Failed::default());
            let command = due(&self.state, self.now, &mut self.memo);
            if command != fresh {
                return Err(format!("the memo answers {command:?}, an empty one {fresh:?}"));
            }
            let Some(command) = command else { return self.check(self.now) };
            let events = self.submit(&command).map_err(|refusal| format!("due {command:?} was refused: {refusal}"))?;
            if events.is_empty() {
                return Err(format!("due {command:?} changed nothing"));
            }
        }
        Err(format!("more than {MOST_DUE} commands are due at {}", self.now))
    }

    /// Holds the state against its invariants, and the journal against the state.
    pub fn check(&self, now: Time) -> Result<(), String> {
        self.state.check(now).map_err(|broken| broken.to_string())
    }

    /// Folds the stored bytes into a fresh state, which must be this one.
    pub fn refold(&self) -> Result<(), String> {
        let mut state = State::default();
        for entry in &self.journal {
            apply(&mut state, decode(entry)?);
        }
        if state == self.state { Ok(()) } else { Err("the journal folds into another state".into()) }
    }

    fn record(&mut self, command: Command, events: Vec<Event>) {
        assert!(self.now >= self.state.time, "entry time never decreases");
        let parts = seal(&self.state, self.now, events.clone());
        let entry: Vec<(Owner, Vec<u8>)> =
            parts.iter().map(|part| (part.owner, minicbor::to_vec(part).expect("memory takes it"))).collect();
        let decoded = decode(&entry).unwrap();
        assert_eq!(decoded, parts, "a part is read back as it was written");
        apply(&mut self.state, decoded);
        self.journal.push(entry);
        self.entries.push(Entry { time: self.now, command, events });
        // Whether all is covered is asked once nothing is due any more.
        self.check(Time(i64::MIN)).unwrap_or_else(|broken| panic!("after {:?}: {broken}", self.entries.last()));
    }

    /// Nothing is due between now and a wake-up.
    fn assert_idle(&self, at: Time) -> Result<(), String> {
        match due(&self.state, at.max(self.now), &mut Failed::default()) {
            None => Ok(()),
            Some(early) => Err(format!("nobody would have woken, but at {at} {early:?} is due")),
        }
    }
}

fn decode(entry: &[(Owner, Vec<u8>)]) -> Result<Vec<Part>, String> {
    entry.iter().map(|(owner, bytes)| Part::decode(bytes, *owner).map_err(|e| e.to_string())).collect()
}
