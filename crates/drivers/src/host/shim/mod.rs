//! The shim: a small process of the same binary between the agent and one workload, that outlives the agent.
//!
//! It owns the workload's session, output, deadline and end, and writes down what became of it. Hidden subcommand;
//! [`shim_main`] is given what stands behind its name.

mod output;
mod run;
mod stage;
mod tree;
mod watch;

pub(crate) use output::rotated;
pub(crate) use run::LONGEST_SLEEP_MS;
pub(crate) use stage::{Job, Stdin, hand_over};
pub(crate) use tree::{kill, kill_leftovers};
pub(crate) use watch::WatchOrder;

use super::folder::Folder;
use crate::Failure;
use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    process::{Command, ExitCode},
};

/// The command whose `main` hands its arguments to [`shim_main`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimCommand {
    /// The binary.
    pub program: PathBuf,
    /// Its arguments before those of [`shim_main`].
    pub args: Vec<String>,
}

impl ShimCommand {
    /// This very binary, with a hidden subcommand `shim`.
    pub fn of_this_binary() -> io::Result<ShimCommand> {
        Ok(ShimCommand { program: std::env::current_exe()?, args: vec!["shim".into()] })
    }

    pub(crate) fn command(&self, role: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg(role);
        command
    }
}

/// Runs as a shim: `run FOLDER` for a process workload, `watch FOLDER` for a container, `stage` and `wait` as
/// parts of these.
pub fn shim_main(args: Vec<OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let role = args.next().unwrap_or_default();
    let folder = args.next().map(PathBuf::from).map(Folder::at);
    match (role.to_str(), folder) {
        (Some("run"), Some(folder)) => exit_code(run::run(folder)),
        (Some("watch"), Some(folder)) => exit_code(watch::run(&folder)),
        (Some("stage"), None) => stage::run(),
        (Some("wait"), None) => loop {
            std::thread::park();
        },
        _ => {
            eprintln!("this subcommand is for the agent's own use");
            ExitCode::from(2)
        }
    }
}

fn exit_code(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
