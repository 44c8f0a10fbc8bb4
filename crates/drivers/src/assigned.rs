//! The set of assignments that an agent holds, and how answers of the server change it.

use protocol::{AssignmentBody, Changes, Generation, Instance, digest};
use std::collections::BTreeMap;
use units::{Time, Wanted};

/// What should be on this agent's nodes, as far as it has heard.
#[derive(Debug, Clone, Default)]
pub struct Assigned {
    generation: Generation,
    whole: bool,
    held: BTreeMap<Instance, Held>,
}

/// One assignment, with its deadline in the agent's own time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// As the server sent it.
    pub body: AssignmentBody,
    /// When the money that covers it ends.
    pub stop_by: Option<Time>,
}

impl Held {
    /// What the core wants of it.
    pub fn wanted(&self) -> Wanted {
        self.body.assignment.wanted
    }
}

/// An answer older than what is known: from a server that has lost its office, or overtaken on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("assignments of generation {given} are stale: {known} is known")]
pub struct Stale {
    /// What came.
    pub given: Generation,
    /// What is known.
    pub known: Generation,
}

impl Assigned {
    /// How far this set goes.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The generation to poll with: none where the set is known to differ from the server's.
    pub fn poll_from(&self) -> Generation {
        if self.whole { self.generation } else { Generation::NONE }
    }

    /// Whether this is the whole set, so that what is absent from it is unwanted.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The digest of what is held.
    pub fn digest(&self) -> u64 {
        digest(self.held.values().map(|h| &h.body.assignment))
    }

    /// One assignment.
    pub fn get(&self, instance: Instance) -> Option<&Held> {
        self.held.get(&instance)
    }

    /// All assignments, by instance.
    pub fn iter(&self) -> impl Iterator<Item = (Instance, &Held)> {
        self.held.iter().map(|(instance, held)| (*instance, held))
    }

    /// Takes an answer in. Afterwards the set is whole only if its digest equals the server's.
    pub fn apply(&mut self, changes: Changes, now: Time) -> Result<(), Stale> {
        if changes.generation < self.generation {
            return Err(Stale { given: changes.generation, known: self.generation });
        }
        if changes.full {
            self.held.clear();
        }
        for body in changes.assignments {
            let held = Held { stop_by: after(now, body.stop_in_ms), body };
            self.held.insert(held.body.instance(), held);
        }
        for deadline in changes.deadlines {
            if let Some(held) = self.held.get_mut(&deadline.instance) {
                held.stop_by = after(now, deadline.stop_in_ms);
            }
        }
        self.generation = changes.generation;
        self.whole = (changes.full || self.whole) && self.digest() == changes.digest;
        Ok(())
    }

    /// Drops an assignment whose end the server has heard of; the server drops it too.
    pub(crate) fn forget(&mut self, instance: Instance) {
        self.held.remove(&instance);
    }
}

fn after(now: Time, ms: Option<u64>) -> Option<Time> {
    ms.map(|ms| now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX)))
}
