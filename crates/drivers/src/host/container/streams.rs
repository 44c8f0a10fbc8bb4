//! The engine's asynchronous streams as blocking ones: output, sessions.

use super::engine::{Engine, failing};
use crate::{Failure, LogRequest, Session, SessionControl};
use bollard::{
    Docker,
    container::LogOutput,
    errors::Error,
    exec::{CreateExecOptions, ResizeExecOptions, StartExecOptions, StartExecResults},
    query_parameters::LogsOptions,
};
use futures_util::{Stream, StreamExt};
use std::{
    io::{self, Read, Write},
    pin::Pin,
    sync::mpsc::{self, Receiver},
    time::Duration,
};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    runtime::Handle,
};

/// Pieces of output that may wait for a slow reader before the engine has to.
const PIECES: usize = 64;

/// Between two questions whether a command has ended, after its output has.
const ENDED_EVERY: Duration = Duration::from_millis(20);

/// Opens the kept output of a container.
pub(super) fn logs(engine: &Engine, name: &str, request: LogRequest) -> Box<dyn Read + Send> {
    let options = LogsOptions {
        follow: request.follow,
        stdout: true,
        stderr: true,
        tail: request.tail.map_or("all".into(), |lines| lines.to_string()),
        ..LogsOptions::default()
    };
    let docker = engine.docker().clone();
    let name = name.to_owned();
    let stream = async_stream(move || docker.logs(&name, Some(options)));
    Box::new(blocking(engine.handle(), stream))
}

type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, Error>> + Send>>;

fn async_stream<S: Stream<Item = Result<LogOutput, Error>> + Send + 'static>(open: impl FnOnce() -> S) -> Output {
    Box::pin(open())
}

/// Runs a command in a container.
pub(super) fn exec(engine: &Engine, name: &str, argv: &[String], tty: bool) -> Result<Session, Failure> {
    let options = CreateExecOptions::<String> {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(tty),
        cmd: Some(argv.to_vec()),
        ..CreateExecOptions::default()
    };
    let id = engine.ask("run a command", engine.docker().create_exec(name, options))?.id;
    let start = StartExecOptions { tty, ..StartExecOptions::default() };
    match engine.ask("run a command", engine.docker().start_exec(&id, Some(start)))? {
        StartExecResults::Detached => Err(Failure::lasting("run a command", "the engine ran it detached")),
        StartExecResults::Attached { output, input } => Ok(Session {
            input: Box::new(Input { to: input, handle: engine.handle().clone() }),
            output: Box::new(blocking(engine.handle(), output)),
            control: Box::new(Control { docker: engine.docker().clone(), handle: engine.handle().clone(), id, tty }),
        }),
    }
}

fn blocking(handle: &Handle, mut stream: Output) -> Pieces {
    let (sender, receiver) = mpsc::sync_channel(PIECES);
    handle.spawn(async move {
        while let Some(piece) = stream.next().await {
            let piece = piece.map(|output| output.into_bytes().to_vec()).map_err(io::Error::other);
            // A reader that does not keep up must not hold the runtime: its pieces wait on a thread for that.
            let sender = sender.clone();
            let sent = tokio::task::spawn_blocking(move || sender.send(piece).is_ok()).await;
            if !sent.unwrap_or(false) {
                return;
            }
        }
    });
    Pieces { receiver, current: Vec::new(), read: 0 }
}

struct Pieces {
    receiver: Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    read: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.current.len() {
            match self.receiver.recv() {
                Ok(piece) => (self.current, self.read) = (piece?, 0),
                Err(_) => return Ok(0),
            }
        }
        let length = (&self.current[self.read..]).read(buffer)?;
        self.read += length;
        Ok(length)
    }
}

struct Input {
    to: Pin<Box<dyn AsyncWrite + Send>>,
    handle: Handle,
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.handle.block_on(self.to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.handle.block_on(self.to.flush())
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // The command sees the end of its input; it may have ended before.
        let _ = self.handle.block_on(self.to.shutdown());
    }
}

struct Control {
    docker: Docker,
    handle: Handle,
    id: String,
    tty: bool,
}

impl SessionControl for Control {
    fn resize(&mut self, columns: u16, rows: u16) -> Result<(), Failure> {
        if !self.tty {
            return Ok(());
        }
        let size = ResizeExecOptions { height: rows, width: columns };
        self.handle.block_on(self.docker.resize_exec(&self.id, size)).map_err(failing("resize the terminal"))
    }

    fn wait(&mut self) -> Result<i32, Failure> {
        let ended = async {
            loop {
                let command = self.docker.inspect_exec(&self.id).await?;
                if command.running != Some(true) {
                    return Ok(command.exit_code.and_then(|code| i32::try_from(code).ok()).unwrap_or(-1));
                }
                tokio::time::sleep(ENDED_EVERY).await;
            }
        };
        self.handle.block_on(ended).map_err(failing("wait for the command"))
    }
}
