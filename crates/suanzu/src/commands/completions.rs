//! `suanzu completions`: what a shell needs to complete words.

use crate::{
    app::{App, Done},
    cli::Cli,
};
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
pub fn run(args: &Args, app: &App) -> Done {
    // Written at once: the generator panics where its reader leaves early, as `head` does.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "suanzu", &mut script);
    app.screen.write(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
