//! The one writer: decides in batches, appends them durably, publishes what is committed; snapshots, directory, liveness.
//!
//! [`Engine`] is synchronous and takes the time from its caller: the simulator drives it as it is. [`Handle`] is the shell
//! around it: one thread that gathers what is submitted while the disk is busy with the batch before.

mod clock;
mod core;
mod directory;
mod fold;
mod handle;
mod liveness;
pub mod proofs;
mod published;
mod recent;
mod snapshot;
mod submission;
pub mod views;

pub use clock::Clock;
pub use core::{Engine, MAX_DUE_PER_WAKE};
pub use directory::Directory;
pub use fold::{FoldError, fold};
pub use handle::{Handle, Settings, Stopped};
pub use journal::{Failure, Head};
pub use liveness::Liveness;
pub use snapshot::{Image, Snapshots};
pub use submission::{Actor, Answer, Attach, Idempotency, Rejected, Submission};
pub use views::{Follower, Queries, Scope, Views};
