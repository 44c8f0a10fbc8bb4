//! Views: SQL tables folded from the journal, for lists, receipts, statements and exports.
//!
//! A cache: one SQLite file that may be deleted at any time; it is folded again and gives the same answers. A follower
//! keeps it milliseconds behind the journal and stores how far it came in the transaction of the rows themselves. What is
//! live is better read from the state; what is closed is only here.
//!
//! | module | knows |
//! | --- | --- |
//! | `schema` | the tables, and when a file must be folded anew |
//! | `lease`, `rows` | the rows, and how a lease's row follows from its events |
//! | `gather` | what a batch of entries changes |
//! | `fold` | [`Views`]: reading the journal in batches and writing them |
//! | `follower` | [`Follower`]: the thread that does so, and who waits for it |
//! | `queries` | [`Queries`]: every read, inside the owner it is for |
//! | `usage`, `revenue` | exact sums over time |
//!
//! Amounts are 16-byte blobs and are never added by SQL: sums are made here, in integers of 128 bits.

mod fold;
mod follower;
mod gather;
mod lease;
mod queries;
mod revenue;
mod rows;
mod schema;
mod spoiled;
mod usage;

pub use fold::Views;
pub use follower::{Follower, Lag};
pub use lease::{Lease, Standing};
pub use queries::{LeaseFilter, Page, PostingId, Queries, Scope, Within};
pub use revenue::DayRevenue;
pub use rows::{Kind, Line, PartRow, Posting};
pub use usage::{By, Group, Key, Usage, UsageQuery};

use spoiled::failed;

/// SQLite's integers are signed. Our numbers are counters that never come near 2⁶³; one that does was asked for from outside,
/// and stands behind all that is stored.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The reverse of [`signed`].
fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}
