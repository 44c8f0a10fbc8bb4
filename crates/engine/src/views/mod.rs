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
mod usage;

pub use fold::Views;
pub use follower::{Follower, Lag};
pub use lease::{Lease, Standing};
pub use queries::{LeaseFilter, Page, PostingId, Queries, Scope, Within};
pub use revenue::DayRevenue;
pub use rows::{Kind, Line, PartRow, Posting};
pub use usage::{By, Group, Key, Usage, UsageQuery};

use journal::Failure;

/// Turns an error of SQLite into a failure. All of it may pass or be mended by folding anew: nothing here is the truth.
fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> Failure {
    move |error| Failure::Storage { doing, retryable: true, source: error.into() }
}

/// SQLite's integers are signed; our numbers are counters that never come near 2⁶³.
fn signed(number: u64) -> i64 {
    i64::try_from(number).expect("a counter stays below 2⁶³")
}

/// The reverse of [`signed`].
fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}
