//! Reading the database, beside the writer or without one.

use super::{DATABASE, failed, signed, unsigned};
use crate::{
    Failure, Hash, Pairs, Source, Stored,
    tile::{self, TileId},
};
use rusqlite::{CachedStatement, Connection, OpenFlags, OptionalExtension, Row, params};
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// A read-only view of a data folder, for followers, lists and verification. Each call sees what is committed.
///
/// A long [`Source::read`] keeps the write-ahead log from being reset: followers break off and come back.
pub struct Reader {
    pub(super) connection: Connection,
    pub(super) folder: PathBuf,
    pub(super) vfs: Option<String>,
}

impl Reader {
    /// Opens the log in `folder`, which must be there. Any number of readers may be open, in any process.
    pub fn open(folder: &Path) -> Result<Reader, Failure> {
        Self::open_with(folder, None)
    }

    /// As [`Reader::open`], through the SQLite VFS of this name.
    pub fn open_with(folder: &Path, vfs: Option<&str>) -> Result<Reader, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connect(&folder.join(DATABASE), flags, vfs).map_err(failed("opening the journal to read"))?;
        Ok(Reader { connection, folder: folder.into(), vfs: vfs.map(Into::into) })
    }

    /// Another reader of the same log, for another thread.
    pub fn try_clone(&self) -> Result<Reader, Failure> {
        Self::open_with(&self.folder, self.vfs.as_deref())
    }

    /// From now on every call sees the log as it is now.
    pub(crate) fn hold(&self) -> Result<(), Failure> {
        self.connection.execute_batch("BEGIN").map_err(failed("opening the journal to read"))?;
        self.size().map(|_| ())
    }

    /// The row of entry `seq` as it is stored, unchecked.
    pub(crate) fn row(&self, seq: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.query("reading the journal", "SELECT row FROM entry WHERE seq = ?1", |select| {
            select.query_row([signed(seq)], |row| row.get(0)).optional()
        })
    }

    fn query<T>(
        &self,
        doing: &'static str,
        sql: &str,
        run: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Failure> {
        self.connection.prepare_cached(sql).and_then(|mut statement| run(&mut statement)).map_err(failed(doing))
    }

    /// Every row from `from` on as it is stored, unchecked.
    pub(crate) fn rows(
        &self,
        from: u64,
        mut visit: impl FnMut(u64, &[u8]) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let failed = failed("reading the journal");
        let mut statement =
            self.connection.prepare_cached("SELECT seq, row FROM entry WHERE seq >= ?1 ORDER BY seq").map_err(&failed)?;
        let mut rows = statement.query([signed(from)]).map_err(&failed)?;
        while let Some(row) = rows.next().map_err(&failed)? {
            let (seq, bytes) = seq_and_bytes(row).map_err(&failed)?;
            if visit(seq, bytes)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

pub(super) fn connect(path: &Path, flags: OpenFlags, vfs: Option<&str>) -> rusqlite::Result<Connection> {
    let connection = match vfs {
        None => Connection::open_with_flags(path, flags)?,
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs)?,
    };
    connection.set_prepared_statement_cache_capacity(32);
    // A reader may meet the writer while the log is recovered or reset: that takes milliseconds.
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

fn seq_and_bytes<'a>(row: &'a Row<'_>) -> rusqlite::Result<(u64, &'a [u8])> {
    Ok((unsigned(0, row.get(0)?)?, row.get_ref(1)?.as_blob()?))
}

impl Source for Reader {
    fn size(&self) -> Result<u64, Failure> {
        self.query("reading the journal", "SELECT ifnull(max(seq), 0) FROM entry", |select| {
            unsigned(0, select.query_row([], |row| row.get(0))?)
        })
    }

    fn read(&self, from: u64, visit: &mut dyn FnMut(Stored<'_>) -> ControlFlow<()>) -> Result<(), Failure> {
        self.rows(from, |seq, bytes| Ok(visit(Stored::decode(seq, bytes)?)))
    }

    fn tile(&self, id: TileId) -> Result<Vec<Hash>, Failure> {
        let select = "SELECT hashes FROM tile WHERE level = ?1 AND number = ?2";
        let bytes: Option<Vec<u8>> = self.query("reading a tile", select, |select| {
            select.query_row(params![id.level, signed(id.number)], |row| row.get(0)).optional()
        })?;
        tile::hashes(&bytes.unwrap_or_default())
    }

    fn directory_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        self.query("reading the directory", "SELECT value FROM directory WHERE key = ?1", |select| {
            select.query_row([key], |row| row.get(0)).optional()
        })
    }

    fn directory_scan(&self, prefix: &[u8]) -> Result<Pairs, Failure> {
        let select = "SELECT key, value FROM directory WHERE key >= ?1 ORDER BY key";
        self.query("reading the directory", select, |select| {
            let rows = select.query_map([prefix], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?)))?;
            rows.take_while(|pair| pair.as_ref().map_or(true, |(key, _)| key.starts_with(prefix))).collect()
        })
    }

    fn checkpoints(&self) -> Result<Vec<(u64, String)>, Failure> {
        self.query("reading the checkpoints", "SELECT size, signed FROM checkpoint ORDER BY size", |select| {
            select.query_map([], |row| Ok((unsigned(0, row.get(0)?)?, row.get(1)?)))?.collect()
        })
    }
}
