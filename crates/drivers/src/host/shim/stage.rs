//! The stage: the process that becomes a workload or a command beside one.
//!
//! It is started as the user it shall be, waits until it has been put into its control groups and is told its job,
//! makes a session of its own, and then replaces itself. Why that failed goes back the way the job came.

use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{Command, ExitCode},
};

/// What a shell answers when it cannot run a command.
const CANNOT_RUN: u8 = 127;

/// What to become.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) argv: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) folder: PathBuf,
    pub(crate) stdin: Stdin,
    /// Its parent, whose death is to be its own; `None` where it outlives it.
    pub(crate) dies_with: Option<i32>,
}

/// Where its input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stdin {
    /// From nowhere.
    Null,
    /// From what follows the job.
    Given,
    /// From this terminal, which also takes its output.
    Terminal(PathBuf),
}

/// Tells a stage its job through the other end of its standard input.
pub(crate) fn hand_over(mut to: &UnixStream, job: &Job) -> io::Result<()> {
    let bytes = serde_json::to_vec(job)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(&bytes)
}

/// Runs as a stage. Returns only where it could not become what it should.
pub(super) fn run() -> ExitCode {
    let channel = match take_channel() {
        Ok(channel) => channel,
        Err(error) => return failed(None, &format!("take the job: {error}")),
    };
    let job = match receive(&channel) {
        Ok(job) => job,
        Err(error) => return failed(Some(channel), &format!("read the job: {error}")),
    };
    let error = match prepare(&job) {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    };
    let program = job.argv.first().map_or("", String::as_str);
    failed(Some(channel), &format!("run '{program}': {error}"))
}

fn failed(channel: Option<UnixStream>, reason: &str) -> ExitCode {
    eprintln!("{reason}");
    if let Some(mut channel) = channel {
        // Whoever gave the job may be gone; then the exit code has to do.
        let _ = channel.write_all(reason.as_bytes());
    }
    ExitCode::from(CANNOT_RUN)
}

/// Standard input as a socket, on a descriptor that closes when the stage becomes something else.
fn take_channel() -> io::Result<UnixStream> {
    let own: OwnedFd = rustix::io::fcntl_dupfd_cloexec(io::stdin().as_fd(), 3)?;
    Ok(UnixStream::from(own))
}

fn receive(mut channel: &UnixStream) -> io::Result<Job> {
    let mut length = [0; 4];
    channel.read_exact(&mut length)?;
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    channel.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn prepare(job: &Job) -> io::Result<Command> {
    setsid()?;
    if let Some(parent) = job.dies_with {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have died before the line above.
        if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
            return Err(io::Error::other("its shim is dead"));
        }
    }
    match &job.stdin {
        Stdin::Null => rustix::stdio::dup2_stdin(File::open("/dev/null")?)?,
        Stdin::Given => {}
        Stdin::Terminal(path) => {
            // The first terminal that the leader of a new session opens becomes the session's.
            let terminal = OpenOptions::new().read(true).write(true).open(path)?;
            rustix::stdio::dup2_stdin(&terminal)?;
            rustix::stdio::dup2_stdout(&terminal)?;
            rustix::stdio::dup2_stderr(&terminal)?;
        }
    }
    let (program, arguments) = job.argv.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(&job.env).current_dir(&job.folder);
    Ok(command)
}
