//! Sessions that a poll names: dialled once, and joined with what the driver opens.

use crate::client::{
    Target,
    socket::{Ask, Socket, Told, dial},
};
use drivers::{Driver, LogRequest, Session, SessionControl};
use futures_util::{SinkExt, StreamExt};
use protocol::{SessionKind, SessionOpen};
use std::{
    io::{Read, Write},
    sync::mpsc as blocking,
    thread,
};
use tokio::{runtime::Handle, sync::mpsc};
use tokio_tungstenite::tungstenite::Message;

/// Where sessions are dialled, and what runs them.
#[derive(Clone)]
pub struct Sessions {
    /// The server, with the agent's key.
    pub target: Target,
    /// Sessions are tasks on it.
    pub runtime: Handle,
}

/// What is behind a session.
enum Opened {
    Reader(Box<dyn Read + Send>),
    Command(Session),
    Nothing(String),
}

impl Sessions {
    /// Opens a session at the driver, and dials. The driver is borrowed only for the opening.
    ///
    /// Output that is not there yet is worth waiting for: then the session is given back while `patient`.
    pub fn open(&self, session: SessionOpen, driver: &mut dyn Driver, patient: bool) -> Option<SessionOpen> {
        let opened = match &session.kind {
            SessionKind::Exec { argv, tty } => driver.exec(session.instance, argv, *tty).map(Opened::Command),
            SessionKind::Logs { follow, tail } => {
                driver.logs(session.instance, LogRequest { follow: *follow, tail: *tail }).map(Opened::Reader)
            }
        };
        let is_output = matches!(session.kind, SessionKind::Logs { .. });
        let opened = match opened {
            Err(_) if patient && is_output => return Some(session),
            Err(failure) if is_output => {
                tracing::warn!(instance = %session.instance, %failure, "its output cannot be read");
                Opened::Reader(Box::new(std::io::empty()))
            }
            Err(failure) => Opened::Nothing(failure.to_string()),
            Ok(opened) => opened,
        };
        let target = self.target.clone();
        self.runtime.spawn(async move {
            let path = format!("/v1/agent/sessions/{}", session.id);
            match dial(&target, &path).await {
                Ok(socket) => serve(socket, opened).await,
                // Whoever wanted it has left, or the server is gone: they ask again.
                Err(failure) => tracing::warn!(instance = %session.instance, %failure, "a session was not dialled"),
            }
        });
        None
    }
}

async fn serve(mut socket: Socket, opened: Opened) {
    let told = match opened {
        Opened::Nothing(why) => Told::Failed(why),
        Opened::Reader(reader) => {
            let mut output = chunks(reader);
            show(&mut socket, &mut output, None).await;
            // Output ends without a word: whatever is said here would stand in it.
            let _ = socket.close(None).await;
            return;
        }
        Opened::Command(Session { input, output, control }) => {
            let (typed, inputs) = blocking::channel();
            let feeding = thread::spawn(move || feed(input, control, &inputs));
            let mut output = chunks(output);
            show(&mut socket, &mut output, Some(&typed)).await;
            drop(typed);
            tokio::task::spawn_blocking(move || ended(feeding)).await.unwrap_or_else(|_| Told::Failed("the session broke".into()))
        }
    };
    let text = serde_json::to_string(&told).expect("how a session ended is plain data");
    // The other side may have left first.
    let _ = socket.send(Message::text(text)).await;
    let _ = socket.close(None).await;
}

fn ended(feeding: thread::JoinHandle<Box<dyn SessionControl>>) -> Told {
    let Ok(mut control) = feeding.join() else { return Told::Failed("the session broke".into()) };
    match control.wait() {
        Ok(code) => Told::Exit(code),
        Err(failure) => Told::Failed(failure.to_string()),
    }
}

/// What a command's feeding thread is told.
enum Input {
    Bytes(Vec<u8>),
    Asked(Ask),
}

/// Shows output until there is no more, or nobody looks; hands on what is typed.
async fn show(socket: &mut Socket, output: &mut mpsc::Receiver<Vec<u8>>, typed: Option<&blocking::Sender<Input>>) {
    loop {
        tokio::select! {
            chunk = output.recv() => match chunk {
                None => return,
                Some(bytes) => if socket.send(Message::binary(bytes)).await.is_err() { return },
            },
            message = socket.next() => {
                let input = match message {
                    Some(Ok(Message::Binary(bytes))) => Some(Input::Bytes(bytes.to_vec())),
                    Some(Ok(Message::Text(text))) => serde_json::from_str(&text).ok().map(Input::Asked),
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => None,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                };
                if let (Some(typed), Some(input)) = (typed, input) {
                    // A command that reads no more has ended or soon will.
                    let _ = typed.send(input);
                }
            }
        }
    }
}

/// Feeds a command until there is no more input, and gives its control back.
fn feed(
    input: Box<dyn Write + Send>,
    mut control: Box<dyn SessionControl>,
    inputs: &blocking::Receiver<Input>,
) -> Box<dyn SessionControl> {
    let mut input = Some(input);
    for given in inputs {
        match given {
            Input::Bytes(bytes) => {
                let written = input.as_mut().map(|input| input.write_all(&bytes).and_then(|()| input.flush()));
                if matches!(written, Some(Err(_))) {
                    input = None;
                }
            }
            Input::Asked(Ask::Resize { columns, rows }) => {
                // A session without a terminal has no size.
                let _ = control.resize(columns, rows);
            }
            Input::Asked(Ask::Eof(_)) => input = None,
        }
    }
    control
}

/// What a blocking reader gives, as it comes. Its thread ends with it, or when nobody takes the chunks any more.
fn chunks(mut reader: Box<dyn Read + Send>) -> mpsc::Receiver<Vec<u8>> {
    let (send, chunks) = mpsc::channel(16);
    thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            if send.blocking_send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    chunks
}
