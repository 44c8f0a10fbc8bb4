//! Sample entries: parts with the three fields a verifier reads, and some text behind them.
#![allow(dead_code)]

use journal::{Batch, Entry, Header, LogId, Part, Source, Stored, header::FORMAT};
use std::{collections::BTreeMap, ops::ControlFlow};
use units::{Owner, Time};

/// When the first sample entry is decided.
pub const START: i64 = 1_780_000_000_000;

/// Makes the entries of one log in order.
pub struct Samples {
    pub log: LogId,
    pub seq: u64,
    counters: BTreeMap<Owner, u64>,
}

impl Samples {
    pub fn new(log: LogId) -> Samples {
        Samples { log, seq: 0, counters: BTreeMap::new() }
    }

    pub fn header(&self, seq: u64) -> Header {
        Header {
            format: FORMAT,
            log: self.log,
            epoch: 1,
            seq,
            time: Time(START + seq as i64),
            command: "lease.request".into(),
            actor: "key-1".into(),
            key: None,
            request: None,
        }
    }

    /// The next entry, with a part for each owner.
    pub fn next(&mut self, owners: &[u64]) -> Entry {
        self.seq += 1;
        let header = self.header(self.seq);
        let parts = owners.iter().map(|owner| self.part(Owner(*owner), header.time)).collect();
        Entry::new(header, parts)
    }

    fn part(&mut self, owner: Owner, time: Time) -> Part {
        let counter = self.counters.entry(owner).or_default();
        *counter += 1;
        Part { owner, bytes: part_bytes(self.seq, time, *counter, &format!("{owner} did something in entry {}", self.seq)) }
    }

    /// The next `count` entries, of two or three parts each.
    pub fn batch(&mut self, count: usize) -> Batch {
        let entries = (0..count).map(|_| {
            let tenant = 1 + self.seq % 5;
            if self.seq.is_multiple_of(3) { self.next(&[0, tenant]) } else { self.next(&[0, tenant, tenant + 2]) }
        });
        Batch { entries: entries.collect(), ..Batch::default() }
    }
}

/// A part as `rental` writes it: `[seq, time, part_seq, null, [text]]`.
pub fn part_bytes(seq: u64, time: Time, part_seq: u64, text: &str) -> Vec<u8> {
    let mut e = minicbor::Encoder::new(Vec::new());
    let written = e.array(5).and_then(|e| e.u64(seq)?.i64(time.0)?.u64(part_seq)?.null()?.array(1)?.str(text));
    written.expect("a Vec takes every byte");
    e.into_writer()
}

/// Every stored entry: seq, header bytes, parts.
pub fn everything(source: &dyn Source, from: u64) -> Vec<(u64, Vec<u8>, Vec<Part>)> {
    let mut all = Vec::new();
    source
        .read(from, &mut |stored: Stored<'_>| {
            let parts = stored.parts.iter().map(|p| Part { owner: p.owner, bytes: p.bytes.to_vec() });
            all.push((stored.seq, stored.header.to_vec(), parts.collect()));
            ControlFlow::Continue(())
        })
        .expect("the sample log is sound");
    all
}
