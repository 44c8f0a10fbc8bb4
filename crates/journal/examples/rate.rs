//! Measures how fast entries are appended, read and verified.
//!
//! ```text
//! cargo run --release -p journal --example rate [ENTRIES] [FOLDER]
//! ```
//!
//! Batches of 64 entries with 3 parts of 150 bytes, in a folder beside the current one (or FOLDER), which is removed.

use journal::{
    Batch, Entry, Failure, Header, LogId, Options, Part, Repeat, Sqlite, Store, Synchronous, header::FORMAT, leaf, verify,
};
use std::{env, fs, hint::black_box, ops::ControlFlow, path::Path, time::Instant};
use units::{Owner, Time};

const BATCH: u64 = 64;

fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let entries = arguments.next().map_or(1_000_000, |n| n.parse().expect("ENTRIES is a number"));
    let folder = arguments.next().unwrap_or_else(|| "rate.tmp".into());
    let folder = Path::new(&folder);
    for (name, synchronous, repeats) in [
        ("append, FULL, no repeats", Synchronous::Full, false),
        ("append, FULL, a repeat each", Synchronous::Full, true),
        ("append, OFF, no repeats", Synchronous::Off, false),
    ] {
        let _ = fs::remove_dir_all(folder);
        let mut store = Sqlite::open(folder, &Options { synchronous, ..Options::default() })?;
        let log = store.keys().log();
        let batches: Vec<Batch> = (0..entries / BATCH).map(|n| batch(log, n, repeats)).collect();
        rate(name, entries, || batches.iter().try_for_each(|batch| store.append(batch).map(|_| ())))?;
    }
    let store = Sqlite::open(folder, &Options::default())?;
    for name in ["read", "read again"] {
        rate(name, entries, || read(&store))?;
    }
    rate("verify", entries, || {
        let report = verify::folder(folder)?;
        assert!(report.sound() && report.size == entries / BATCH * BATCH, "what was written is sound");
        Ok(())
    })?;
    drop(store);
    fs::remove_dir_all(folder).map_err(|e| panic!("the folder can be removed: {e}"))
}

fn rate(name: &str, entries: u64, run: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let start = Instant::now();
    run()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:<28} {:>10.0} entries/s  {:>6.2} us each", entries as f64 / seconds, seconds * 1e6 / entries as f64);
    Ok(())
}

fn read(store: &dyn Store) -> Result<(), Failure> {
    store.read(1, &mut |stored| {
        black_box(stored.parts.iter().map(|part| part.bytes.len()).sum::<usize>());
        ControlFlow::Continue(())
    })
}

fn batch(log: LogId, number: u64, repeats: bool) -> Batch {
    let first = number * BATCH + 1;
    let entries = (first..first + BATCH).map(|seq| entry(log, seq)).collect();
    let repeat = |seq: u64| Repeat {
        owner: Owner(1 + seq % 1000),
        key: leaf::sha256(&[&seq.to_be_bytes()]),
        request: [7; 32],
        seq,
        time: Time(seq as i64),
    };
    let repeats = if repeats { (first..first + BATCH).map(repeat).collect() } else { Vec::new() };
    Batch { entries, repeats, ..Batch::default() }
}

fn entry(log: LogId, seq: u64) -> Entry {
    let header = Header {
        format: FORMAT,
        log,
        epoch: 1,
        seq,
        time: Time(1_780_000_000_000 + seq as i64),
        command: "lease.request".into(),
        actor: "key-1042".into(),
        key: Some([1; 32]),
        request: Some([2; 32]),
    };
    // Three owners who have a part of every entry, so that their part_seq is the seq.
    let parts = [0, 7, 9].map(|owner| Part { owner: Owner(owner), bytes: part(seq, header.time) });
    Entry::new(header, parts.into())
}

/// 150 bytes: `[seq, time, part_seq, null, text]`.
fn part(seq: u64, time: Time) -> Vec<u8> {
    let mut e = minicbor::Encoder::new(Vec::with_capacity(150));
    let text = "x".repeat(128);
    let written = e.array(5).and_then(|e| e.u64(seq)?.i64(time.0)?.u64(seq)?.null()?.str(&text));
    written.expect("a Vec takes every byte");
    let mut bytes = e.into_writer();
    bytes.resize(150, 0);
    bytes
}
