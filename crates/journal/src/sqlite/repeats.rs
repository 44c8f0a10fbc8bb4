//! Repeats: rows in the order of their entries, found through an index in memory.
//!
//! Keys are hashes: in a table in their order each row would go to another page, and a page is what an append writes. The
//! index takes about 50 bytes a repeat, is read back when the store is opened, and forgets what is pruned.

use super::{failed, signed, unsigned};
use crate::{Failure, Hash, Repeat};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use std::collections::BTreeMap;
use units::{Owner, Time};

/// Half a hash tells keys apart; the row holds the whole of it.
type Mark = (Owner, [u8; 16]);

/// Where the entry of a key is. A tree, since a hash table copies itself when it grows, and the writer waits.
pub(super) struct Repeats(BTreeMap<Mark, u64>);

fn mark(owner: Owner, key: &Hash) -> Mark {
    (owner, *key.first_chunk().expect("a hash has 32 bytes"))
}

/// A row of owner, half of the key, and entry.
fn marked(row: &Row<'_>) -> rusqlite::Result<(Mark, u64)> {
    Ok(((Owner(unsigned(0, row.get(0)?)?), row.get(1)?), unsigned(2, row.get(2)?)?))
}

impl Repeats {
    pub(super) fn load(connection: &Connection) -> Result<Repeats, Failure> {
        let read = || {
            let mut select = connection.prepare("SELECT owner, substr(key, 1, 16), seq FROM repeat ORDER BY seq")?;
            select.query_map([], marked)?.collect::<rusqlite::Result<_>>()
        };
        read().map(Repeats).map_err(failed("reading the repeats"))
    }

    pub(super) fn find(&self, connection: &Connection, owner: Owner, key: &Hash) -> Result<Option<Repeat>, Failure> {
        let Some(&seq) = self.0.get(&mark(owner, key)) else { return Ok(None) };
        let read = || {
            let mut select =
                connection.prepare_cached("SELECT request, time FROM repeat WHERE seq = ?1 AND owner = ?2 AND key = ?3")?;
            let row = |row: &Row<'_>| Ok(Repeat { owner, key: *key, request: row.get(0)?, seq, time: Time(row.get(1)?) });
            select.query_row(params![signed(seq), signed(owner.0), key], row).optional()
        };
        read().map_err(failed("reading the repeats"))
    }

    /// Once their transaction is committed.
    pub(super) fn remember(&mut self, repeats: &[Repeat]) {
        self.0.extend(repeats.iter().map(|repeat| (mark(repeat.owner, &repeat.key), repeat.seq)));
    }

    /// Forgets the repeats before `before`; entries are in the order of time.
    pub(super) fn prune(&mut self, connection: &Connection, before: Time) -> Result<u64, Failure> {
        let delete = || {
            let first = "SELECT seq FROM repeat WHERE time >= ?1 ORDER BY seq LIMIT 1";
            let first: Option<i64> = connection.query_row(first, [before.0], |row| row.get(0)).optional()?;
            let mut delete = connection.prepare("DELETE FROM repeat WHERE seq < ?1 RETURNING owner, substr(key, 1, 16), seq")?;
            delete.query_map([first.unwrap_or(i64::MAX)], marked)?.collect::<rusqlite::Result<Vec<(Mark, u64)>>>()
        };
        let pruned = delete().map_err(failed("pruning the repeats"))?;
        for (mark, seq) in &pruned {
            if self.0.get(mark) == Some(seq) {
                self.0.remove(mark);
            }
        }
        Ok(pruned.len() as u64)
    }
}

/// In the transaction of their entries.
pub(super) fn write(transaction: &Transaction<'_>, repeats: &[Repeat]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO repeat VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for Repeat { owner, key, request, seq, time } in repeats {
        insert.execute(params![signed(*seq), signed(owner.0), key, request, time.0])?;
    }
    Ok(())
}
