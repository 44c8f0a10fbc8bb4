//! The frame of entries and parts: nothing missing, nothing twice, nothing back in time.

use crate::findings::Findings;
use minicbor::{Decode, Decoder, decode::Error};
use std::collections::BTreeMap;
use units::{Owner, Time};

/// The format that this crate knows.
const FORMAT: u16 = 1;

/// What the audit reads of a header; command, actor and hashes of the request are passed over.
#[derive(Decode)]
pub struct Header {
    #[n(0)]
    pub format: u16,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub log: [u8; 16],
    #[n(2)]
    pub epoch: u64,
    #[n(3)]
    pub seq: u64,
    #[n(4)]
    pub time: i64,
}

/// The start of a part, up to its events.
pub struct Start {
    pub seq: u64,
    pub time: i64,
    pub part_seq: u64,
    /// Charged and paid over the owner's life.
    pub totals: Option<(i128, i128)>,
    /// How many events follow.
    pub events: u64,
}

impl Start {
    /// Reads `[seq, time, part_seq, totals, events…`; the events follow in `d`.
    pub fn read(d: &mut Decoder<'_>) -> Result<Start, Error> {
        expect_array(d, 5, "a part is [seq, time, part_seq, totals, events]")?;
        let (seq, time, part_seq) = (d.u64()?, d.i64()?, d.u64()?);
        let totals = if d.datatype()? == minicbor::data::Type::Null {
            d.null()?;
            None
        } else {
            expect_array(d, 2, "totals are [charged, paid]")?;
            Some((crate::facts::ticks::decode(d, &mut ())?, crate::facts::ticks::decode(d, &mut ())?))
        };
        let events = d.array()?.ok_or_else(|| Error::message("arrays have a definite length"))?;
        Ok(Start { seq, time, part_seq, totals, events })
    }
}

fn expect_array(d: &mut Decoder<'_>, length: u64, what: &'static str) -> Result<(), Error> {
    if d.array()? == Some(length) { Ok(()) } else { Err(Error::message(what)) }
}

/// Where the journal stands.
#[derive(Default)]
pub struct Order {
    pub entries: u64,
    log: Option<[u8; 16]>,
    epoch: u64,
    seq: u64,
    time: Option<i64>,
    part_seqs: BTreeMap<u64, u64>,
    last_owner: Option<u64>,
}

impl Order {
    /// Follows the next entry's header and gives the entry's time.
    pub fn header(&mut self, seq: u64, bytes: &[u8], found: &mut Findings) -> i64 {
        self.entries += 1;
        self.last_owner = None;
        let header: Header = match minicbor::decode(bytes) {
            Ok(header) => header,
            Err(e) => {
                found.wrong(format!("the header cannot be read: {e}"));
                self.seq = seq;
                return self.time.unwrap_or_default();
            }
        };
        found.check(header.format == FORMAT, || format!("its format is {}, and this auditor knows {FORMAT}", header.format));
        found.check(self.log.is_none_or(|log| log == header.log), || "it is of another log than the entries before".into());
        found.check(header.epoch >= self.epoch, || format!("its epoch {} is before {}", header.epoch, self.epoch));
        found.check(header.seq == seq, || format!("its header says entry {}", header.seq));
        found.check(seq == self.seq + 1, || format!("it follows entry {}", self.seq));
        if let Some(last) = self.time.filter(|last| header.time < *last) {
            found.wrong(format!("its time {} is before {} of the entry before", Time(header.time), Time(last)));
        }
        self.log = Some(header.log);
        self.epoch = header.epoch;
        self.seq = seq;
        self.time = Some(header.time);
        header.time
    }

    /// Whether the next part may be of this owner: the operator first, then tenants ascending, one part each.
    pub fn owner(&mut self, owner: u64, found: &mut Findings) -> bool {
        let ascends = self.last_owner.is_none_or(|last| last < owner);
        if ascends {
            self.last_owner = Some(owner);
        } else {
            found.wrong("it is a second part of this owner in the entry, or one out of order");
        }
        ascends
    }

    /// Follows the start of the owner's next part.
    pub fn part(&mut self, owner: u64, start: &Start, found: &mut Findings) {
        let time = self.time.unwrap_or_default();
        found.check(start.seq == self.seq, || format!("the part says it is of entry {}", start.seq));
        found.check(start.time == time, || format!("the part says its time is {}", Time(start.time)));
        found.check((owner == 0) == start.totals.is_none(), || "a tenant's part has totals, the operator's has none".into());
        let last = self.part_seqs.entry(owner).or_default();
        let next = *last + 1;
        *last = start.part_seq;
        found.check(start.part_seq == next, || format!("it is part {} of {} where {next} is next", start.part_seq, Owner(owner)));
    }
}
