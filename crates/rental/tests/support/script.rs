//! Scenario scripts: what happens when, and beneath it what must come of it.
//!
//! ```text
//! zone +08:00
//! 2026-05-01 08:00  fleet of 1 nodes with 2 A100          a time, then a command in words
//!            09:00  ada orders L1: 2 A100
//!   lease.requested L1                                     its events, in order: the kind, then fields that matter
//!   lease.placed L1 milli=2000
//!   fleet.taken L1
//!   money.held L1 36.00
//!   then ada available 14.00                               what is the case afterwards
//!            10:00  ada orders L2: 1 A100
//!   refused insufficient_funds                             or the refusal's code
//! ```
//!
//! A line without a date is of the same day as the one before; `#` begins a remark. Before a command the world plays what
//! time demands up to its instant, unseen; a command's events are listed with those that fall due because of it.
//! `time passes` lists what falls due at its own instant. `the core is down` lets time go by unplayed up to the next line.
//! A command without anything beneath must be accepted; `nothing` beneath says that no event came of it. Amounts are exact.

use super::{World, asked, shown, words};
use rental::{Command, lease};
use std::{collections::BTreeMap, path::Path};
use units::{LeaseId, NodeId, TenantId, Time};

/// A script being played.
pub struct Script {
    pub world: World,
    pub tenants: BTreeMap<String, TenantId>,
    pub leases: BTreeMap<String, LeaseId>,
    pub nodes: BTreeMap<String, NodeId>,
    zone: String,
    date: String,
    down: bool,
}

/// A command's line with the lines beneath it.
struct Step<'a> {
    line: usize,
    text: &'a str,
    beneath: Vec<(usize, &'a str)>,
}

