//! A disk that can lose power or be full, for tests of what is kept in SQLite.
//!
//! [`Disk`] is a simulated disk in memory; [`Disk::register`] makes it an SQLite VFS under a name, for every connection of
//! the process that is opened with it. What was written but not synced is kept apart. When the power goes
//! ([`Disk::cut_after`]), every call fails until [`Disk::restart`], which keeps a random subset of the 512-byte
//! sectors of the unsynced writes and forgets the rest: pages may be torn, and later writes may survive earlier ones.
//!
//! Shared memory and file locks are simulated too, so the write-ahead log works as it does on a file, with several
//! connections in one process. Bytes beside a write in the same sector are not harmed, as SQLite assumes by default
//! of every disk (`SQLITE_IOCAP_POWERSAFE_OVERWRITE`). A new file is there after its first sync, a deleted one gone
//! at once.

mod disk;
mod vfs;

pub use disk::Disk;
