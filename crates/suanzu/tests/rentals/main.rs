//! The real binary, from the command line to the process tables of the operating system and back.

mod agent;
mod bill;
mod container;
mod demo;
mod os;
mod process;
mod prompt;
mod receipt;
mod refusals;
mod tls;
mod world;
