//! The store on disk: one SQLite database in a data folder.
//!
//! ```text
//! <folder>/journal.sqlite       (and -wal, -shm beside it while it is open)
//! <folder>/keys/                the key files, see `keys`; both are the backup
//! <folder>/lock                 held by the one process that writes
//! ```
//!
//! | table | columns |
//! | --- | --- |
//! | `entry` | `seq` (1 …), `row`: the row of `entry` |
//! | `tile` | `level`, `number`, `hashes`: up to 256 × 32 bytes; the last tile of a level grows in place |
//! | `directory` | `key`, `value`: opaque, erasable, not hashed |
//! | `repeat` | `seq`, `owner`, `key`, `request`, `time` |
//! | `checkpoint` | `size`, `signed`: the note |
//! | `about` | `name`, `value`: `log`, the log id in hexadecimal |
//!
//! `PRAGMA application_id` is 0x53555a55 ("SUZU"), `user_version` the version of this layout, now 1.
//! Write-ahead log, `synchronous=FULL`: an append returns when its transaction is on the disk. `secure_delete`: what
//! is deleted is overwritten in the database; the write-ahead log may hold it until it is next put into the database,
//! at the latest on closing.

mod checkpoints;
mod reader;
mod repeats;
mod writer;

pub use checkpoints::Checkpoints;
pub use reader::Reader;
pub use writer::{Options, Sqlite, Synchronous};

use crate::Failure;
use rusqlite::ErrorCode;

const DATABASE: &str = "journal.sqlite";
pub(crate) const KEYS: &str = "keys";
const LOCK: &str = "lock";

/// Turns an error of SQLite into a failure. A full disk or a lock may pass; everything else, a failed fsync above
/// all, leaves open what the disk holds.
fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> Failure {
    move |error| {
        let retryable =
            matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
        Failure::Storage { doing, retryable, cause: error.into() }
    }
}

/// SQLite's integers are signed. Our numbers are counters that never come near 2⁶³; one that does was asked for from outside,
/// and stands behind all that is stored.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number behind [`signed`]; one that is negative was never written by us.
fn unsigned(column: usize, number: i64) -> Result<u64, rusqlite::Error> {
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}
