//! A server from a data folder: journal, engine, views, agents of its own, HTTP.

mod address;
mod agents;
mod config;
mod first_key;
mod open;
mod server;

pub use address::listening;
pub use agents::leases_run_as_root;
pub use config::{Config, Simulated};
pub use open::open;
pub use server::Server;
