//! Simulation with the production core: faults from a seed, recorded traces in compressed time, and measurements.
//!
//! Nothing is simulated but time, machines, lines and disks; the engine, the agents and the auditor are those that run
//! in production.

mod audit;
pub mod bench;
pub mod faults;
mod random;
pub mod replay;
mod world;
