//! The one writer of a data folder.

use super::{
    DATABASE, KEYS, LOCK, Reader,
    checkpoints::Checkpoints,
    failed,
    reader::connect,
    repeats::{self, Repeats},
    signed,
};
use crate::{
    Batch, Change, Failure, Hash, Head, Keys, Pairs, Place, Repeat, Source, Store, Stored, Tree,
    leaf::{self, Salts},
    tile::TileId,
};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use std::{
    fs::{self, File, TryLockError},
    ops::ControlFlow,
    path::Path,
};
use units::{Owner, Time};

const APPLICATION_ID: i32 = 0x5355_5a55;
const LAYOUT: i32 = 1;

const SCHEMA: &str = "
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE entry (seq INTEGER PRIMARY KEY, row BLOB NOT NULL);
    CREATE TABLE tile (level INTEGER, number INTEGER, hashes BLOB NOT NULL, PRIMARY KEY (level, number)) WITHOUT ROWID;
    CREATE TABLE directory (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE repeat (seq INTEGER PRIMARY KEY, owner INTEGER NOT NULL, key BLOB NOT NULL, request BLOB NOT NULL,
                         time INTEGER NOT NULL);
    CREATE TABLE checkpoint (size INTEGER PRIMARY KEY, signed TEXT NOT NULL);";

/// How far an append waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// Until it is there: what was acknowledged survives a power cut.
    #[default]
    Full,
    /// Not at all: for tests that measure or break it.
    Off,
}

/// How to open a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// How far an append waits for the disk.
    pub synchronous: Synchronous,
    /// Pages of write-ahead log after which an append puts it into the database.
    pub checkpoint_pages: u32,
    /// Whether a thread puts it there before that, so that the append finds little left to do.
    pub checkpoint_beside: bool,
    /// Name of the SQLite VFS; the operating system's if `None`.
    pub vfs: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        // 40 MB of log between checkpoints: each page of the database is written once for all its changes in them.
        Options { synchronous: Synchronous::Full, checkpoint_pages: 10_000, checkpoint_beside: true, vfs: None }
    }
}

/// A log on disk, open for writing.
pub struct Sqlite {
    keys: Keys,
    salts: Salts,
    head: Head,
    tree: Tree,
    repeats: Repeats,
    checkpoints: Option<Checkpoints>,
    stopped: bool,
    reader: Reader,
    // Held until the store is dropped; the system lets go of it when the process dies.
    _lock: File,
}

impl Sqlite {
    /// Opens the log in `folder`, or begins a new one, keys included, if there is none.
    ///
    /// Fails with [`Failure::InUse`] while another store has it open, with [`Failure::Keys`] if there are entries
    /// but not their keys, with [`Failure::Torn`] or [`Failure::Damaged`] if the end of the log is not sound.
    pub fn open(folder: &Path, options: &Options) -> Result<Sqlite, Failure> {
        fs::create_dir_all(folder).map_err(|e| Failure::io("making the data folder", e))?;
        let lock = lock(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let mut connection = connect(&folder.join(DATABASE), flags, options.vfs.as_deref())?;
            let journal = prepare(&mut connection, options)?;
            Ok((connection, journal))
        };
        let (connection, journal) = open().map_err(failed("opening the journal"))?;
        let keys = keys(folder, &connection, journal)?;
        let reader = Reader { connection, folder: folder.into(), vfs: options.vfs.clone() };
        let (head, tree) = restore(&reader)?;
        let repeats = Repeats::load(&reader.connection)?;
        let beside = || Checkpoints::spawn(&folder.join(DATABASE), options.vfs.as_deref(), options.checkpoint_pages);
        // Its connection waits for the disk, whatever the writer's does.
        let synced = options.synchronous == Synchronous::Full;
        let checkpoints = (options.checkpoint_beside && synced).then(beside).transpose()?;
        Ok(Sqlite { salts: keys.salts(), keys, head, tree, repeats, checkpoints, stopped: false, reader, _lock: lock })
    }

    /// Another reader of this log, for another thread.
    pub fn reader(&self) -> Result<Reader, Failure> {
        self.reader.try_clone()
    }

