//! The order of entries and parts: nothing missing, nothing twice, nothing back in time.

use super::Report;
use crate::{Header, LogId, PartRef, Place, header::FORMAT};
use minicbor::{Decoder, data::Type, decode::Error};
use std::collections::BTreeMap;
use units::{Owner, Time};

/// The first three fields of a part, which are all that is read here of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartStart {
    /// Seq of its entry.
    pub seq: u64,
    /// Time of its entry.
    pub time: Time,
    /// Its place among the owner's parts: 1 for the first.
    pub part_seq: u64,
}

impl PartStart {
    /// Reads `[seq, time, part_seq, …]` or `{0: seq, 1: time, 2: part_seq, …}`.
    pub fn decode(bytes: &[u8]) -> Result<PartStart, Error> {
        let mut d = Decoder::new(bytes);
        if d.datatype()? == Type::Map {
            d.map()?;
            let mut field = |n| if d.u64()? == n { d.i64() } else { Err(Error::message("fields 0, 1, 2 come first")) };
            let (seq, time, part_seq) = (field(0)?, field(1)?, field(2)?);
            let number = |n| u64::try_from(n).map_err(|_| Error::message("a count is not negative"));
            return Ok(PartStart { seq: number(seq)?, time: Time(time), part_seq: number(part_seq)? });
        }
        d.array()?;
        Ok(PartStart { seq: d.u64()?, time: Time(d.i64()?), part_seq: d.u64()? })
    }
}

/// Follows the entries of a log in order.
pub(super) struct Order {
    log: LogId,
    last: Option<Header>,
    parts: Parts,
}

impl Order {
    pub(super) fn new(log: LogId) -> Order {
        Order { log, last: None, parts: Parts::of_a_log() }
    }

    /// Passes over an entry that cannot be read.
    pub(super) fn unreadable(&mut self) {
        self.parts.unreadable += 1;
    }

    /// Checks the next entry.
    pub(super) fn entry(&mut self, seq: u64, header: Header, parts: &[PartRef<'_>], report: &mut Report) {
        let mut wrong = |what: String| report.find(seq, Place::Header, what);
        if header.format != FORMAT {
            wrong(format!("format {} is not {FORMAT}", header.format));
        }
        if header.log != self.log {
            wrong(format!("it is of log {}", header.log));
        }
        if header.seq != seq {
            wrong(format!("it says it is entry {}", header.seq));
        }
        if let Some(last) = &self.last {
            if header.time < last.time {
                wrong(format!("its time {} is before {} of the entry before it", header.time, last.time));
            }
            if header.epoch < last.epoch {
                wrong(format!("its epoch {} is before {} of the entry before it", header.epoch, last.epoch));
            }
        }
        if let Some(pair) = parts.windows(2).find(|pair| pair[0].owner >= pair[1].owner) {
            report.find(seq, Place::Part(pair[1].owner), "owners do not ascend, one part each");
        }
        for part in parts {
            self.parts.part(seq, Some(header.time), *part, report);
        }
        self.last = Some(header);
    }
}

/// Follows the parts of each owner in order.
pub(super) struct Parts {
    // Whether the first part seen of an owner must be his first of all.
    from_the_first: bool,
    // Whether parts may be missing between those that are seen.
    selected: bool,
    // Entries that could not be read: each may have held a part of anybody.
    unreadable: u64,
    // Each owner's last part, and how many entries could not be read before it.
    last: BTreeMap<Owner, (PartStart, u64)>,
}

impl Parts {
    /// All parts of a whole log.
    pub(super) fn of_a_log() -> Parts {
        Parts { from_the_first: true, selected: false, unreadable: 0, last: BTreeMap::new() }
    }

    /// All parts of an owner between two entries.
    pub(super) fn of_a_stretch() -> Parts {
        Parts { from_the_first: false, ..Parts::of_a_log() }
    }

    /// Some parts of an owner, such as those of one lease.
    pub(super) fn of_a_selection() -> Parts {
        Parts { selected: true, ..Parts::of_a_stretch() }
    }

    /// Checks the next part of an owner; the entry's time is not known of a bundle.
    pub(super) fn part(&mut self, seq: u64, time: Option<Time>, part: PartRef<'_>, report: &mut Report) {
        let PartRef { owner, bytes } = part;
        let mut wrong = |what: String| report.find(seq, Place::Part(owner), what);
        let start = match PartStart::decode(bytes) {
            Ok(start) => start,
            Err(e) => {
                self.unreadable += 1;
                return wrong(format!("it does not begin with seq, time, part_seq: {e}"));
            }
        };
        if start.seq != seq {
            wrong(format!("it says it is of entry {}", start.seq));
        }
        if time.is_some_and(|time| time != start.time) {
            wrong(format!("it says its time is {}", start.time));
        }
        let last = self.last.insert(owner, (start, self.unreadable));
        if last.is_some_and(|(last, _)| start.time < last.time) {
            wrong("its time is before that of the owner's part before it".into());
        }
        let (expected, unreadable) = match last {
            Some((last, before)) => (last.part_seq + 1, self.unreadable - before),
            None if self.from_the_first => (1, self.unreadable),
            None => return,
        };
        let missing = if self.selected { u64::MAX - expected } else { unreadable };
        if !(expected..=expected + missing).contains(&start.part_seq) {
            wrong(format!("it is part {} of its owner where {expected} is next", start.part_seq));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_part_is_read_from_an_array_and_from_a_map() {
        let expected = PartStart { seq: 7, time: Time(-1), part_seq: 3 };
        assert_eq!(PartStart::decode(&[0x84, 7, 0x20, 3, 0xf6]).unwrap(), expected);
        assert_eq!(PartStart::decode(&[0xa4, 0, 7, 1, 0x20, 2, 3, 4, 0xf6]).unwrap(), expected);
        assert!(PartStart::decode(&[0xa3, 1, 7, 0, 0x20, 2, 3]).is_err());
        assert!(PartStart::decode(b"").is_err());
    }
}
