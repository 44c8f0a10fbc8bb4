//! Inclusion and consistency proofs of RFC 6962 (section 2.1), made from tiles and checked without them.
//!
//! A proof is a list of hashes, 32 bytes each, in the order RFC 6962 gives them: the sibling next to the leaf
//! first. D\[a:b\] are the leaves a ≤ i < b, and a tree of n > 1 leaves splits at the largest power of two < n.
//!
//! In text a proof of inclusion is C2SP `tlog-proof`:
//!
//! ```text
//! c2sp.org/tlog-proof@v1
//! index <leaf index, decimal: seq − 1>
//! <hash, base64>            one line per hash
//!
//! <the signed checkpoint>
//! ```

use crate::{
    Checkpoint, Failure, Hash, Source, leaf,
    note::Verifier,
    tile::{TileId, WIDTH},
    tree::perfect_root,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use std::{cell::RefCell, collections::BTreeMap};

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

/// Makes proofs for one log. Tiles are read once each.
pub struct Prover<'a> {
    source: &'a dyn Source,
    tiles: RefCell<BTreeMap<TileId, Vec<Hash>>>,
}

impl<'a> Prover<'a> {
    /// A prover over the tiles of `source`.
    pub fn new(source: &'a dyn Source) -> Prover<'a> {
        Prover { source, tiles: RefCell::default() }
    }

    /// The Merkle tree hash of the first `size` leaves.
    pub fn root(&self, size: u64) -> Result<Hash, Failure> {
        self.range(0, size)
    }

    /// The proof that leaf `index` (0 is the first) is in the tree of `size` leaves.
    pub fn inclusion(&self, index: u64, size: u64) -> Result<Vec<Hash>, Failure> {
        assert!(index < size, "a leaf beyond the tree has no proof");
        let (mut from, mut until, mut proof) = (0, size, Vec::new());
        while until - from > 1 {
            let middle = from + split(until - from);
            if index < middle {
                proof.push(self.range(middle, until)?);
                until = middle;
            } else {
                proof.push(self.range(from, middle)?);
                from = middle;
            }
        }
        proof.reverse();
        Ok(proof)
    }

    /// The proof that the tree of `old` leaves is the beginning of that of `new`. Empty if `old` is 0 or `new`.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>, Failure> {
        assert!(old <= new, "a tree does not shrink");
        let (mut from, mut until, mut proof) = (0, new, Vec::new());
        if old == 0 {
            return Ok(proof);
        }
        while old != until {
            let middle = from + split(until - from);
            if old <= middle {
                proof.push(self.range(middle, until)?);
                until = middle;
            } else {
                proof.push(self.range(from, middle)?);
                from = middle;
            }
        }
        if from > 0 {
            proof.push(self.range(from, until)?);
        }
        proof.reverse();
        Ok(proof)
    }

    /// The Merkle tree hash of D\[from:until\], a subtree of some tree.
    fn range(&self, from: u64, until: u64) -> Result<Hash, Failure> {
        let leaves = until - from;
        if leaves == 0 {
            return Ok(leaf::sha256(&[]));
        }
        if leaves.is_power_of_two() {
            return self.perfect(leaves.trailing_zeros(), from / leaves);
        }
        let middle = from + split(leaves);
        Ok(leaf::node(&self.range(from, middle)?, &self.range(middle, until)?))
    }

    /// The root of the perfect subtree of this height with this index among those of its height.
    fn perfect(&self, height: u32, index: u64) -> Result<Hash, Failure> {
        let (level, width) = (height / 8, 1 << (height % 8));
        let first = index * width as u64;
        let id = TileId { level: level as u8, number: first / WIDTH as u64 };
        let at = first as usize % WIDTH;
        let mut tiles = self.tiles.borrow_mut();
        if tiles.get(&id).is_none_or(|hashes| hashes.len() < at + width) {
            tiles.insert(id, self.source.tile(id)?);
        }
        let missing = || Failure::invalid(format!("tile {}/{} lacks hash {}", id.level, id.number, at + width - 1));
        Ok(perfect_root(tiles[&id].get(at..at + width).ok_or_else(missing)?))
    }
}

/// Where a tree of `leaves` > 1 splits: the largest power of two below.
fn split(leaves: u64) -> u64 {
    1 << (leaves - 1).ilog2()
}

