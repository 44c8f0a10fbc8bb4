//! A store in memory, for tests and simulations; it keeps the same rows as one on disk.

use crate::{Batch, Change, Failure, Hash, Head, Keys, Pairs, Repeat, Source, Store, Stored, Tree, leaf::Salts, tile::TileId};
use std::{collections::BTreeMap, ops::ControlFlow};
use units::{Owner, Time};

/// A log in memory.
pub struct Memory {
    keys: Keys,
    salts: Salts,
    head: Head,
    tree: Tree,
    rows: Vec<Vec<u8>>,
    tiles: BTreeMap<TileId, Vec<Hash>>,
    directory: BTreeMap<Vec<u8>, Vec<u8>>,
    repeats: BTreeMap<(Owner, Hash), Repeat>,
    checkpoints: BTreeMap<u64, String>,
}

impl Memory {
    /// An empty log with these keys.
    pub fn new(keys: Keys) -> Memory {
        let tree = Tree::default();
        Memory {
            salts: keys.salts(),
            head: Head { size: 0, root: tree.root(), time: None, epoch: 0 },
            tree,
            keys,
            rows: Vec::new(),
            tiles: BTreeMap::new(),
            directory: BTreeMap::new(),
            repeats: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
        }
    }
}

impl Source for Memory {
    fn size(&self) -> Result<u64, Failure> {
        Ok(self.head.size)
    }

    fn read(&self, from: u64, visit: &mut dyn FnMut(Stored<'_>) -> ControlFlow<()>) -> Result<(), Failure> {
        let from = from.max(1);
        for (seq, row) in (from..).zip(self.rows.get(from as usize - 1..).unwrap_or_default()) {
            if visit(Stored::decode(seq, row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn tile(&self, id: TileId) -> Result<Vec<Hash>, Failure> {
        Ok(self.tiles.get(&id).cloned().unwrap_or_default())
    }

    fn directory_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.directory.get(key).cloned())
    }

    fn directory_scan(&self, prefix: &[u8]) -> Result<Pairs, Failure> {
        let from = self.directory.range(prefix.to_vec()..);
        Ok(from.take_while(|(key, _)| key.starts_with(prefix)).map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    fn checkpoints(&self) -> Result<Vec<(u64, String)>, Failure> {
        Ok(self.checkpoints.iter().map(|(size, signed)| (*size, signed.clone())).collect())
    }
}

impl Store for Memory {
    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn head(&self) -> Head {
        self.head
    }

    fn append(&mut self, batch: &Batch) -> Result<Head, Failure> {
        let mut head = self.head;
        for entry in &batch.entries {
            head.advance(entry.header(), &self.keys)?;
        }
        for entry in &batch.entries {
            let (row, leaf_hash) = entry.seal(&self.salts);
            self.rows.push(row);
            self.tree.push(leaf_hash);
        }
        self.tiles.extend(self.tree.take_tiles());
        for change in &batch.directory {
            match change {
                Change::Put { key, value } => self.directory.insert(key.clone(), value.clone()),
                Change::Delete { key } => self.directory.remove(key),
            };
        }
        self.repeats.extend(batch.repeats.iter().map(|r| ((r.owner, r.key), *r)));
        self.head = Head { root: self.tree.root(), ..head };
        Ok(self.head)
    }

    fn repeat(&self, owner: Owner, key: &Hash) -> Result<Option<Repeat>, Failure> {
        Ok(self.repeats.get(&(owner, *key)).copied())
    }

    fn prune_repeats(&mut self, before: Time) -> Result<u64, Failure> {
        let had = self.repeats.len();
        self.repeats.retain(|_, repeat| repeat.time >= before);
        Ok((had - self.repeats.len()) as u64)
    }

    fn keep_checkpoint(&mut self, size: u64, signed: &str) -> Result<(), Failure> {
        self.checkpoints.insert(size, signed.into());
        Ok(())
    }
}
