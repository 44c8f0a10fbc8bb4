//! The HTTP surface against a real engine on SQLite. One file per resource, as the routes.

mod world;

mod leases;
