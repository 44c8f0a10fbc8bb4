//! The shim alone, for tests; users get it as a hidden subcommand of the one binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    drivers::host::shim_main(std::env::args_os().skip(1).collect())
}
