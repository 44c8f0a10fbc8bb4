//! A bundle: an owner's parts with all that is needed to check them, without the log and without its secret.
//!
//! JSON; bytes and hashes in base64, lists of hashes as one string of 32 bytes each:
//!
//! ```text
//! format      "suanzu/bundle@1"
//! key         the log's public key, in the `public` form of `note`; compare it with the one you were given
//! owner       0 the operator, else the tenant's number
//! checkpoint  the signed checkpoint, see `checkpoint`
//! whole       whether these are all of the owner's parts from the first to the last; else they are a selection, such as
//!             those of one lease, and what lies between is not shown
//! parts       in order of seq:
//!   seq         the entry
//!   number      which part of the entry: 1 the first after the header
//!   bytes       the part as it is stored
//!   salt        32 bytes, so that SHA-256(salt ‖ bytes) is hash `number` of the leaf data
//!   leaf_data   the hashes of the header and all parts, see `leaf`
//!   proof       from the leaf (index seq − 1) to the checkpoint, see `proof`
//! ```

use crate::{
    Checkpoint, Failure, Hash, Keys, Source,
    proof::{LogProof, Prover},
    verify::PartStart,
};
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, RangeInclusive};
use units::Owner;

/// The format this build reads and writes.
pub const FORMAT: &str = "suanzu/bundle@1";

/// An owner's parts and their proofs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// [`FORMAT`].
    pub format: String,
    /// The log's public key.
    pub key: String,
    /// Whose parts.
    pub owner: Owner,
    /// The signed checkpoint that every proof leads to.
    pub checkpoint: String,
    /// Whether these are all of the owner's parts from the first to the last.
    pub whole: bool,
    /// The parts, in order of seq.
    pub parts: Vec<ProvenPart>,
}

/// One part with its proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenPart {
    /// The entry.
    pub seq: u64,
    /// Which part of the entry; the header is 0.
    pub number: u32,
    /// The part as it is stored.
    #[serde(with = "in_base64")]
    pub bytes: Vec<u8>,
    /// The salt of its hash.
    #[serde(with = "in_base64")]
    pub salt: Vec<u8>,
    /// The hashes of header and parts.
    #[serde(with = "in_base64")]
    pub leaf_data: Vec<u8>,
    /// The hashes from the leaf to the root, one after the other.
    #[serde(with = "in_base64")]
    pub proof: Vec<u8>,
}

impl Bundle {
    /// The owner's parts of these entries (those without one are passed over), proven by a checkpoint of this log.
    pub fn make(source: &dyn Source, keys: &Keys, owner: Owner, seqs: &[u64], checkpoint: &str) -> Result<Bundle, Failure> {
        let size = Checkpoint::open(checkpoint, keys.verifier())?.size;
        let (prover, salts) = (Prover::new(source), keys.salts());
        let mut parts = Vec::new();
        for &seq in seqs.iter().filter(|seq| **seq <= size) {
            let mut part = None;
            source.read(seq, &mut |stored| {
                part = (1..).zip(&stored.parts).find(|(_, p)| p.owner == owner).map(|(number, p)| {
                    let salt = salts.salt(seq, number, owner).to_vec();
                    let (bytes, leaf_data) = (p.bytes.to_vec(), stored.leaf_data.to_vec());
                    ProvenPart { seq, number, bytes, salt, leaf_data, proof: Vec::new() }
                });
                ControlFlow::Break(())
            })?;
            if let Some(part) = part {
                let proof = prover.inclusion(seq - 1, size)?.into_flattened();
                parts.push(ProvenPart { proof, ..part });
            }
        }
        let key = keys.verifier().to_string();
        let whole = is_whole(&parts);
        Ok(Bundle { format: FORMAT.into(), key, owner, checkpoint: checkpoint.into(), whole, parts })
    }

    /// Which entries in `range` have a part of this owner.
    pub fn seqs(source: &dyn Source, owner: Owner, range: RangeInclusive<u64>) -> Result<Vec<u64>, Failure> {
        let mut seqs = Vec::new();
        source.read(*range.start(), &mut |stored| {
            if stored.seq > *range.end() {
                return ControlFlow::Break(());
            }
            if stored.parts.iter().any(|part| part.owner == owner) {
                seqs.push(stored.seq);
            }
            ControlFlow::Continue(())
        })?;
        Ok(seqs)
    }

    /// The JSON of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a bundle is plain data")
    }

    /// Reads the JSON of the file.
    pub fn parse(json: &[u8]) -> Result<Bundle, Failure> {
        let bundle: Bundle = serde_json::from_slice(json).map_err(|e| Failure::invalid(format!("this is no bundle: {e}")))?;
        if bundle.format == FORMAT {
            Ok(bundle)
        } else {
            Err(Failure::invalid(format!("this build reads {FORMAT}, not {}", bundle.format)))
        }
    }
}

/// Whether each part is the owner's next.
pub(crate) fn is_whole(parts: &[ProvenPart]) -> bool {
    let counts: Vec<Option<u64>> = parts.iter().map(|part| PartStart::decode(&part.bytes).ok().map(|s| s.part_seq)).collect();
    counts.windows(2).all(|pair| pair[0].zip(pair[1]).is_some_and(|(before, after)| after == before + 1))
}

impl ProvenPart {
    /// The hashes from the leaf to the root; `None` if the bytes are no whole number of hashes.
    pub fn proof(&self) -> Option<&[Hash]> {
        let (hashes, rest) = self.proof.as_chunks();
        rest.is_empty().then_some(hashes)
    }

    /// The proof as a C2SP `tlog-proof`, towards the bundle's checkpoint; `None` if the bytes are no proof.
    pub fn log_proof(&self, checkpoint: &str) -> Option<LogProof> {
        let index = self.seq.checked_sub(1)?;
        Some(LogProof { index, hashes: self.proof()?.to_vec(), checkpoint: checkpoint.into() })
    }
}

mod in_base64 {
    //! Bytes as a base64 string.
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(d)?).map_err(D::Error::custom)
    }
}