/// The root that `proof` leads to from leaf `index` in a tree of `size` leaves; `None` if it has the wrong length.
pub fn included_root(index: u64, size: u64, leaf_hash: &Hash, proof: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut hash, mut index, mut last) = (*leaf_hash, index, size - 1);
    let mut siblings = proof.iter();
    // RFC 9162, 2.1.3.2: `last` is the index of the rightmost node of the level; one without sibling just rises.
    while last > 0 {
        if index % 2 == 1 {
            hash = leaf::node(siblings.next()?, &hash);
        } else if index < last {
            hash = leaf::node(&hash, siblings.next()?);
        }
        (index, last) = (index / 2, last / 2);
    }
    siblings.next().is_none().then_some(hash)
}

/// Whether `proof` shows that leaf `index` is in the tree of `size` leaves with this root.
pub fn includes(index: u64, size: u64, leaf_hash: &Hash, proof: &[Hash], root: &Hash) -> bool {
    included_root(index, size, leaf_hash, proof).as_ref() == Some(root)
}

/// Whether `proof` shows that the tree of `old` leaves and root `old_root` is the beginning of the other.
pub fn consistent(old: u64, old_root: &Hash, new: u64, new_root: &Hash, proof: &[Hash]) -> bool {
    if old == 0 || old == new {
        return old <= new && proof.is_empty() && (old == 0 || old_root == new_root);
    }
    old < new && consistent_roots(old, old_root, new, proof).is_some_and(|(o, n)| o == *old_root && n == *new_root)
}

/// RFC 9162, 2.1.4.2: the two roots that the proof leads to, for 0 < old < new.
fn consistent_roots(old: u64, old_root: &Hash, new: u64, proof: &[Hash]) -> Option<(Hash, Hash)> {
    let mut hashes = proof.iter();
    let (mut index, mut last) = (old - 1, new - 1);
    while index % 2 == 1 {
        (index, last) = (index / 2, last / 2);
    }
    // A tree that is a perfect subtree of the other is its own first hash.
    let start = if old.is_power_of_two() { old_root } else { hashes.next()? };
    let (mut old_hash, mut new_hash) = (*start, *start);
    while last > 0 {
        if index % 2 == 1 {
            let left = hashes.next()?;
            (old_hash, new_hash) = (leaf::node(left, &old_hash), leaf::node(left, &new_hash));
        } else if index < last {
            new_hash = leaf::node(&new_hash, hashes.next()?);
        }
        (index, last) = (index / 2, last / 2);
    }
    hashes.next().is_none().then_some((old_hash, new_hash))
}

/// A proof of inclusion with the checkpoint it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogProof {
    /// Which leaf: seq − 1.
    pub index: u64,
    /// The hashes up to the root.
    pub hashes: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: String,
}

impl LogProof {
    /// Checks the checkpoint's signature and that a leaf of this hash is in it; gives the checkpoint.
    pub fn check(&self, leaf_hash: &Hash, verifier: &Verifier) -> Result<Checkpoint, Failure> {
        let checkpoint = Checkpoint::open(&self.checkpoint, verifier)?;
        if includes(self.index, checkpoint.size, leaf_hash, &self.hashes, &checkpoint.root) {
            Ok(checkpoint)
        } else {
            Err(Failure::invalid("the proof does not lead to the checkpoint"))
        }
    }

    /// The text of a `.tlog-proof` file.
    pub fn text(&self) -> String {
        let hashes: String = self.hashes.iter().map(|hash| BASE64_STANDARD.encode(hash) + "\n").collect();
        format!("{FIRST_LINE}\nindex {}\n{hashes}\n{}", self.index, self.checkpoint)
    }

    /// Reads the text of a `.tlog-proof` file; a line `extra …` is passed over.
    pub fn parse(text: &str) -> Result<LogProof, Failure> {
        let parse = || {
            let (proof, checkpoint) = text.split_once("\n\n")?;
            let mut lines = proof.lines().peekable();
            (lines.next()? == FIRST_LINE).then_some(())?;
            lines.next_if(|line| line.starts_with("extra "));
            let index = lines.next()?.strip_prefix("index ")?.parse().ok()?;
            let hashes = lines.map(|line| BASE64_STANDARD.decode(line).ok()?.try_into().ok()).collect::<Option<_>>()?;
            Some(LogProof { index, hashes, checkpoint: checkpoint.into() })
        };
        parse().ok_or_else(|| Failure::invalid("this is no tlog-proof"))
    }
}
