//! Builds that are broken on purpose, so that it can be shown that the simulation notices.

use journal::{Batch, Entry};
use rental::{Event, Part, money};
use serde::{Deserialize, Serialize};

/// One way in which the build is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sabotage {
    /// What was left of a hold does not go back when a lease stops.
    KeepHold,
    /// A charge is written twice.
    DoubleCharge,
    /// A charge is one tick too low, balanced in itself.
    ShaveCharge,
    /// What was charged beyond the end of a failed service is not given back.
    SkipReversal,
    /// Cards are given back while their workload still runs.
    FreeEarly,
    /// Freed cards are said to be clean without a measurement.
    ClearUnmeasured,
    /// Repeats are not recognised: an order under a known idempotency key is a second order.
    ForgetRepeats,
    /// Nothing is ever due: renewals, ends and the queue stand still.
    NeverDue,
    /// A node starts what nobody assigned.
    StartUnassigned,
    /// An append says that it is done, and is not.
    LoseAppend,
}

impl Sabotage {
    /// All of them.
    pub const ALL: [Sabotage; 10] = [
        Sabotage::KeepHold,
        Sabotage::DoubleCharge,
        Sabotage::ShaveCharge,
        Sabotage::SkipReversal,
        Sabotage::FreeEarly,
        Sabotage::ClearUnmeasured,
        Sabotage::ForgetRepeats,
        Sabotage::NeverDue,
        Sabotage::StartUnassigned,
        Sabotage::LoseAppend,
    ];
}

impl Sabotage {
    /// What is written in place of `batch`; `None` where it stays as it is.
    pub(super) fn rewrite(self, batch: &Batch) -> Option<Batch> {
        let rewritten: Vec<Option<Entry>> = batch.entries.iter().map(|entry| self.rewrite_entry(entry)).collect();
        if rewritten.iter().all(Option::is_none) {
            return None;
        }
        let entries = rewritten.into_iter().zip(&batch.entries).map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
        Some(Batch { entries, ..batch.clone() })
    }

    fn rewrite_entry(self, entry: &Entry) -> Option<Entry> {
        let mut changed = false;
        let parts = entry.parts().iter().map(|stored| {
            let mut part = Part::decode(&stored.bytes, stored.owner).expect("the writer writes what it can read");
            changed |= self.rewrite_part(&mut part);
            let bytes = minicbor::to_vec(&part).expect("a Vec takes every byte");
            journal::Part { owner: stored.owner, bytes }
        });
        let parts = parts.collect();
        changed.then(|| Entry::new(entry.header().clone(), parts))
    }

    fn rewrite_part(self, part: &mut Part) -> bool {
        let before = part.events.clone();
        part.events = before.iter().flat_map(|event| self.rewrite_event(event)).collect();
        if part.events == before {
            return false;
        }
        // The totals are made to agree, so that it takes more than adding them up to notice.
        if let Some(totals) = &mut part.totals {
            totals.charged += revenue(&part.events) - revenue(&before);
        }
        true
    }

    fn rewrite_event(self, event: &Event) -> Vec<Event> {
        let Event::Money(tenant, body) = event else { return vec![event.clone()] };
        match (self, body) {
            (Sabotage::KeepHold, money::Event::Released(e)) if !e.moves.is_empty() => {
                vec![Event::Money(*tenant, money::Released { moves: Vec::new(), ..e.clone() }.into())]
            }
            (Sabotage::DoubleCharge, money::Event::Charged(_)) => vec![event.clone(), event.clone()],
            (Sabotage::ShaveCharge, money::Event::Charged(e)) if !e.moves.is_empty() => {
                let mut less = e.clone();
                less.ticks -= units::Ticks(1);
                less.moves[0].ticks -= units::Ticks(1);
                vec![Event::Money(*tenant, less.into())]
            }
            (Sabotage::SkipReversal, money::Event::Reversed(_)) => Vec::new(),
            _ => vec![event.clone()],
        }
    }
}

fn revenue(events: &[Event]) -> units::Ticks {
    let of = |event: &Event| match event {
        Event::Money(_, money::Event::Charged(e)) => e.ticks,
        Event::Money(_, money::Event::Reversed(e)) => -e.ticks,
        _ => units::Ticks::ZERO,
    };
    events.iter().map(of).sum()
}