    fn write(&mut self, batch: &Batch, tree: &mut Tree) -> Result<(), Failure> {
        if let Some(failure) = self.checkpoints.as_ref().and_then(Checkpoints::failure) {
            return Err(failure);
        }
        let mut commit = || {
            let transaction = self.reader.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let bytes = write_entries(&transaction, batch, &self.salts, tree)? + write_directory(&transaction, batch)?;
            repeats::write(&transaction, &batch.repeats)?;
            transaction.commit().map(|()| bytes)
        };
        let bytes = commit().map_err(failed("appending to the journal"))?;
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.wrote(bytes);
        }
        Ok(())
    }
}

/// Gives how many bytes the rows have.
fn write_entries(transaction: &Transaction<'_>, batch: &Batch, salts: &Salts, tree: &mut Tree) -> rusqlite::Result<usize> {
    let mut bytes = 0;
    let mut insert = transaction.prepare_cached("INSERT INTO entry VALUES (?1, ?2)")?;
    for entry in &batch.entries {
        let (row, leaf_hash) = entry.seal(salts);
        insert.execute(params![signed(entry.header().seq), row])?;
        bytes += row.len();
        tree.push(leaf_hash);
    }
    let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO tile VALUES (?1, ?2, ?3)")?;
    for (id, hashes) in tree.take_tiles() {
        insert.execute(params![id.level, signed(id.number), hashes.as_flattened()])?;
    }
    Ok(bytes)
}

/// Gives how many bytes the rows have.
fn write_directory(transaction: &Transaction<'_>, batch: &Batch) -> rusqlite::Result<usize> {
    let mut bytes = 0;
    for change in &batch.directory {
        match change {
            Change::Put { key, value } => {
                bytes += key.len() + value.len();
                transaction.prepare_cached("INSERT OR REPLACE INTO directory VALUES (?1, ?2)")?.execute(params![key, value])?
            }
            Change::Delete { key } => transaction.prepare_cached("DELETE FROM directory WHERE key = ?1")?.execute([key])?,
        };
    }
    Ok(bytes)
}

fn lock(folder: &Path) -> Result<File, Failure> {
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(LOCK));
    let file = file.map_err(|e| Failure::io("opening the lock file", e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::InUse { folder: folder.into() }),
        Err(TryLockError::Error(e)) => Err(Failure::io("locking the data folder", e)),
    }
}

/// Whose journal the database is.
enum Journal {
    /// Of nobody: the tables were just laid.
    New,
    /// Of nobody yet: a first opening was cut short before the log was named.
    Unnamed,
    /// Of the log of this id.
    Of(String),
    /// Made by a newer build, which has this layout.
    Newer(i32),
}

/// Sets the connection up and lays the tables if there are none.
fn prepare(connection: &mut Connection, options: &Options) -> rusqlite::Result<Journal> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = if options.synchronous == Synchronous::Full { "FULL" } else { "OFF" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", options.checkpoint_pages)?;
    // What is deleted from the directory is overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", "ON")?;
    // 8 MiB of pages: nearly all that an append changes lies at the ends of the tables. Of more nothing is gained, and SQLite
    // walks over all that it has after a commit that split a page.
    connection.pragma_update(None, "cache_size", -8_192)?;
    match connection.pragma_query_value(None, "user_version", |row| row.get(0))? {
        0 => lay_tables(connection).map(|()| Journal::New),
        LAYOUT => {
            let mut select = connection.prepare("SELECT value FROM about WHERE name = 'log'")?;
            Ok(select.query_row([], |row| row.get(0)).optional()?.map_or(Journal::Unnamed, Journal::Of))
        }
        newer => Ok(Journal::Newer(newer)),
    }
}

fn lay_tables(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", LAYOUT)?;
    transaction.commit()
}

