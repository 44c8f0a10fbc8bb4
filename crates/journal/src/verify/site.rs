//! A published log: checkpoint, tiles and leaf data, from a web server or a directory.

use super::Report;
use crate::{
    Checkpoint, Failure, Hash, Place, Tree, leaf,
    note::Verifier,
    publish::split_entries,
    tile::{self, Resource, TileId, WIDTH},
};
use std::{error::Error, fs, path::Path};

/// Gets the bytes published under a path, such as `tile/0/000.p/7`.
pub type Fetch<'a> = dyn Fn(&str) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> + 'a;

/// Checks a published log in a directory, as [`site`] does.
pub fn directory(folder: &Path, key: &Verifier) -> Result<Report, Failure> {
    site(&|path| Ok(fs::read(folder.join(path))?), key)
}

/// Checks a published log: the checkpoint's signature, and every tile and the root against the leaf data.
///
/// Fails if the checkpoint cannot be fetched; everything else is in the report.
pub fn site(fetch: &Fetch<'_>, key: &Verifier) -> Result<Report, Failure> {
    let mut report = Report { origin: key.name().into(), ..Report::default() };
    let note = fetch(&Resource::Checkpoint.path());
    let note = note.map_err(|source| Failure::Storage { doing: "fetching the checkpoint", retryable: true, cause: source })?;
    let checkpoint = match Checkpoint::open(&String::from_utf8_lossy(&note), key) {
        Ok(checkpoint) => checkpoint,
        Err(failure) => {
            report.find(None, Place::Checkpoint, failure.to_string());
            return Ok(report);
        }
    };
    report.size = checkpoint.size;
    let mut check = Check { fetch, size: checkpoint.size, tree: Tree::default(), report };
    for number in 0..checkpoint.size.div_ceil(WIDTH as u64) {
        check.entries(number);
        let full = check.tree.take_full_tiles();
        check.tiles(full);
    }
    let last = check.tree.take_tiles();
    check.tiles(last);
    let Check { mut report, tree, .. } = check;
    report.root = Some(tree.root());
    if tree.root() == checkpoint.root {
        report.checkpoints = 1;
    } else {
        report.find(None, Place::Checkpoint, "its root is not that of the tiles");
    }
    Ok(report)
}

struct Check<'a> {
    fetch: &'a Fetch<'a>,
    size: u64,
    tree: Tree,
    report: Report,
}

impl Check<'_> {
    /// Compares the leaf data of up to 256 leaves with their tile; the tree grows from the tile.
    fn entries(&mut self, number: u64) {
        let id = TileId { level: 0, number };
        let width = tile::width(id, self.size);
        let (tile, data) = (self.hashes(id, width), self.leaf_hashes(number, width));
        let place = Place::Tile { level: 0, number };
        if let Err(what) = &tile {
            self.report.find(id.first_seq(0), place, what.clone());
        }
        if let Err(what) = &data {
            self.report.find(id.first_seq(0), Place::LeafData, what.clone());
        }
        for at in 0..width {
            let (published, computed) = (tile.as_ref().ok().map(|t| t[at]), data.as_ref().ok().map(|d| d[at]));
            if published.zip(computed).is_some_and(|(published, computed)| published != computed) {
                self.report.find(id.first_seq(at), Place::LeafData, "its hash is not the one in the tile");
            }
            self.tree.push(published.or(computed).unwrap_or_default());
        }
    }

    /// Compares tiles above the leaves with those published.
    fn tiles(&mut self, grown: Vec<(TileId, Vec<Hash>)>) {
        for (id, hashes) in grown.into_iter().filter(|(id, _)| id.level > 0) {
            let place = Place::Tile { level: id.level, number: id.number };
            match self.hashes(id, hashes.len()) {
                Err(what) => self.report.find(id.first_seq(0), place, what),
                Ok(published) => {
                    for at in (0..hashes.len()).filter(|at| published[*at] != hashes[*at]) {
                        self.report.find(id.first_seq(at), place, "it does not hold the root of the tile beneath");
                    }
                }
            }
        }
    }

    /// The first `width` hashes of a tile.
    fn hashes(&self, id: TileId, width: usize) -> Result<Vec<Hash>, String> {
        self.get(
            width,
            |width| Resource::Hashes { tile: id, width },
            |bytes| {
                let (hashes, rest) = bytes.as_chunks::<32>();
                rest.is_empty().then(|| hashes.to_vec())
            },
        )
    }

    /// The leaf hashes of the first `width` leaf data of a bundle.
    fn leaf_hashes(&self, number: u64, width: usize) -> Result<Vec<Hash>, String> {
        self.get(
            width,
            |width| Resource::Entries { number, width },
            |bytes| Some(split_entries(bytes)?.into_iter().map(leaf::hash).collect()),
        )
    }

    /// Fetches a resource of `width` items and checks their number. A log may drop a partial one once it is full.
    fn get(
        &self,
        width: usize,
        resource: impl Fn(usize) -> Resource,
        split: impl Fn(&[u8]) -> Option<Vec<Hash>>,
    ) -> Result<Vec<Hash>, String> {
        let get = |width| {
            let path = resource(width).path();
            let bytes = (self.fetch)(&path).map_err(|e| format!("{path}: {e}"))?;
            let items = split(&bytes).filter(|items| items.len() == width);
            items.ok_or_else(|| format!("{path} does not hold {width} items"))
        };
        let mut items = get(width).or_else(|why| if width < WIDTH { get(WIDTH).map_err(|_| why) } else { Err(why) })?;
        items.truncate(width);
        Ok(items)
    }
}
