//! The growing Merkle tree (RFC 6962): what must be held in memory to append, O(log n) hashes.
//!
//! Every hash of a height that is a multiple of eight is put into a [`tile`]. The tree keeps the
//! last, unfinished tile of each level, from which it can be [restored](Tree::restore), and the roots of the
//! perfect subtrees that make up its right edge.

use crate::{
    Failure, leaf,
    tile::{self, TileId, WIDTH},
};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// The right edge of a Merkle tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    size: u64,
    // Roots of the perfect subtrees the leaves split into, the largest first: one per set bit of `size`.
    edge: Vec<Hash>,
    // The unfinished tile of each level.
    tiles: Vec<Vec<Hash>>,
    // Tiles that were finished since the last call of `take_tiles`.
    full: Vec<(TileId, Vec<Hash>)>,
    // Levels whose unfinished tile changed since then, one bit each.
    touched: u64,
}

impl Tree {
    /// The tree of `size` leaves; `tile` gives the last, unfinished tile of each level.
    pub fn restore(size: u64, mut tile: impl FnMut(TileId) -> Result<Vec<Hash>, Failure>) -> Result<Tree, Failure> {
        let mut tree = Tree { size, ..Tree::default() };
        for level in 0..size.checked_ilog2().map_or(0, |bits| bits / 8 + 1) {
            let nodes = size >> (8 * level);
            let id = TileId { level: level as u8, number: nodes / WIDTH as u64 };
            let width = tile::width(id, size);
            let mut hashes = if width == 0 { Vec::new() } else { tile(id)? };
            if hashes.len() < width {
                return Err(Failure::invalid(format!("tile {level}/{} holds {} of {width} hashes", id.number, hashes.len())));
            }
            hashes.truncate(width);
            tree.tiles.push(hashes);
        }
        for hashes in tree.tiles.iter().rev() {
            tree.edge.extend(edge_of(hashes));
        }
        Ok(tree)
    }

    /// Number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The Merkle tree hash; of the empty tree SHA-256 of nothing.
    pub fn root(&self) -> Hash {
        let mut subtrees = self.edge.iter().rev();
        match subtrees.next() {
            None => leaf::sha256(&[]),
            Some(last) => subtrees.fold(*last, |right, left| leaf::node(left, &right)),
        }
    }

    /// Appends a leaf by its leaf hash.
    pub fn push(&mut self, leaf_hash: Hash) {
        let mut hash = leaf_hash;
        self.put(0, hash);
        // Adding a leaf carries like adding one in binary: each trailing one-bit is a subtree that merges.
        for height in 1..=self.size.trailing_ones() {
            let left = self.edge.pop().expect("the edge holds one subtree per set bit of the size");
            hash = leaf::node(&left, &hash);
            if height % 8 == 0 {
                self.put(height / 8, hash);
            }
        }
        self.edge.push(hash);
        self.size += 1;
    }

    fn put(&mut self, level: u32, hash: Hash) {
        let index = level as usize;
        if self.tiles.len() == index {
            self.tiles.push(Vec::with_capacity(WIDTH));
        }
        self.tiles[index].push(hash);
        self.touched |= 1 << level;
        if self.tiles[index].len() == WIDTH {
            // The leaf being added is number `size`, so this is the tile it falls into.
            let id = TileId { level: level as u8, number: self.size >> (8 * (level + 1)) };
            self.full.push((id, std::mem::take(&mut self.tiles[index])));
            self.touched &= !(1 << level);
        }
    }

    /// The tiles that were finished since the last call.
    pub fn take_full_tiles(&mut self) -> Vec<(TileId, Vec<Hash>)> {
        std::mem::take(&mut self.full)
    }

    /// The tiles that changed since the last call, finished or not.
    pub fn take_tiles(&mut self) -> Vec<(TileId, Vec<Hash>)> {
        let mut changed = self.take_full_tiles();
        for (level, hashes) in self.tiles.iter().enumerate().filter(|(_, hashes)| !hashes.is_empty()) {
            if self.touched & (1 << level) != 0 {
                let id = TileId { level: level as u8, number: self.size >> (8 * (level + 1)) };
                changed.push((id, hashes.clone()));
            }
        }
        self.touched = 0;
        changed
    }
}

/// Roots of the perfect subtrees that `hashes` split into, the largest first.
fn edge_of(mut hashes: &[Hash]) -> Vec<Hash> {
    let mut edge = Vec::new();
    while let Some(bits) = hashes.len().checked_ilog2() {
        let (perfect, rest) = hashes.split_at(1 << bits);
        edge.push(perfect_root(perfect));
        hashes = rest;
    }
    edge
}

/// The root over a power of two of hashes.
pub(crate) fn perfect_root(hashes: &[Hash]) -> Hash {
    match hashes {
        [one] => *one,
        _ => {
            let (left, right) = hashes.split_at(hashes.len() / 2);
            leaf::node(&perfect_root(left), &perfect_root(right))
        }
    }
}
