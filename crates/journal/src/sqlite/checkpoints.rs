//! Putting the write-ahead log into the database while the writer goes on: a checkpoint of 40 MB takes a tenth of a second.

use super::{failed, reader::connect};
use crate::Failure;
use rusqlite::{Connection, OpenFlags};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

/// Checkpoints beside the writer for each that it would do itself: what is left to him is a fifth at most.
const SHARE: usize = 5;
/// Rounds of one checkpoint at most.
const ROUNDS: usize = 4;
/// What a commit writes beside its rows: the last tile, and the pages above and at the end of each table.
const COMMIT_BYTES: usize = 8 * PAGE;
const PAGE: usize = 4096;

/// A thread with a connection of its own to a database in WAL mode. It puts into the database what is in the log by then; the
/// writer, once it comes to do it itself, finds little left, and begins the log anew.
pub struct Checkpoints {
    written: usize,
    /// After so many bytes of log a checkpoint is worth its syncs.
    worth_bytes: usize,
    // Taken before the thread is joined, which ends it.
    worth: Option<SyncSender<()>>,
    failure: Arc<Mutex<Option<Failure>>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Beside a writer of this SQLite file, through the VFS of this name, that does it after `pages` of log.
    pub fn spawn(database: &Path, vfs: Option<&str>, pages: u32) -> Result<Checkpoints, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connect(database, flags, vfs).map_err(failed("opening a database for its checkpoints"))?;
        // One that waits is enough: it will cover what is written meanwhile.
        let (worth, told) = mpsc::sync_channel(1);
        let failure = Arc::default();
        let kept = Arc::clone(&failure);
        let thread = thread::Builder::new().name("checkpoints".into()).spawn(move || run(&connection, &told, &kept));
        let thread = Some(thread.expect("the operating system gives us one thread"));
        Ok(Checkpoints { written: 0, worth_bytes: pages as usize * PAGE / SHARE, worth: Some(worth), failure, thread })
    }

    /// Rows of so many bytes were committed.
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes + COMMIT_BYTES;
        if self.written >= self.worth_bytes {
            self.written = 0;
            if let Some(worth) = &self.worth {
                let _ = worth.try_send(());
            }
        }
    }

    /// Why a checkpoint failed, once. A failed sync leaves open what the database holds, and the next one would not tell.
    pub fn failure(&self) -> Option<Failure> {
        self.failure.lock().expect("nobody panics while keeping a failure").take()
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.worth = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(connection: &Connection, told: &Receiver<()>, kept: &Mutex<Option<Failure>>) {
    while told.recv().is_ok() {
        if let Err(failure) = checkpoint(connection).map_err(failed("putting the write-ahead log into its database"))
            && !failure.retryable()
        {
            *kept.lock().expect("nobody panics while keeping a failure") = Some(failure);
            return;
        }
    }
}

/// Each round has less to do than the one before: what was written in its time.
fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    for _ in 0..ROUNDS {
        // Waits for nobody: a reader that is in its way, or the writer at the same work, is left alone.
        let (busy, log, done): (bool, i64, i64) =
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        if busy || done >= log {
            break;
        }
    }
    Ok(())
}
