//! What runs leases: one [`Driver`] trait, the level-triggered [`reconcile`], the [`Agent`] that joins the two,
//! and the drivers themselves.
//!
//! Everything that decides is synchronous and takes its time as an argument, so that a simulation runs exactly
//! what a node runs. Tenants, prices and the journal are not known here.

mod agent;
mod assigned;
mod driver;
mod failure;
pub mod host;
pub mod models;
mod reconcile;
pub mod simulated;
mod uplink;

pub use agent::{Agent, Pace};
pub use assigned::{Assigned, Held, Stale};
pub use driver::{Cleanliness, Driver, GrantedDevice, Listing, LogRequest, Observed, Order, Session, SessionControl, Wake};
pub use failure::Failure;
pub use reconcile::{Action, reconcile};
pub use uplink::{Uplink, UplinkError};
