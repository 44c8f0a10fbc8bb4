//! The tables, and when a file must be folded anew.

use super::{failed, signed, spoiled::is_damage};
use journal::{Failure, LogId};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use std::{fs, io, path::Path};

/// The version of the tables and of the fold into them. A file of another version is folded anew: raise it with every
/// change of either.
const VERSION: i64 = 2;

/// Pages of log after which the fold puts it into the database itself: 160 MB. A thread does it beside the fold for every fifth
/// of that, and mostly to the end, since a fold writes in bursts.
pub(super) const CHECKPOINT_PAGES: u32 = 40_000;

/// Every table that tells of a tenant has his number in `owner` (0: the operator).
///
/// `line` is in the order of the end of use, so that a tenant's use of a month lies together.
const TABLES: &str = "
    CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE lease (
        id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, project INTEGER NOT NULL, standing INTEGER NOT NULL,
        since INTEGER NOT NULL, reason TEXT, detail TEXT NOT NULL, ask BLOB NOT NULL, on_failure TEXT NOT NULL,
        attempts INTEGER NOT NULL, requested INTEGER NOT NULL, ready INTEGER, served_until INTEGER, ended INTEGER,
        charged BLOB NOT NULL, lost BLOB NOT NULL, sku TEXT, milli INTEGER NOT NULL, seq INTEGER NOT NULL);
    CREATE INDEX lease_of_owner ON lease (owner);
    CREATE TABLE line (
        owner INTEGER, until INTEGER, seq INTEGER, number INTEGER, kind INTEGER NOT NULL, lease INTEGER NOT NULL,
        project INTEGER NOT NULL, start INTEGER NOT NULL, sku TEXT NOT NULL, milli INTEGER NOT NULL,
        micro INTEGER NOT NULL, ticks BLOB NOT NULL, PRIMARY KEY (owner, until, seq, number)) WITHOUT ROWID;
    CREATE INDEX line_of_lease ON line (lease);
    CREATE TABLE posting (
        owner INTEGER, seq INTEGER, number INTEGER, time INTEGER NOT NULL, lease INTEGER, event BLOB NOT NULL,
        PRIMARY KEY (owner, seq, number)) WITHOUT ROWID;
    CREATE TABLE part (
        owner INTEGER, seq INTEGER, part_seq INTEGER NOT NULL, time INTEGER NOT NULL, kinds TEXT NOT NULL,
        PRIMARY KEY (owner, seq)) WITHOUT ROWID;
    CREATE TABLE part_of_lease (owner INTEGER, lease INTEGER, seq INTEGER, PRIMARY KEY (owner, lease, seq)) WITHOUT ROWID;
    CREATE TABLE slot (
        start INTEGER, sku TEXT, charged BLOB NOT NULL, reversed BLOB NOT NULL, lost BLOB NOT NULL, milli_ms BLOB NOT NULL,
        PRIMARY KEY (start, sku)) WITHOUT ROWID;";

const NAMES: [&str; 7] = ["about", "lease", "line", "posting", "part", "part_of_lease", "slot"];

/// How far a file has come, and the last entry it has folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Applied {
    pub seq: u64,
    /// That entry's leaf data: tells whether the journal is still the one that was folded.
    pub leaf_data: Vec<u8>,
}

/// Opens the file to write, empty where it was not a cache of this log and this version.
pub(super) fn open(path: &Path, log: LogId) -> Result<(Connection, Applied), Failure> {
    match try_open(path, log) {
        Err(error) if is_damage(&error) => return open_anew(path, log),
        other => other,
    }
    .map_err(failed("opening the views"))
}

/// Removes what is there, and opens an empty file in its place. Who has the old one open reads on in it.
pub(super) fn open_anew(path: &Path, log: LogId) -> Result<(Connection, Applied), Failure> {
    remove(path).map_err(|e| Failure::Storage { doing: "removing spoiled views", retryable: true, cause: e.into() })?;
    try_open(path, log).map_err(failed("opening the views"))
}

fn remove(path: &Path) -> io::Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn try_open(path: &Path, log: LogId) -> rusqlite::Result<(Connection, Applied)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(path, flags)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // After a power cut the last transactions may be missing, never torn: they are folded again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // 64 MiB of pages: the right edges of the tables of ten thousand tenants.
    connection.pragma_update(None, "cache_size", -65_536)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != VERSION || about::<Vec<u8>>(&connection, "log")?.as_deref() != Some(&log.0) {
        empty(&mut connection, log)?;
    }
    let applied = applied(&connection)?;
    Ok((connection, applied))
}

/// A connection with room for our prepared statements.
pub(super) fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Whoever meets the follower while the log is reset waits milliseconds.
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

/// Drops all rows in one transaction: readers that have the file open keep it, and see it empty from then on.
pub(super) fn empty(connection: &mut Connection, log: LogId) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for name in NAMES {
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS {name}"))?;
    }
    transaction.execute_batch(TABLES)?;
    transaction.execute("INSERT INTO about VALUES ('log', ?1)", [log.0])?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// How far the file has come.
pub(super) fn applied(connection: &Connection) -> rusqlite::Result<Applied> {
    let seq = about::<i64>(connection, "seq")?.unwrap_or_default();
    Ok(Applied { seq: super::unsigned(seq), leaf_data: about(connection, "leaf_data")?.unwrap_or_default() })
}

/// Notes how far the transaction comes.
pub(super) fn set_applied(transaction: &Transaction<'_>, applied: &Applied) -> rusqlite::Result<()> {
    let mut set = transaction.prepare_cached("INSERT OR REPLACE INTO about VALUES (?1, ?2)")?;
    set.execute(params!["seq", signed(applied.seq)])?;
    set.execute(params!["leaf_data", applied.leaf_data])?;
    Ok(())
}

/// A value of the table `about`; `None` also where there is no such table yet.
fn about<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> rusqlite::Result<Option<T>> {
    if !connection.table_exists(None, "about")? {
        return Ok(None);
    }
    connection.query_row("SELECT value FROM about WHERE name = ?1", [name], |row| row.get(0)).optional()
}