/// The keys of this log; new ones if the log is new.
fn keys(folder: &Path, connection: &Connection, journal: Journal) -> Result<Keys, Failure> {
    let folder = folder.join(KEYS);
    let wrong = |what| Err(Failure::Keys { folder: folder.clone(), what });
    let keys = match journal {
        Journal::Newer(layout) => {
            return Err(Failure::invalid(format!("the journal has layout {layout}, this build knows {LAYOUT}")));
        }
        // The tables are on the disk before the keys are made, so these keys have lost their journal. Beginning it
        // anew would sign a second history of the same log.
        Journal::New if Keys::exist(&folder) => return wrong("their journal is gone: restore it, or take the keys away".into()),
        Journal::New | Journal::Unnamed if !Keys::exist(&folder) => Keys::create(&folder)?,
        _ => Keys::load(&folder)?,
    };
    let id = keys.log().to_string();
    match journal {
        Journal::Of(log) if log != id => wrong(format!("they are of log {id}, the journal is of log {log}")),
        Journal::Of(_) => Ok(keys),
        _ => match connection.execute("INSERT INTO about VALUES ('log', ?1)", [id]) {
            Ok(_) => Ok(keys),
            Err(error) => Err(failed("naming the log")(error)),
        },
    }
}

/// The head and the right edge, from the last entry and the last tile of each level.
fn restore(reader: &Reader) -> Result<(Head, Tree), Failure> {
    let size = reader.size()?;
    let tree = Tree::restore(size, |id| reader.tile(id))?;
    let mut head = Head { size, root: tree.root(), time: None, epoch: 0 };
    if let Some(row) = reader.row(size)? {
        let last = Stored::decode(size, &row)?;
        let stamp = last.stamp()?;
        head = Head { time: Some(stamp.time), epoch: stamp.epoch, ..head };
        let id = TileId { level: 0, number: (size - 1) / 256 };
        if reader.tile(id)?.get((size - 1) as usize % 256) != Some(&leaf::hash(last.leaf_data)) {
            let place = Place::Tile { level: 0, number: id.number };
            return Err(Failure::damaged(size, place, "it does not hold the hash of the last entry"));
        }
    }
    Ok((head, tree))
}

impl Drop for Sqlite {
    /// Leaves the whole log in the database: readers may stay open, and whoever copies the file alone has all of it.
    fn drop(&mut self) {
        self.checkpoints = None;
        if !self.stopped {
            let _ = self.reader.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

impl Source for Sqlite {
    fn size(&self) -> Result<u64, Failure> {
        Ok(self.head.size)
    }

    fn read(&self, from: u64, visit: &mut dyn FnMut(Stored<'_>) -> ControlFlow<()>) -> Result<(), Failure> {
        self.reader.read(from, visit)
    }

    fn tile(&self, id: TileId) -> Result<Vec<Hash>, Failure> {
        self.reader.tile(id)
    }

    fn directory_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        self.reader.directory_get(key)
    }

    fn directory_scan(&self, prefix: &[u8]) -> Result<Pairs, Failure> {
        self.reader.directory_scan(prefix)
    }

    fn checkpoints(&self) -> Result<Vec<(u64, String)>, Failure> {
        self.reader.checkpoints()
    }
}

impl Store for Sqlite {
    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn head(&self) -> Head {
        self.head
    }

    fn repeat(&self, owner: Owner, key: &Hash) -> Result<Option<Repeat>, Failure> {
        self.repeats.find(&self.reader.connection, owner, key)
    }

    fn append(&mut self, batch: &Batch) -> Result<Head, Failure> {
        if self.stopped {
            return Err(Failure::Stopped);
        }
        let mut head = self.head;
        for entry in &batch.entries {
            head.advance(entry.header(), &self.keys)?;
        }
        let mut tree = self.tree.clone();
        if let Err(failure) = self.write(batch, &mut tree) {
            self.stopped = !failure.retryable();
            return Err(failure);
        }
        self.head = Head { root: tree.root(), ..head };
        self.tree = tree;
        self.repeats.remember(&batch.repeats);
        Ok(self.head)
    }

    fn prune_repeats(&mut self, before: Time) -> Result<u64, Failure> {
        self.repeats.prune(&self.reader.connection, before)
    }

    fn keep_checkpoint(&mut self, size: u64, signed_note: &str) -> Result<(), Failure> {
        let insert = "INSERT OR REPLACE INTO checkpoint VALUES (?1, ?2)";
        let kept = self.reader.connection.execute(insert, params![signed(size), signed_note]);
        kept.map(|_| ()).map_err(failed("keeping a checkpoint"))
    }
}
