//! From the bytes of an entry to its leaf hash, so that a tenant can check his own part and guess no other's.
//!
//! ```text
//! salt key   HKDF-Extract(SHA-256, no salt, log secret)
//! salt       HKDF-Expand(salt key, info, 32 bytes)
//!            info = "suanzu/salt/1" ‖ seq (8 bytes) ‖ part number (4 bytes) ‖ owner (8 bytes), big-endian
//! part hash  SHA-256(salt ‖ bytes)
//! leaf data  part hashes, one after the other: part 0 is the header, then the parts in order
//! leaf hash  SHA-256(0x00 ‖ leaf data)          RFC 6962
//! node hash  SHA-256(0x01 ‖ left ‖ right)       RFC 6962
//! ```
//!
//! The header's owner in `info` is 0. The owner stands in `info` because it is stored beside a part, not in
//! it: who holds the log secret sees a part that was moved to another owner. Entry `seq` is leaf `seq − 1`.

use crate::Hash;
use ring::{
    digest::{Context, SHA256},
    hkdf,
};
use units::Owner;

const SALT_LABEL: &[u8] = b"suanzu/salt/1";

/// SHA-256 of the concatenation of `pieces`.
pub fn sha256(pieces: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    for piece in pieces {
        context.update(piece);
    }
    context.finish().as_ref().try_into().expect("SHA-256 is 32 bytes")
}

/// The hash of a leaf over its leaf data.
pub fn hash(leaf_data: &[u8]) -> Hash {
    sha256(&[&[0], leaf_data])
}

/// The hash of an inner node.
pub fn node(left: &Hash, right: &Hash) -> Hash {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(left);
    bytes[33..].copy_from_slice(right);
    sha256(&[&bytes])
}

/// The hash that stands for a part (or the header) in the leaf data.
pub fn part_hash(salt: &[u8; 32], bytes: &[u8]) -> Hash {
    sha256(&[salt, bytes])
}

/// Makes the salts of one log from its secret.
#[derive(Clone)]
pub struct Salts {
    key: hkdf::Prk,
}

impl Salts {
    /// The salts of the log with this secret.
    pub fn new(log_secret: &[u8; 32]) -> Salts {
        Salts { key: hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(log_secret) }
    }

    /// The salt of part `number` (0 is the header, whose owner is 0) of entry `seq`.
    pub fn salt(&self, seq: u64, number: u32, owner: Owner) -> [u8; 32] {
        self.expand(&[SALT_LABEL, &seq.to_be_bytes(), &number.to_be_bytes(), &owner.0.to_be_bytes()])
    }

    /// HKDF-Expand of 32 bytes.
    pub(crate) fn expand(&self, info: &[&[u8]]) -> [u8; 32] {
        let mut out = [0; 32];
        let okm = self.key.expand(info, hkdf::HKDF_SHA256).expect("32 bytes are within HKDF's bound");
        okm.fill(&mut out).expect("the length is that of the algorithm");
        out
    }

    /// The leaf data of an entry.
    pub fn leaf_data<'a>(&self, seq: u64, header: &[u8], parts: impl Iterator<Item = (Owner, &'a [u8])>) -> Vec<u8> {
        let mut data = part_hash(&self.salt(seq, 0, Owner::OPERATOR), header).to_vec();
        for (number, (owner, bytes)) in (1..).zip(parts) {
            data.extend_from_slice(&part_hash(&self.salt(seq, number, owner), bytes));
        }
        data
    }
}
