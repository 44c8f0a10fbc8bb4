//! The one rule of an agent, as a pure function: compare what should be with what is, and say what to do.
//!
//! It looks at levels, never at what was done before: the same input gives the same actions until the world has
//! followed. What runs as it should needs no action; that is also how a restarted agent adopts its workloads.

use crate::{Assigned, Observed};
use protocol::Instance;
use std::collections::BTreeSet;
use units::Wanted;

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It should run and was not seen.
    Start(Instance),
    /// It should not be and was seen.
    End(Instance),
    /// It should not be and was not seen: ask directly, then say that it is gone.
    ConfirmGone(Instance),
}

/// What to do on this agent's nodes.
///
/// A workload that carries another log's mark is never touched. One that carries `log`'s and is not assigned is
/// ended only where the set is whole and as far as the generation the workload was born under.
pub fn reconcile(assigned: &Assigned, log: &str, observed: &[Observed]) -> Vec<Action> {
    let ours = || observed.iter().filter(|seen| &*seen.log == log);
    let present: BTreeSet<Instance> = ours().map(|seen| seen.instance).collect();
    let wished = assigned.iter().filter_map(|(instance, held)| match (held.wanted(), present.contains(&instance)) {
        (Wanted::Run, true) => None,
        (Wanted::Run, false) => Some(Action::Start(instance)),
        (Wanted::End, true) => Some(Action::End(instance)),
        (Wanted::End, false) => Some(Action::ConfirmGone(instance)),
    });
    let unwished = ours()
        .filter(|seen| assigned.get(seen.instance).is_none())
        .filter(|seen| assigned.is_whole() && assigned.generation().covers(seen.born))
        .map(|seen| Action::End(seen.instance));
    wished.chain(unwished).collect()
}
