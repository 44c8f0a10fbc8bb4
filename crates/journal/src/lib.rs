//! The journal: entries, their bytes, the Merkle log over them, proofs, and the stores that keep them.
//!
//! It never knows what an event means: headers are its own, the bytes of a part are opaque.
//!
//! | module | owns the format of |
//! | --- | --- |
//! | [`header`] | the header of an entry |
//! | [`entry`] | an entry and the row it is stored as |
//! | [`leaf`] | salts, part hashes, leaf data, leaf hash |
//! | [`tile`] | hash tiles and their paths |
//! | [`tree`] | the right edge of the Merkle tree |
//! | [`proof`] | inclusion and consistency proofs |
//! | [`note`], [`checkpoint`] | signed notes and checkpoints |
//! | [`bundle`] | an owner's parts with all that is needed to check them |
//! | [`keys`] | the key files |
//! | [`sqlite`] | the data folder |
//!
//! [`publish`] gives the resources that `tlog-tiles` puts under paths; [`verify`] checks data folders, bundles and
//! published logs.
//!
//! The stores are [`Memory`] and [`Sqlite`]; both keep the contract of [`Store`].

pub mod bundle;
pub mod checkpoint;
pub mod entry;
mod failure;
pub mod header;
pub mod keys;
pub mod leaf;
mod memory;
pub mod note;
pub mod proof;
pub mod publish;
pub mod sqlite;
mod store;
pub mod tile;
pub mod tree;
pub mod verify;

pub use bundle::Bundle;
pub use checkpoint::Checkpoint;
pub use entry::{Entry, Part, PartRef, Stored};
pub use failure::{Failure, Place};
pub use header::{Header, LogId, Stamp};
pub use keys::Keys;
pub use memory::Memory;
pub use sqlite::{Options, Reader, Sqlite, Synchronous};
pub use store::{Batch, Change, Head, Pairs, Repeat, Source, Store};
pub use tree::{Hash, Tree};
