//! The header of an entry: which log, which place in it, when, who asked for what.
//!
//! Bytes: one CBOR array (RFC 8949, definite lengths, shortest integers) of nine fields in this order:
//!
//! | field | what | CBOR |
//! | --- | --- | --- |
//! | 0 | format version, now 1 | unsigned |
//! | 1 | log id | byte string of 16 |
//! | 2 | epoch: which leadership wrote it; never decreases | unsigned |
//! | 3 | seq: 1 for the first entry, then gapless | unsigned |
//! | 4 | time in milliseconds since 1970 UTC; never decreases | integer |
//! | 5 | command kind, such as `lease.request` | text |
//! | 6 | actor: an opaque id | text |
//! | 7 | SHA-256 of the idempotency key | byte string of 32, or null |
//! | 8 | SHA-256 of the request | byte string of 32, or null |
//!
//! Trailing nulls are left out, so a header without fields 7 and 8 is an array of seven.

use crate::{Failure, Place};
use minicbor::{Decode, Encode};
use std::{fmt, str::FromStr};
use units::Time;

/// The format version that this build writes.
pub const FORMAT: u16 = 1;

/// Which log: sixteen random bytes, chosen once. Spoken as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct LogId(#[cbor(n(0), with = "minicbor::bytes")] pub [u8; 16]);

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for LogId {
    type Err = hex::FromHexError;
    fn from_str(text: &str) -> Result<Self, hex::FromHexError> {
        let mut id = [0; 16];
        hex::decode_to_slice(text, &mut id)?;
        Ok(LogId(id))
    }
}

/// What an entry says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Header {
    /// Format version; [`FORMAT`] for a new entry.
    #[n(0)]
    pub format: u16,
    /// The log this entry belongs to.
    #[n(1)]
    pub log: LogId,
    /// The leadership that wrote it.
    #[n(2)]
    pub epoch: u64,
    /// Its place: 1 for the first entry.
    #[n(3)]
    pub seq: u64,
    /// When it was decided.
    #[n(4)]
    pub time: Time,
    /// The kind of the command, such as `lease.request`.
    #[n(5)]
    pub command: String,
    /// Who commanded: an opaque id.
    #[n(6)]
    pub actor: String,
    /// SHA-256 of the idempotency key, if one was given.
    #[cbor(n(7), with = "minicbor::bytes")]
    pub key: Option<[u8; 32]>,
    /// SHA-256 of the request, if it came with an idempotency key.
    #[cbor(n(8), with = "minicbor::bytes")]
    pub request: Option<[u8; 32]>,
}

/// The part of a header that orders entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The leadership that wrote it.
    pub epoch: u64,
    /// Its place in the log.
    pub seq: u64,
    /// When it was decided.
    pub time: Time,
}

impl Header {
    /// The bytes that are stored and hashed.
    pub fn encode(&self) -> Vec<u8> {
        minicbor::to_vec(self).expect("a Vec takes every byte")
    }

    /// Reads the header of entry `seq`; bytes that are no header are [`Failure::Damaged`].
    pub fn decode(seq: u64, bytes: &[u8]) -> Result<Header, Failure> {
        minicbor::decode(bytes).map_err(|e| Failure::damaged(seq, Place::Header, e))
    }

    /// The part that orders entries.
    pub fn stamp(&self) -> Stamp {
        Stamp { epoch: self.epoch, seq: self.seq, time: self.time }
    }
}

impl Stamp {
    /// Reads fields 2 to 4 of a header's bytes, which costs less than the whole header.
    pub fn decode(seq: u64, bytes: &[u8]) -> Result<Stamp, Failure> {
        let mut d = minicbor::Decoder::new(bytes);
        let mut fields = || {
            d.array()?;
            d.u16()?;
            d.bytes()?;
            Ok(Stamp { epoch: d.u64()?, seq: d.u64()?, time: Time(d.i64()?) })
        };
        fields().map_err(|e: minicbor::decode::Error| Failure::damaged(seq, Place::Header, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            format: FORMAT,
            log: LogId([7; 16]),
            epoch: 1,
            seq: 300,
            time: Time(1_700_000_000_000),
            command: "lease.request".into(),
            actor: "key-9".into(),
            key: Some([1; 32]),
            request: None,
        }
    }

    #[test]
    fn a_header_is_read_back_and_its_stamp_without_the_rest() {
        let bytes = header().encode();
        assert_eq!(Header::decode(300, &bytes).unwrap(), header());
        assert_eq!(Stamp::decode(300, &bytes).unwrap(), header().stamp());
    }

    #[test]
    fn the_bytes_are_those_the_module_describes() {
        let bytes = header().encode();
        assert_eq!(bytes[..3], [0x88, 0x01, 0x50], "an array of eight: version, then sixteen bytes");
        assert_eq!(bytes[19..23], [0x01, 0x19, 0x01, 0x2c], "epoch 1, seq 300 in two bytes");
        let mut short = header();
        short.key = None;
        assert_eq!(short.encode()[0], 0x87, "trailing nulls are left out");
    }
}
