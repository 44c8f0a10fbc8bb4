//! `suanzu completions`: what a shell needs to complete words.

use crate::{app::Done, cli::Cli};
use clap::CommandFactory;
use clap_complete::Shell;
use std::process::ExitCode;

/// For which shell.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Carries it out.
pub fn run(args: &Args) -> Done {
    clap_complete::generate(args.shell, &mut Cli::command(), "suanzu", &mut std::io::stdout());
    Ok(ExitCode::SUCCESS)
}
