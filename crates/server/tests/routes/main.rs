//! The HTTP surface against a real engine on SQLite. One file per resource, as the routes.

mod world;

mod access;
mod access_log;
mod agent;
mod bad_input;
mod events;
mod fleet;
mod lapse;
mod leases;
mod names;
mod openapi;
mod serve;
mod tenants;
mod usage;
mod wallet;
mod workload;
