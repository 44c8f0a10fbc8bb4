//! Values by id, in the order of ids.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{collections::BTreeMap, fmt};

/// Values by id. A tree: a hash table is as fast for so many as there are, and when it grows it copies itself while the writer
/// waits.
#[derive(Clone)]
pub struct Table<K, V>(BTreeMap<K, V>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table(BTreeMap::new())
    }
}

impl<K: Copy + Ord, V> Table<K, V> {
    /// The value of an id.
    pub fn get(&self, key: K) -> Option<&V> {
        self.0.get(&key)
    }

    /// The value of an id, to change.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.0.get_mut(&key)
    }

    /// The value of an id, made first if there is none.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.entry(key).or_default()
    }

    /// Enters a value; an earlier one is replaced.
    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, value);
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.0.remove(&key)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, ascending by id.
    pub fn sorted(&self) -> Vec<(K, &V)> {
        self.0.iter().map(|(k, v)| (*k, v)).collect()
    }
}

impl<K: Copy + Ord, V: PartialEq> PartialEq for Table<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Copy + Ord + fmt::Debug, V: fmt::Debug> fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.sorted()).finish()
    }
}

impl<K: Copy + Ord + Serialize, V: Serialize> Serialize for Table<K, V> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.sorted())
    }
}

impl<'de, K: Copy + Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Table<K, V> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Table(Vec::<(K, V)>::deserialize(d)?.into_iter().collect()))
    }
}
