//! The core: commands in, facts out, facts folded into a small state. No clock, no I/O, no randomness.
//!
//! Every change takes one road. [`decide`] answers a [`Command`] with events or a [`Refusal`]; the events of one entry are
//! sealed into [`Part`]s by owner ([`seal`]), stored, and folded by [`apply`]. [`due`] names what time itself demands,
//! [`assignments`] says what should be running where. `apply` never decides, prices or places: what it needs stands in
//! the event.

mod assignments;
mod command;
mod draft;
mod due;
mod event;
pub mod fleet;
pub mod lease;
pub mod market;
pub mod money;
mod part;
mod refusal;
mod state;
mod table;
pub mod tenancy;

// What commands, events and refusals are made of.
pub use {billing, placement};

pub use assignments::{assignments, changed_since, stop_by, wanted};
pub use command::{Command, decide};
pub use due::{Failed, GATHER_LEASES, GATHER_MS, due, next_wakeup};
pub use event::{DecodeEventError, Event};
pub use part::{Part, apply, seal, seal_nothing};
pub use refusal::Refusal;
pub use state::{Broken, State};
pub use table::Table;
