//! Measurements that need the whole binary: orders through HTTP, starts on this host. Those of the core are `simulator`'s.

mod disk;
pub mod orders;
pub mod start;
mod wire;
mod world;

use std::{ffi::OsString, process::ExitCode};

/// The hidden subcommand that is started anew to measure a restart: `bench-open with|without FOLDER`.
pub const OPEN: &str = "bench-open";

/// Opens a folder as `serve` does, and says so.
pub fn open(args: &[OsString]) -> ExitCode {
    let [flag, folder] = args else { return ExitCode::FAILURE };
    match simulator::bench::replay::open_and_say_ready(folder.as_ref(), flag == "with") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
