//! One world's history: steps from a seed, then quiet, then the reckoning.

use super::{
    Options,
    deeds::{FAULTS, OPERATOR, TENANTS},
    report::{Broken, tail},
    settle,
};
use crate::{
    random::Random,
    world::{Disk, Plan, START, World, found},
};
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};
use units::Ticks;

/// What is to happen to one world.
#[derive(Debug, Clone)]
pub(super) struct History {
    pub plan: Plan,
    pub commands: u32,
    /// Steps whose deeds are left out; time passes all the same.
    pub left_out: Vec<u32>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub commands: u64,
    pub entries: u64,
    pub leases: u64,
    pub virtual_hours: u64,
    pub charged: Ticks,
    pub kinds: BTreeMap<String, u64>,
    pub counts: BTreeMap<&'static str, u64>,
    pub broken: Option<Broken>,
}

impl History {
    pub fn of(options: &Options, seed: u64) -> History {
        let plan = Plan { seed, faults: options.faults, sabotage: options.sabotage };
        History { plan, commands: options.commands, left_out: Vec::new() }
    }

    pub fn play(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut disk = None;
        // A failed assertion of the core is a finding like any other.
        let played = catch_unwind(AssertUnwindSafe(|| self.run(&mut outcome, &mut disk)));
        let broken = match played {
            Ok(Ok(())) => None,
            Ok(Err(what)) => Some(what),
            Err(panic) => Some(said(&*panic)),
        };
        outcome.broken = broken.map(|what| {
            let tail = disk.map_or_else(Vec::new, |disk| tail(&disk, &what));
            Broken { seed: self.plan.seed, commands: outcome.commands, what, needed: Vec::new(), tail }
        });
        outcome
    }

    fn run(&self, outcome: &mut Outcome, disk: &mut Option<Disk>) -> Result<(), String> {
        let mut world = found(self.plan)?;
        *disk = Some(world.plane.disk.clone());
        for step in 0..self.commands {
            outcome.commands += 1;
            self.step(&mut world, step)?;
        }
        settle::quiet(&mut world)?;
        outcome.charged = settle::reckon(&world)?;
        outcome.virtual_hours = (world.now.since(START) / units::HOUR_MS).unsigned_abs();
        outcome.leases = world.leases.len() as u64;
        outcome.entries = world.plane.state().map_or(0, |state| state.seq);
        outcome.kinds = std::mem::take(&mut world.oracle.kinds);
        outcome.counts = std::mem::take(&mut world.counts);
        Ok(())
    }

    /// Each step draws from a stream of its own, so that leaving one out changes no other.
    fn step(&self, world: &mut World, step: u32) -> Result<(), String> {
        let mut random = Random::of(self.plan.seed, u64::from(step));
        let pause = pause(&mut random);
        world.advance(world.now.plus_ms(pause))?;
        if self.left_out.binary_search(&step).is_ok() {
            return Ok(());
        }
        let table = match random.below(100) {
            0..12 if self.plan.faults => FAULTS,
            12..20 => OPERATOR,
            _ => TENANTS,
        };
        match random.weighted(table) {
            Some(deed) => deed(world, &mut random)?,
            None => return Ok(()),
        }
        world.sabotage(&mut random)?;
        world.turn().map(|_| ())
    }
}

/// Mostly moments, sometimes an hour: so that both races and renewals happen.
fn pause(random: &mut Random) -> i64 {
    match random.below(1000) {
        0..550 => random.within(0, 2_000),
        550..890 => random.within(2_000, 60_000),
        890..985 => random.within(60_000, 1_200_000),
        _ => random.within(1_200_000, 7_200_000),
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "without a word".into()))
}
