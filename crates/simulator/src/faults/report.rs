//! What a simulation of faults comes to.

use super::{Options, history::Outcome};
use crate::world::Disk;
use journal::Source;
use rental::Part;
use serde::Serialize;
use std::{collections::BTreeMap, fmt, ops::ControlFlow};
use units::Ticks;

/// Entries of the journal that a report shows.
const TAIL: usize = 12;
/// Characters of an event that it shows.
const LONGEST: usize = 240;

/// All worlds together.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The first seed.
    pub first_seed: u64,
    /// Worlds that were played to their end.
    pub seeds: u64,
    /// Commands that were given.
    pub commands: u64,
    /// Entries that were written, checked after each, and audited.
    pub entries: u64,
    /// Leases that were ordered.
    pub leases: u64,
    /// Hours that passed in the worlds.
    pub virtual_hours: u64,
    /// What all tenants were charged, in CNY: the same by the auditor, to the tick.
    pub charged: String,
    /// How often each event was written.
    pub events: BTreeMap<String, u64>,
    /// How often each answer was given, refusals by their code, and each fault happened.
    pub counts: BTreeMap<String, u64>,
    /// The first thing that broke.
    pub broken: Option<Broken>,
    #[serde(skip)]
    ticks: Ticks,
}

/// A broken invariant, and how to see it again.
#[derive(Debug, Clone, Serialize)]
pub struct Broken {
    /// The seed of the world.
    pub seed: u64,
    /// Commands until it broke.
    pub commands: u64,
    /// What is wrong.
    pub what: String,
    /// The commands that it takes, by their numbers: all others can be left out.
    pub needed: Vec<u32>,
    /// The last entries that concern it.
    pub tail: Vec<String>,
}

impl Report {
    pub(super) fn of(options: &Options) -> Report {
        Report { first_seed: options.first_seed, charged: Ticks::ZERO.amount(), ..Report::default() }
    }

    /// Adds a world; says whether it broke.
    pub(super) fn add(&mut self, outcome: Outcome) -> bool {
        self.commands += outcome.commands;
        self.seeds += u64::from(outcome.broken.is_none());
        self.entries += outcome.entries;
        self.leases += outcome.leases;
        self.virtual_hours += outcome.virtual_hours;
        self.ticks += outcome.charged;
        self.charged = self.ticks.amount();
        for (kind, n) in outcome.kinds {
            *self.events.entry(kind).or_default() += n;
        }
        for (what, n) in outcome.counts {
            *self.counts.entry(what.to_owned()).or_default() += n;
        }
        // The lowest seed speaks, so that two runs report the same.
        let earlier = |broken: &Broken| self.broken.as_ref().is_none_or(|known| broken.seed < known.seed);
        let broke = outcome.broken.is_some();
        if let Some(broken) = outcome.broken.filter(earlier) {
            self.broken = Some(broken);
        }
        broke
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} broke at command {}: {}", self.seed, self.commands, self.what)?;
        writeln!(f, "again: suanzu simulate --faults --first-seed {} --seeds 1 --commands {}", self.seed, self.commands)?;
        if !self.needed.is_empty() {
            writeln!(f, "it takes {} of the commands: {:?}", self.needed.len(), self.needed)?;
        }
        self.tail.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// The last entries that concern what a finding names; the last of all where there are none.
pub(super) fn tail(disk: &Disk, what: &str) -> Vec<String> {
    let names = named(what);
    let mut all: Vec<String> = Vec::new();
    let read = disk.read(1, &mut |stored| {
        all.push(told(&stored));
        ControlFlow::Continue(())
    });
    if let Err(failure) = read {
        all.push(failure.to_string());
    }
    let concerned: Vec<String> = all.iter().filter(|line| names.iter().any(|name| line.contains(name))).cloned().collect();
    let mut lines = if concerned.is_empty() { all } else { concerned };
    lines.split_off(lines.len().saturating_sub(TAIL))
}

/// Leases, as they are spoken in a finding, in the form that they have in an event's text.
fn named(what: &str) -> Vec<String> {
    let starts = what.match_indices("lease-").map(|(at, word)| &what[at + word.len()..]);
    let numbers = starts.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    numbers.filter(|number| !number.is_empty()).map(|number| format!("LeaseId({number})")).collect()
}

/// An event's text, cut where it becomes long.
fn short(event: &rental::Event) -> String {
    let text = format!("{event:?}");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn told(stored: &journal::Stored<'_>) -> String {
    let Ok(header) = stored.header() else { return format!("#{} cannot be read", stored.seq) };
    let parts = stored.parts.iter().filter_map(|part| Part::decode(part.bytes, part.owner).ok());
    let events: Vec<String> = parts.flat_map(|part| part.events).map(|event| short(&event)).collect();
    format!("#{} {} {} by {}: {}", header.seq, header.time, header.command, header.actor, events.join("; "))
}
