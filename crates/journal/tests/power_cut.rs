//! The power goes at any point of an append: what was acknowledged is there afterwards.
//!
//! Two hundred cuts on a simulated disk (`simulated-disk`) that forgets a random half of the sectors that were
//! written but not synced. The same check on a store that does not sync must fail: the disk does bite.

mod sample;

use journal::{Entry, Failure, Head, Keys, Options, Sqlite, Store, Synchronous};
use sample::{Samples, everything};
use simulated_disk::Disk;
use std::path::Path;

const LOGS: u64 = 20;
const CUTS: u64 = 10;

/// A log that lives through power cuts, and what it acknowledged.
struct Trial {
    folder: tempfile::TempDir,
    disk: Disk,
    options: Options,
    acknowledged: Vec<Entry>,
    head: Option<Head>,
}

impl Trial {
    fn new(name: &str, synchronous: Synchronous) -> Trial {
        let disk = Disk::new();
        disk.register(name);
        // A checkpoint every 20 pages, so that cuts fall into checkpoints too.
        let options = Options { synchronous, checkpoint_pages: 20, checkpoint_beside: false, vfs: Some(name.into()) };
        Trial { folder: tempfile::tempdir().unwrap(), disk, options, acknowledged: Vec::new(), head: None }
    }

    fn open(&self) -> Result<Sqlite, Failure> {
        Sqlite::open(self.folder.path(), &self.options)
    }

    /// Appends batches until the power goes, and remembers those that were acknowledged. Opening may be cut too.
    fn run_until_cut(&mut self, operations: u64) {
        self.disk.cut_after(operations);
        let mut store = match self.open() {
            Ok(store) => store,
            Err(failure) => {
                assert!(self.disk.is_off(), "only the power stops an opening: {failure:?}");
                return;
            }
        };
        let mut samples = self.samples(&store);
        for size in (0..).map(|i| 1 + (operations + i) as usize % 9) {
            let batch = samples.batch(size);
            match store.append(&batch) {
                Ok(head) => {
                    self.acknowledged.extend(batch.entries);
                    self.head = Some(head);
                }
                Err(failure) => {
                    assert!(self.disk.is_off(), "only the power stops an append: {failure:?}");
                    assert!(matches!(store.append(&batch), Err(Failure::Stopped)), "a failed append stops the store");
                    return;
                }
            }
        }
    }

    fn samples(&self, store: &Sqlite) -> Samples {
        let mut samples = Samples::new(store.keys().log());
        // Parts count on from what is stored.
        while samples.seq < store.head().size {
            samples.batch(1);
        }
        samples
    }

    /// After a restart: the store opens, holds what was acknowledged, and its tree is that of its entries.
    fn check(&mut self) -> Result<(), String> {
        let store = self.open().map_err(|failure| format!("it does not open: {failure:?}"))?;
        let (found, known) = (store.head(), self.acknowledged.len());
        if (found.size as usize) < known {
            return Err(format!("{} entries of {known} acknowledged", found.size));
        }
        let entries = everything(&store, 1);
        for (given, (seq, header, parts)) in self.acknowledged.iter().zip(&entries) {
            if (given.header().encode(), given.parts()) != (header.clone(), parts.as_slice()) {
                return Err(format!("entry {seq} is another"));
            }
        }
        if Some(found.size) == self.head.map(|head| head.size) && Some(found) != self.head {
            return Err("the head is another".into());
        }
        let mut memory = journal::Memory::new(store.keys().clone());
        let mut again = Samples::new(store.keys().log());
        let rebuilt = memory.append(&again.batch(entries.len())).map_err(|e| e.to_string())?;
        if (rebuilt.size, rebuilt.root) != (found.size, found.root) {
            return Err("the root is not that of the entries".into());
        }
        // What was written but not acknowledged may be there, whole batches only; the log goes on from it.
        self.acknowledged = again_from(store.keys(), entries.len());
        self.head = Some(found);
        Ok(())
    }
}

fn again_from(keys: &Keys, size: usize) -> Vec<Entry> {
    Samples::new(keys.log()).batch(size).entries
}

fn survive(name: &str, synchronous: Synchronous, seed: u64) -> Result<usize, String> {
    let mut trial = Trial::new(name, synchronous);
    trial.options.checkpoint_beside = seed.is_multiple_of(2);
    for cut in 0..CUTS {
        let seed = seed * CUTS + cut;
        // A prime step, so that the cuts fall on every operation from the first to the 97th.
        trial.run_until_cut(1 + seed * 7919 % 97);
        trial.disk.restart(seed);
        trial.check().map_err(|what| format!("seed {seed}: {what}"))?;
    }
    Ok(trial.acknowledged.len())
}

#[test]
fn two_hundred_power_cuts_lose_nothing_that_was_acknowledged() {
    let entries: usize = (0..LOGS).map(|seed| survive(&format!("full-{seed}"), Synchronous::Full, seed).unwrap()).sum();
    assert!(entries > 1_000, "the cuts fall among many appends: {entries} entries");
}

#[test]
fn without_syncing_the_same_cuts_break_every_log() {
    let sound: Vec<u64> = (0..LOGS).filter(|seed| survive(&format!("off-{seed}"), Synchronous::Off, *seed).is_ok()).collect();
    assert!(sound.is_empty(), "logs {sound:?} lived through {CUTS} cuts each");
}

#[test]
fn a_sound_log_that_stops_syncing_opens_but_has_lost_what_it_acknowledged() {
    for seed in 0..LOGS {
        let mut trial = Trial::new(&format!("stops-{seed}"), Synchronous::Full);
        let mut store = trial.open().unwrap();
        let batch = trial.samples(&store).batch(20);
        trial.head = Some(store.append(&batch).unwrap());
        trial.acknowledged = batch.entries;
        drop(store);
        trial.check().unwrap();
        // No checkpoint, so that only the write-ahead log is at stake.
        trial.options = Options { synchronous: Synchronous::Off, checkpoint_pages: 10_000, ..trial.options };
        trial.run_until_cut(60 + seed);
        trial.disk.restart(seed);
        let lost = trial.check().unwrap_err();
        assert!(trial.acknowledged.len() > 20 && lost.ends_with("acknowledged"), "log {seed}: {lost}");
    }
}

#[test]
fn a_reader_shares_the_simulated_disk_with_the_writer() {
    let trial = Trial::new("verified", Synchronous::Full);
    let mut store = trial.open().unwrap();
    let mut samples = trial.samples(&store);
    store.append(&samples.batch(40)).unwrap();
    let reader = store.reader().unwrap();
    assert_eq!(everything(&reader, 1), everything(&store, 1), "a second connection sees the same");
    drop((store, reader));
    assert!(!Path::new(&trial.folder.path().join("journal.sqlite")).exists(), "nothing reaches the real disk");
    assert_eq!(trial.open().unwrap().head().size, 40);
}
