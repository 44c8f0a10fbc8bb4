//! Commands beside a process workload: in its control groups, with its environment, with or without a terminal.

use super::{
    cgroups,
    folder::{Folder, ShimOrder},
    shim::{Job, ShimCommand, Stdin, hand_over},
};
use crate::{Failure, Session, SessionControl};
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    os::{
        fd::OwnedFd,
        unix::{
            ffi::OsStringExt,
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    path::PathBuf,
    process::Child,
};

/// Starts a command beside a workload.
pub(super) fn open(shim: &ShimCommand, folder: &Folder, argv: &[String], tty: bool) -> Result<Session, Failure> {
    let order: ShimOrder = folder.order()?.ok_or_else(|| Failure::lasting("run a command", "there is no such workload"))?;
    let failed = |source| Failure::passing("run a command", source);
    let terminal = if tty { Some(Terminal::open().map_err(failed)?) } else { None };
    start(shim, folder, &order, argv, terminal).map_err(failed)
}

fn start(
    shim: &ShimCommand,
    folder: &Folder,
    order: &ShimOrder,
    argv: &[String],
    terminal: Option<Terminal>,
) -> io::Result<Session> {
    let (channel, theirs) = UnixStream::pair()?;
    let (output, writer) = io::pipe()?;
    let mut stage = shim.command("stage");
    stage.env_clear().stdin(OwnedFd::from(theirs)).stdout(writer.try_clone()?).stderr(writer);
    if let Some((user, group)) = order.run_as {
        stage.gid(group).uid(user);
    }
    let child = Running(stage.spawn()?);
    drop(stage);
    cgroups::attach(&order.cgroups, i32::try_from(child.0.id()).map_err(io::Error::other)?)?;
    let stdin = terminal.as_ref().map_or(Stdin::Given, |terminal| Stdin::Terminal(terminal.path.clone()));
    let mut env = order.env.clone();
    if terminal.is_some() {
        env.entry("TERM".into()).or_insert_with(|| "xterm-256color".into());
    }
    hand_over(&channel, &Job { argv: argv.to_vec(), env, folder: folder.work(), stdin, dies_with: None })?;
    match terminal {
        None => Ok(Session {
            input: Box::new(channel),
            output: Box::new(output),
            control: Box::new(Control { child, terminal: None }),
        }),
        Some(terminal) => {
            let screen = terminal.master.try_clone()?;
            Ok(Session {
                input: Box::new(terminal.master.try_clone()?),
                // The pipe holds only why the command could not be started.
                output: Box::new(Screen(screen).chain(output)),
                control: Box::new(Control { child, terminal: Some(terminal) }),
            })
        }
    }
}

struct Terminal {
    master: File,
    path: PathBuf,
}

impl Terminal {
    fn open() -> io::Result<Terminal> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = PathBuf::from(OsString::from_vec(ptsname(&master, Vec::new())?.into_bytes()));
        Ok(Terminal { master: File::from(master), path })
    }
}

/// A terminal's screen; that its last user has gone is the end and no error.
struct Screen(File);

impl Read for Screen {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => Ok(0),
            other => other,
        }
    }
}

/// The command; it ends with its session.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Control {
    child: Running,
    terminal: Option<Terminal>,
}

impl SessionControl for Control {
    fn resize(&mut self, columns: u16, rows: u16) -> Result<(), Failure> {
        let Some(terminal) = &self.terminal else { return Ok(()) };
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal.master, size).map_err(|source| Failure::passing("resize the terminal", io::Error::from(source)))
    }

    fn wait(&mut self) -> Result<i32, Failure> {
        let status = self.child.0.wait().map_err(|source| Failure::passing("wait for the command", source))?;
        Ok(status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1))
    }
}
