//! A data folder: every stored byte, with the log secret.

use super::{Report, order::Order};
use crate::{
    Checkpoint, Failure, Hash, Header, Keys, Place, Reader, Source, Stored, Tree,
    leaf::{self, Salts},
    sqlite,
    tile::{TileId, WIDTH},
};
use std::{collections::BTreeMap, ops::ControlFlow, path::Path};

/// Checks the log in a data folder. It may be in use: what is committed at the start is checked.
///
/// Fails if the database or the keys cannot be read at all; everything else is in the report.
pub fn folder(folder: &Path) -> Result<Report, Failure> {
    let keys = Keys::load(&folder.join(sqlite::KEYS))?;
    let reader = Reader::open(folder)?;
    reader.hold()?;
    let mut check = Check::new(&reader, &keys)?;
    let size = reader.size()?;
    reader.rows(1, |seq, row| {
        check.missing_until(seq)?;
        check.row(seq, row)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let last = check.tree.take_tiles();
    check.tiles(last)?;
    let Check { mut report, tree, checkpoints, .. } = check;
    for (size, _) in checkpoints {
        report.find(size, Place::Checkpoint, "it is of more entries than there are");
    }
    (report.size, report.root) = (size, Some(tree.root()));
    report.findings.sort();
    Ok(report)
}

struct Check<'a> {
    reader: &'a Reader,
    keys: &'a Keys,
    salts: Salts,
    order: Order,
    // Grown from the leaf hashes that are believed, see `believed`.
    tree: Tree,
    // The tile of level 0 that holds the entry being checked.
    leaves: (u64, Vec<Hash>),
    // Kept checkpoints that were not reached yet.
    checkpoints: BTreeMap<u64, String>,
    report: Report,
}

impl<'a> Check<'a> {
    fn new(reader: &'a Reader, keys: &'a Keys) -> Result<Check<'a>, Failure> {
        let mut check = Check {
            reader,
            keys,
            salts: keys.salts(),
            order: Order::new(keys.log()),
            tree: Tree::default(),
            leaves: (u64::MAX, Vec::new()),
            checkpoints: reader.checkpoints()?.into_iter().collect(),
            report: Report { origin: keys.verifier().name().into(), ..Report::default() },
        };
        check.checkpoint();
        Ok(check)
    }

    /// Entries whose row is gone: their leaf hash is taken from the tile so that the rest can be checked.
    fn missing_until(&mut self, seq: u64) -> Result<(), Failure> {
        while self.tree.size() + 1 < seq {
            let missing = self.tree.size() + 1;
            self.report.find(missing, Place::Frame, "the entry is missing");
            self.order.unreadable();
            let hash = self.stored_leaf(missing)?.unwrap_or_default();
            self.grow(hash)?;
        }
        Ok(())
    }

    fn row(&mut self, seq: u64, row: &[u8]) -> Result<(), Failure> {
        let tile = self.stored_leaf(seq)?;
        let framed = Stored::decode(seq, row);
        let stored = framed.as_ref().ok().cloned().or_else(|| Stored::decode_item(seq, row.get(8..)?).ok());
        let Some(stored) = stored else {
            self.report.find(seq, Place::Frame, "the row is no entry");
            self.order.unreadable();
            return self.grow(tile.unwrap_or_default());
        };
        let found = self.report.findings.len();
        let computed = self.hashes(&stored, tile);
        if let (Err(failure), true) = (framed, found == self.report.findings.len()) {
            self.report.find(seq, Place::Frame, format!("bytes outside header, parts and leaf data are changed: {failure}"));
        }
        match Header::decode(seq, stored.header) {
            // Bytes that are known to be changed say nothing about the order.
            _ if found < self.report.findings.len() => self.order.unreadable(),
            Ok(header) => self.order.entry(seq, header, &stored.parts, &mut self.report),
            Err(failure) => self.report.find(seq, Place::Header, failure.to_string()),
        }
        self.report.parts += stored.parts.len() as u64;
        // One changed byte is one finding: where the tile still agrees with the leaf data, the tree goes on with it.
        let agreed = tile.filter(|hash| *hash == leaf::hash(stored.leaf_data));
        self.grow(agreed.unwrap_or(computed))
    }

    /// Compares what the bytes give with the leaf data and the tile; gives the leaf hash of the bytes.
    fn hashes(&mut self, stored: &Stored<'_>, tile: Option<Hash>) -> Hash {
        let seq = stored.seq;
        let data = self.salts.leaf_data(seq, stored.header, stored.parts.iter().map(|p| (p.owner, p.bytes)));
        let computed = leaf::hash(&data);
        let tile_place = Place::Tile { level: 0, number: (seq - 1) / WIDTH as u64 };
        if data == stored.leaf_data {
            if tile != Some(computed) {
                self.report.find(seq, tile_place, "it does not hold the hash of the entry");
            }
        } else if tile == Some(computed) {
            self.report.find(seq, Place::LeafData, "it is not the hashes of header and parts");
        } else {
            let owners = stored.parts.iter().map(|part| Place::Part(part.owner));
            let places = std::iter::once(Place::Header).chain(owners);
            for (place, (now, then)) in places.zip(data.chunks(32).zip(stored.leaf_data.chunks(32))) {
                if now != then {
                    self.report.find(seq, place, "its bytes are not those that were hashed");
                }
            }
            if tile != Some(leaf::hash(stored.leaf_data)) {
                self.report.find(seq, tile_place, "it holds the hash of neither the entry nor its leaf data");
            }
        }
        computed
    }

    fn stored_leaf(&mut self, seq: u64) -> Result<Option<Hash>, Failure> {
        let number = (seq - 1) / WIDTH as u64;
        if self.leaves.0 != number {
            // A tile of a wrong length is found again, and told, by `tiles`.
            let hashes = self.reader.tile(TileId { level: 0, number });
            self.leaves = (number, hashes.or_else(|e| if matches!(e, Failure::Invalid { .. }) { Ok(vec![]) } else { Err(e) })?);
        }
        Ok(self.leaves.1.get((seq - 1) as usize % WIDTH).copied())
    }

    fn grow(&mut self, leaf_hash: Hash) -> Result<(), Failure> {
        self.tree.push(leaf_hash);
        self.checkpoint();
        let full = self.tree.take_full_tiles();
        self.tiles(full)
    }

    /// Checks the kept checkpoint of the size just reached, if there is one.
    fn checkpoint(&mut self) {
        let size = self.tree.size();
        let Some(signed) = self.checkpoints.remove(&size) else { return };
        let what = match Checkpoint::open(&signed, self.keys.verifier()) {
            Err(failure) => failure.to_string(),
            Ok(checkpoint) if checkpoint.size != size => format!("it is of {} entries", checkpoint.size),
            Ok(checkpoint) if checkpoint.root != self.tree.root() => "its root is not that of the entries".into(),
            Ok(_) => {
                self.report.checkpoints += 1;
                return;
            }
        };
        self.report.find(size, Place::Checkpoint, what);
    }

    /// Compares tiles of the grown tree with those stored: all their lengths, and the hashes above the leaves.
    fn tiles(&mut self, grown: Vec<(TileId, Vec<Hash>)>) -> Result<(), Failure> {
        for (id, hashes) in grown {
            let place = Place::Tile { level: id.level, number: id.number };
            let stored = match self.reader.tile(id) {
                Ok(stored) => stored,
                Err(Failure::Invalid { what }) => {
                    self.report.find(id.first_seq(0), place, what);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            if stored.len() != hashes.len() {
                self.report.find(id.first_seq(0), place, format!("it holds {} hashes, not {}", stored.len(), hashes.len()));
            }
            let differs = |at: &usize| id.level > 0 && stored.get(*at).is_some_and(|hash| *hash != hashes[*at]);
            for at in (0..hashes.len()).filter(differs) {
                self.report.find(id.first_seq(at), place, "it does not hold the root of the tile beneath");
            }
        }
        Ok(())
    }
}
