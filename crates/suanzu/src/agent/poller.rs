//! The long poll on a thread of its own, so that steps and reports go on meanwhile.

use backon::{BackoffBuilder, ExponentialBuilder};
use drivers::{Uplink, UplinkError};
use protocol::{Changes, Poll};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

/// How long the server may hold a poll: under the minute after which many proxies cut a silent connection.
const WAIT: Duration = Duration::from_secs(30);
/// Longest pause between tries while the server does not answer.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What wakes the agent's loop.
pub enum Note {
    /// The answer to a poll, and in which stay with the server it was asked.
    Answer(u64, Result<Changes, UplinkError>),
    /// It is to end.
    Stop,
}

/// Pauses between tries: from a fifth of a second, doubling, with jitter so that a fleet does not come back as one.
pub fn pauses() -> impl Iterator<Item = Duration> {
    let pauses = ExponentialBuilder::default().with_min_delay(Duration::from_millis(200)).with_max_delay(LONGEST_PAUSE);
    pauses.with_factor(2.0).without_max_times().with_jitter().build()
}

/// Asks one question at a time.
pub struct Poller {
    questions: Sender<Poll>,
    /// Nobody waits for answers any more.
    left: Arc<AtomicBool>,
}

impl Poller {
    /// A poller of one stay, whose answers go to `notes`. It ends when it is dropped, after the poll that is under way.
    pub fn start(uplink: Arc<dyn Uplink>, stay: u64, notes: Sender<Note>) -> Poller {
        let (questions, asked) = mpsc::channel::<Poll>();
        let left = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&left);
        thread::spawn(move || {
            let mut paused = pauses();
            for poll in asked {
                let answer = uplink.poll(&poll, WAIT);
                if over.load(Relaxed) {
                    return;
                }
                match &answer {
                    Ok(_) => paused = pauses(),
                    Err(error) => {
                        tracing::warn!(agent = %poll.agent, %error, "a poll failed");
                        thread::sleep(paused.next().unwrap_or(LONGEST_PAUSE));
                    }
                }
                if notes.send(Note::Answer(stay, answer)).is_err() {
                    return;
                }
            }
        });
        Poller { questions, left }
    }

    /// Asks; the answer comes as a note.
    pub fn ask(&self, poll: Poll) {
        // The thread outlives this handle, so the question is always taken.
        let _ = self.questions.send(poll);
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.left.store(true, Relaxed);
    }
}
