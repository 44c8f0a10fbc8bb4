//! The power goes at any point while mixed orders come in: every acknowledged one is there afterwards, nothing was started
//! that the journal does not hold, no charge is lost or doubled, and the auditor agrees.

mod support;

use engine::Engine;
use journal::{Options, Sqlite, Synchronous};
use simulated_disk::Disk;
use support::{
    mixed::{Seeded, agent_turn, furniture, keyed, wish},
    verdict::{Seen, judge},
};
use units::Time;

const LOGS: u64 = 20;
const CUTS: u64 = 10;
const START: Time = Time(1_800_000_000_000);

/// A log that lives through power cuts.
struct Trial {
    folder: tempfile::TempDir,
    disk: Disk,
    options: Options,
    random: Seeded,
    now: Time,
    next_key: u64,
    seen: Seen,
}

impl Trial {
    fn new(name: &str, synchronous: Synchronous, seed: u64) -> Trial {
        let disk = Disk::new();
        disk.register(name);
        // A checkpoint every 20 pages, so that cuts fall into checkpoints too.
        let checkpoint_beside = seed.is_multiple_of(2);
        let options = Options { synchronous, checkpoint_pages: 20, checkpoint_beside, vfs: Some(name.into()) };
        let folder = tempfile::tempdir().unwrap();
        Trial { folder, disk, options, random: Seeded(seed), now: START, next_key: 1, seen: Seen::default() }
    }

    fn open(&self) -> Result<Engine, String> {
        let store = Sqlite::open(self.folder.path(), &self.options).map_err(|e| e.to_string())?;
        let mut reader = store.reader().map_err(|e| e.to_string())?;
        Engine::open(Box::new(store), None, &mut reader).map_err(|e| e.to_string())
    }

    /// Works until the power goes, remembering what was acknowledged and what was started.
    fn work(&mut self) {
        let Ok(mut engine) = self.open() else { return };
        if engine.head().size == 0 {
            for command in furniture(self.now) {
                engine.submit(self.now, engine::Submission::plain("operator", command)).unwrap();
            }
        }
        // The power may go after an append was acknowledged: then nothing can be read, and nothing is left to commit.
        while engine.commit().is_ok() && !self.disk.is_off() {
            self.now = self.now.plus_ms(self.random.below(600_000) as i64);
            let (starts, reports) = agent_turn(&engine.state());
            self.seen.started.extend(starts);
            for report in reports {
                let _ = engine.submit(self.now, engine::Submission::plain("agent-1", report));
            }
            let mut batch = Vec::new();
            for _ in 0..1 + self.random.below(8) {
                let command = wish(&mut self.random, &engine.state());
                let key = self.next_key;
                self.next_key += 1;
                let answer = engine.submit(self.now, keyed(command, key));
                batch.extend(answer.ok().and_then(|a| a.seq).map(|seq| (key, seq)));
            }
            engine.tick(self.now);
            match engine.commit() {
                Ok(_) => self.seen.acknowledged.extend(batch),
                Err(_) => return,
            }
        }
    }

    fn check(&mut self) -> Result<(), String> {
        let engine = self.open()?;
        engine.state().check(engine.state().time).map_err(|broken| broken.to_string())?;
        judge(engine.source(), &self.seen)
    }
}

fn survive(name: &str, synchronous: Synchronous, seed: u64) -> Result<usize, String> {
    let mut trial = Trial::new(name, synchronous, seed);
    for cut in 0..CUTS {
        trial.disk.cut_after(20 + (seed * CUTS + cut) * 7919 % 211);
        trial.work();
        trial.disk.restart(seed * CUTS + cut);
        trial.check().map_err(|what| format!("log {seed}, cut {cut}: {what}"))?;
    }
    Ok(trial.seen.acknowledged.len())
}

#[test]
fn two_hundred_power_cuts_lose_no_acknowledged_order_and_no_charge() {
    let orders: usize = (0..LOGS).map(|seed| survive(&format!("orders-{seed}"), Synchronous::Full, seed).unwrap()).sum();
    assert!(orders > 1_000, "the cuts fall among many orders: {orders}");
}

#[test]
fn without_syncing_the_same_power_cuts_do_lose_orders() {
    let lost = (0..LOGS).filter(|seed| survive(&format!("unsynced-{seed}"), Synchronous::Off, *seed).is_err()).count();
    assert!(lost as u64 > LOGS / 2, "{lost} of {LOGS} logs lost orders");
}