/// Plays a file of `tests/scenarios`. Panics with the line, and a diff where events differ.
pub fn play(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(format!("{name}.scenario"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut script = Script::new();
    script.run(name, &text);
    script.world.refold().unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
}

fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (line, raw) in (1..).zip(text.lines()) {
        let content = raw.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        // A command begins with a time or a setting: with a digit, or at the margin.
        let command = content.starts_with(|c: char| c.is_ascii_digit()) || !raw.starts_with(' ');
        match steps.last_mut() {
            Some(step) if !command => step.beneath.push((line, content)),
            _ => steps.push(Step { line, text: content, beneath: Vec::new() }),
        }
    }
    steps
}

impl Script {
    pub fn new() -> Script {
        let (tenants, leases, nodes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Script { world: World::default(), tenants, leases, nodes, zone: "Z".into(), date: String::new(), down: false }
    }

    /// Plays lines of a script. Panics with the line, and a diff where events differ.
    pub fn run(&mut self, name: &str, text: &str) {
        for step in steps(text) {
            self.step(&step).unwrap_or_else(|(line, wrong)| panic!("\n{name}.scenario:{line}: {}\n{wrong}\n", step.text));
        }
    }

    fn step(&mut self, step: &Step<'_>) -> Result<(), (usize, String)> {
        let mut words: Vec<&str> = step.text.split_whitespace().collect();
        if let ["zone", zone] = words[..] {
            self.zone = zone.into();
            return Ok(());
        }
        let at = |wrong| (step.line, wrong);
        let time = self.take_time(&mut words).map_err(at)?;
        self.go_to(time).map_err(at)?;
        let first = match &words[..] {
            ["time", "passes"] => self.world.entries.iter().rposition(|e| e.time < time).map_or(0, |last| last + 1),
            _ => self.world.entries.len(),
        };
        let mut refused = None;
        if words == ["the", "core", "is", "down"] {
            self.down = true;
        } else {
            for command in words::commands(self, &words).map_err(at)? {
                match self.world.submit(&command) {
                    Ok(_) => self.know(&words, &command),
                    Err(refusal) => refused = refused.or(Some(refusal)),
                }
            }
            self.world.settle().map_err(at)?;
        }
        let events = self.world.entries[first..].iter().flat_map(|entry| &entry.events);
        let happened: Vec<shown::Shown> = events.map(|event| shown::show(self, event)).collect();
        self.compare(step, refused.as_ref(), &happened)
    }

    fn go_to(&mut self, time: Time) -> Result<(), String> {
        if !std::mem::take(&mut self.down) {
            return self.world.advance(time);
        }
        self.world.now = time;
        self.world.settle()
    }

    /// Learns the ids behind new names.
    fn know(&mut self, words: &[&str], command: &Command) {
        let state = &self.world.state;
        match (command, words) {
            (Command::Tenancy(_), ["tenant", name, ..]) if !self.tenants.contains_key(*name) => {
                let newest = *state.tenancy.tenants.keys().last().expect("a tenant was created");
                self.tenants.insert((*name).into(), newest);
            }
            (Command::Lease(lease::Command::Request(_)), [_, "orders", name, ..]) => {
                self.leases.insert(name.trim_end_matches(':').into(), LeaseId(state.lease.last));
            }
            (Command::Fleet(_), _) => {
                self.nodes = state.fleet.nodes.iter().map(|(id, node)| (node.name.clone(), *id)).collect();
            }
            _ => {}
        }
    }

    fn compare(
        &self,
        step: &Step<'_>,
        refused: Option<&rental::Refusal>,
        happened: &[shown::Shown],
    ) -> Result<(), (usize, String)> {
        let (checks, expected): (Vec<_>, Vec<_>) = step.beneath.iter().partition(|(_, text)| text.starts_with("then "));
        let refusal = |text: &str| text.strip_prefix("refused ").map(str::to_owned);
        let awaited = expected.iter().find_map(|(_, text)| refusal(text));
        match (awaited, refused) {
            (Some(code), Some(refusal)) if refusal.code() == code => {}
            (None, None) => {}
            (awaited, refusal) => {
                let said = refusal.map(|r| format!("{}: {r}", r.code()));
                return Err((step.line, format!("expected the refusal {awaited:?}, got {said:?}")));
            }
        }
        let wanted: Vec<&str> =
            expected.iter().map(|(_, text)| *text).filter(|t| refusal(t).is_none() && *t != "nothing").collect();
        if !expected.is_empty() {
            self.diff(&wanted, happened).map_err(|wrong| (expected[0].0, wrong))?;
        }
        for (line, check) in checks {
            let check: Vec<&str> = check.split_whitespace().skip(1).collect();
            asked::check(self, &check).map_err(|wrong| (line, wrong))?;
        }
        Ok(())
    }

    fn diff(&self, wanted: &[&str], happened: &[shown::Shown]) -> Result<(), String> {
        let matches = |(wanted, shown): (&&str, &shown::Shown)| shown.meets(self, wanted);
        if wanted.len() == happened.len() && wanted.iter().zip(happened).all(matches) {
            return Ok(());
        }
        let mut lines = Vec::new();
        for at in 0..wanted.len().max(happened.len()) {
            let (left, right) = (wanted.get(at), happened.get(at));
            let same = left.zip(right).is_some_and(matches);
            if same {
                lines.push(format!("    {}", left.expect("it matched")));
            } else {
                lines.extend(left.map(|l| format!("  - {l}")));
                lines.extend(right.map(|r| format!("  + {r}")));
            }
        }
        Err(lines.join("\n"))
    }

    /// Takes `[DATE] TIME` from the front.
    pub fn take_time(&mut self, words: &mut Vec<&str>) -> Result<Time, String> {
        if words.first().is_some_and(|w| w.len() == 10 && w.matches('-').count() == 2) {
            self.date = words.remove(0).into();
        }
        if words.is_empty() {
            return Err("a line begins with a time".into());
        }
        self.time(words.remove(0))
    }

    /// `HH:MM[:SS[.mmm]]` of the line's day, or `YYYY-MM-DDTHH:MM[:SS[.mmm]]`.
    pub fn time(&self, word: &str) -> Result<Time, String> {
        let (date, clock) = word.split_once('T').unwrap_or((&self.date, word));
        let seconds = if clock.matches(':').count() == 1 { ":00" } else { "" };
        let text = format!("{date}T{clock}{seconds}{}", self.zone);
        text.parse().map_err(|e| format!("'{word}' is not a time: {e}"))
    }
}
