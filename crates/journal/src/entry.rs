//! An entry, and the row it is stored as.
//!
//! A **row** is a frame around one CBOR item:
//!
//! ```text
//! length   4 bytes, big-endian: bytes of the item
//! checksum 4 bytes, big-endian: CRC-32 (IEEE, as in zlib) of the item
//! item     CBOR array of three:
//!            0  header, byte string
//!            1  parts: array of [owner (unsigned), part (byte string)], owners ascending; 0 is the operator
//!            2  leaf data, byte string of 32 × (1 + number of parts)
//! ```
//!
//! Header and parts are stored exactly as they were given; hashes are over these bytes. The leaf data
//! (see [`crate::leaf`]) stands beside them so that hashes can be served without the log secret, and so
//! that a changed byte can be traced to its part. The frame tells a torn row from a whole one.
//!
//! A **part** is opaque here but for its first three fields, which [`crate::verify`] reads: a CBOR array
//! `[seq, time in ms, part_seq, …]` (or a map with keys 0, 1, 2). `part_seq` counts an owner's parts: 1,
//! 2, 3 … without gap, so that an omission shows.

use crate::{Failure, Hash, Header, Place, Stamp, leaf::Salts};
use minicbor::{Decoder, Encoder};
use units::Owner;

/// More parts would not fit the 16-bit length that tlog-tiles gives to leaf data.
pub const MAX_PARTS: usize = 2046;

/// What an entry says about one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Whose part it is.
    pub owner: Owner,
    /// Its bytes, opaque here.
    pub bytes: Vec<u8>,
}

/// An entry to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    header: Header,
    parts: Vec<Part>,
}

impl Entry {
    /// An entry of these parts.
    ///
    /// # Panics
    /// If the parts are not in ascending order of owner (operator first), one per owner, at most [`MAX_PARTS`].
    pub fn new(header: Header, parts: Vec<Part>) -> Entry {
        assert!(parts.is_sorted_by(|a, b| a.owner < b.owner), "one part per owner, operator first, then tenants ascending");
        assert!(parts.len() <= MAX_PARTS, "leaf data fits a 16-bit length");
        Entry { header, parts }
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its parts, operator first.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The row to store and the leaf hash to put into the tree.
    pub(crate) fn seal(&self, salts: &Salts) -> (Vec<u8>, Hash) {
        let header = self.header.encode();
        let data = salts.leaf_data(self.header.seq, &header, self.parts.iter().map(|p| (p.owner, p.bytes.as_slice())));
        let size: usize = self.parts.iter().map(|p| p.bytes.len() + 12).sum();
        let row = frame(size + header.len() + data.len() + 24, |e| {
            e.array(3)?.bytes(&header)?.array(self.parts.len() as u64)?;
            for part in &self.parts {
                e.array(2)?.u64(part.owner.0)?.bytes(&part.bytes)?;
            }
            e.bytes(&data)?;
            Ok(())
        });
        (row, crate::leaf::hash(&data))
    }
}

type Written = Result<(), minicbor::encode::Error<std::convert::Infallible>>;

fn frame(capacity: usize, write: impl FnOnce(&mut Encoder<&mut Vec<u8>>) -> Written) -> Vec<u8> {
    let mut row = Vec::with_capacity(capacity);
    row.resize(8, 0);
    write(&mut Encoder::new(&mut row)).expect("a Vec takes every byte");
    let length = u32::try_from(row.len() - 8).expect("an entry is far below 4 GiB");
    let checksum = crc32fast::hash(&row[8..]);
    row[..4].copy_from_slice(&length.to_be_bytes());
    row[4..8].copy_from_slice(&checksum.to_be_bytes());
    row
}

/// A part of a stored entry, borrowed from its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartRef<'a> {
    /// Whose part it is.
    pub owner: Owner,
    /// Its bytes as they were given.
    pub bytes: &'a [u8],
}

/// A stored entry, borrowed from its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Its place in the log, 1 for the first.
    pub seq: u64,
    /// The header's bytes.
    pub header: &'a [u8],
    /// Its parts, operator first.
    pub parts: Vec<PartRef<'a>>,
    /// Hashes of header and parts, 32 bytes each.
    pub leaf_data: &'a [u8],
}

impl<'a> Stored<'a> {
    /// Reads the row of entry `seq`. A row that is shorter than its frame says is [`Failure::Torn`]; one whose
    /// checksum or form is wrong is [`Failure::Damaged`] at [`Place::Frame`].
    pub fn decode(seq: u64, row: &'a [u8]) -> Result<Stored<'a>, Failure> {
        let (length, rest) = row.split_first_chunk::<4>().ok_or(Failure::Torn { seq })?;
        let (checksum, item) = rest.split_first_chunk::<4>().ok_or(Failure::Torn { seq })?;
        let length = u32::from_be_bytes(*length) as usize;
        if item.len() < length {
            return Err(Failure::Torn { seq });
        }
        if item.len() > length {
            return Err(Failure::damaged(seq, Place::Frame, "it is longer than its length says"));
        }
        if crc32fast::hash(item) != u32::from_be_bytes(*checksum) {
            return Err(Failure::damaged(seq, Place::Frame, "its checksum does not hold"));
        }
        Self::decode_item(seq, item)
    }

    /// Reads the CBOR item behind the frame, whatever the frame says.
    pub(crate) fn decode_item(seq: u64, item: &'a [u8]) -> Result<Stored<'a>, Failure> {
        read_item(seq, item).map_err(|e| Failure::damaged(seq, Place::Frame, e))
    }

    /// The header, decoded.
    pub fn header(&self) -> Result<Header, Failure> {
        Header::decode(self.seq, self.header)
    }

    /// Epoch, seq and time, at a fraction of the cost of the whole header.
    pub fn stamp(&self) -> Result<Stamp, Failure> {
        Stamp::decode(self.seq, self.header)
    }
}

fn read_item(seq: u64, item: &[u8]) -> Result<Stored<'_>, minicbor::decode::Error> {
    let mut d = Decoder::new(item);
    expect_array(&mut d, 3)?;
    let header = d.bytes()?;
    let count = d.array()?.filter(|n| *n <= MAX_PARTS as u64).ok_or_else(|| wrong("number of parts"))?;
    let mut parts = Vec::with_capacity(count as usize);
    for _ in 0..count {
        expect_array(&mut d, 2)?;
        parts.push(PartRef { owner: Owner(d.u64()?), bytes: d.bytes()? });
    }
    let leaf_data = d.bytes()?;
    if leaf_data.len() != 32 * (parts.len() + 1) {
        return Err(wrong("length of leaf data"));
    }
    if d.position() != item.len() {
        return Err(wrong("bytes after the item"));
    }
    Ok(Stored { seq, header, parts, leaf_data })
}

fn expect_array(d: &mut Decoder<'_>, length: u64) -> Result<(), minicbor::decode::Error> {
    if d.array()? == Some(length) { Ok(()) } else { Err(wrong("array length")) }
}

fn wrong(what: &'static str) -> minicbor::decode::Error {
    minicbor::decode::Error::message(what)
}
