//! `suanzu lease exec`: a command beside the workload, with this terminal as its own.

use super::lease::Which;
use crate::{
    app::{App, Done},
    client::{
        Call,
        socket::{Ask, Socket, Told, dial},
    },
    failure::Failure,
};
use anyhow::{Context as _, anyhow};
use futures_util::{SinkExt, StreamExt, stream::SplitSink};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use serde_json::json;
use std::{
    io::{IsTerminal, Read, Write},
    process::ExitCode,
    thread,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};
use tokio_tungstenite::tungstenite::Message;

/// What to run.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Give it a terminal, even if this is none
    #[arg(short, long)]
    tty: bool,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<String>,
}

/// Carries it out.
pub fn run(args: &Args, app: &App) -> Done {
    let tty = args.tty || (std::io::stdin().is_terminal() && std::io::stdout().is_terminal());
    let call = Call::get(args.which.path("/exec"));
    let command = json!({ "argv": args.argv, "tty": tty });
    if app.client.only_shows() {
        return app.send(call).map(|_| ExitCode::SUCCESS);
    }
    let target = app.client.target();
    let path = call.url("");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let mut socket = dial(target, &path).await?;
        socket.send(Message::text(command.to_string())).await.context("the session broke off")?;
        let _raw = tty.then(Raw::enter).flatten();
        splice(socket, tty).await
    })?;
    // Only the last eight bits of a code reach a parent (POSIX, exit).
    Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(u8::MAX)))
}

async fn splice(socket: Socket, tty: bool) -> Result<i32, Failure> {
    let (mut ours, mut theirs) = socket.split();
    let mut input = typed();
    let mut resized = signal(SignalKind::window_change())?;
    if tty {
        say_size(&mut ours).await?;
    }
    let mut open = true;
    loop {
        tokio::select! {
            message = theirs.next() => match message.transpose().context("the session broke off")? {
                Some(Message::Binary(bytes)) => show(&bytes)?,
                Some(Message::Text(text)) => return told(&text),
                Some(Message::Close(Some(close))) if !close.reason.is_empty() => {
                    return Err(Failure::Other(anyhow!("{}", close.reason)));
                }
                Some(_) => {}
                None => return Err(Failure::Other(anyhow!("the session broke off"))),
            },
            bytes = input.recv(), if open => match bytes {
                Some(bytes) => send(&mut ours, Message::binary(bytes)).await?,
                None => {
                    open = false;
                    send(&mut ours, ask(Ask::Eof(true))?).await?;
                }
            },
            _ = resized.recv(), if tty => say_size(&mut ours).await?,
        }
    }
}

type Ours = SplitSink<Socket, Message>;

async fn send(ours: &mut Ours, message: Message) -> Result<(), Failure> {
    Ok(ours.send(message).await.context("the session broke off")?)
}

fn ask(ask: Ask) -> Result<Message, Failure> {
    Ok(Message::text(serde_json::to_string(&ask).context("writing a message")?))
}

async fn say_size(ours: &mut Ours) -> Result<(), Failure> {
    match tcgetwinsize(std::io::stdout()) {
        Ok(size) => send(ours, ask(Ask::Resize { columns: size.ws_col, rows: size.ws_row })?).await,
        Err(_) => Ok(()),
    }
}

fn told(text: &str) -> Result<i32, Failure> {
    match serde_json::from_str(text).context("the session ended strangely")? {
        Told::Exit(code) => Ok(code),
        Told::Failed(why) => Err(Failure::Other(anyhow!(why))),
    }
}

fn show(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// What is typed, as it comes. The thread stays behind in its last read and ends with the process.
fn typed() -> mpsc::Receiver<Vec<u8>> {
    let (send, input) = mpsc::channel(16);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = std::io::stdin().lock().read(&mut buffer) {
            if send.blocking_send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    input
}

/// The terminal hands keys on as they are, until this is dropped.
struct Raw(Termios);

impl Raw {
    fn enter() -> Option<Raw> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw).ok()?;
        Some(Raw(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
