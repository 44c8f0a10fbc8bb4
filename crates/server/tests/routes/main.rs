//! The HTTP surface against a real engine on SQLite. One file per resource, as the routes.

mod world;

mod access;
mod agent;
mod bad_input;
mod events;
mod leases;
mod openapi;
mod usage;
mod wallet;
