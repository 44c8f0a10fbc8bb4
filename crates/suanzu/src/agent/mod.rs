//! The shell around `drivers::Agent`: its thread, its long poll, its sessions. The same loop runs in a server's process and
//! on a machine of its own; only the [`drivers::Uplink`] differs.

mod host;
mod http;
mod local;
mod poller;
mod sessions;

pub use host::{Own, capabilities, host, node_name};
pub use http::Http;
pub use local::Local;
pub use poller::pauses;
pub use sessions::Sessions;

use drivers::{Driver, Failure, Pace, Uplink, UplinkError};
use engine::Clock;
use poller::{Note, Poller};
use protocol::{Changes, Join, Joined, SessionOpen};
use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use units::Time;

/// Makes the driver once the log's id is known.
pub type MakeDriver = Box<dyn Fn(&Joined) -> Result<Box<dyn Driver>, Failure> + Send>;

/// One agent before it runs.
pub struct Setup {
    /// A name for logs and the thread.
    pub name: &'static str,
    /// Which nodes it has.
    pub join: Join,
    /// What runs leases on them.
    pub driver: MakeDriver,
    /// Where sessions are dialled.
    pub sessions: Sessions,
}

/// An agent that runs on a thread of its own. Dropping it stops the agent; what it started runs on.
pub struct Agent {
    stop: Sender<Note>,
    thread: Option<JoinHandle<()>>,
}

impl Agent {
    /// Starts an agent.
    pub fn start(setup: Setup, uplink: Arc<dyn Uplink>) -> std::io::Result<Agent> {
        let (stop, notes) = mpsc::channel();
        let own = stop.clone();
        let thread = thread::Builder::new().name(format!("agent-{}", setup.name));
        let thread = thread.spawn(move || Loop { setup, uplink, notes, own, clock: Clock::start() }.run())?;
        Ok(Agent { stop, thread: Some(thread) })
    }

    /// Waits until it is stopped from elsewhere.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// A way to stop it from another thread.
    pub fn stopper(&self) -> impl Fn() + Send + 'static {
        let stop = self.stop.clone();
        move || {
            // An agent that has ended needs no stopping.
            let _ = stop.send(Note::Stop);
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stopper()();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Why one stay with the server ended.
enum Left {
    Stopped,
    /// The server no longer knows us as it did: we introduce ourselves again.
    Refused,
}

struct Loop {
    setup: Setup,
    uplink: Arc<dyn Uplink>,
    notes: Receiver<Note>,
    own: Sender<Note>,
    clock: Clock,
}

impl Loop {
    fn run(self) {
        let mut pauses = pauses();
        for stay in 0.. {
            let left = self.uplink.join(&self.setup.join).map_err(|error| error.to_string()).and_then(|joined| {
                tracing::info!(agent = self.setup.name, id = %joined.agent, nodes = joined.nodes.len(), "joined");
                (self.setup.driver)(&joined).map_err(|failure| failure.to_string()).map(|driver| (joined, driver))
            });
            match left {
                Ok((joined, driver)) => {
                    if let Left::Stopped = self.stay(stay, &joined, driver) {
                        return;
                    }
                }
                Err(why) => tracing::warn!(agent = self.setup.name, why, "cannot join yet"),
            }
            if self.stopped_within(pauses.next().unwrap_or(poller::LONGEST_PAUSE)) {
                return;
            }
        }
    }

    fn stopped_within(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        loop {
            match self.notes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Note::Stop) | Err(RecvTimeoutError::Disconnected) => return true,
                // The answer to a question of the stay before.
                Ok(Note::Answer(..)) => {}
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }

    /// Steps, reports and polls until it is stopped or refused.
    fn stay(&self, stay: u64, joined: &Joined, mut driver: Box<dyn Driver>) -> Left {
        let mut agent = drivers::Agent::new(&self.setup.join, joined, Pace::default());
        let poller = Poller::start(Arc::clone(&self.uplink), stay, self.own.clone());
        let mut reports = Reports::new();
        let mut waiting = Waiting::default();
        poller.ask(agent.poll(wall()));
        loop {
            if let Some(report) = agent.step(&mut *driver, self.clock.now()).filter(|_| reports.may_be_sent()) {
                match self.uplink.report(&report) {
                    Ok(()) => {
                        reports.sent();
                        agent.acknowledge(&report);
                    }
                    Err(error) => reports.failed(self.setup.name, &error),
                }
            }
            waiting.retry(&self.setup.sessions, &mut *driver);
            let now = self.clock.now();
            let longest = if waiting.is_empty() { LONGEST_SLEEP_MS } else { RETRY_MS };
            let wait = agent.next_step(&*driver, now).since(now).clamp(1, longest);
            match self.notes.recv_timeout(reports.at_least(Duration::from_millis(wait.unsigned_abs()))) {
                Ok(Note::Stop) | Err(RecvTimeoutError::Disconnected) => return Left::Stopped,
                Ok(Note::Answer(asked, _)) if asked != stay => {}
                Ok(Note::Answer(_, Ok(changes))) => {
                    waiting.add(self.take(changes, &mut agent));
                    poller.ask(agent.poll(wall()));
                }
                Ok(Note::Answer(_, Err(UplinkError::Refused(problem)))) if !problem.retryable => {
                    tracing::warn!(agent = self.setup.name, code = problem.code, detail = problem.detail, "refused");
                    return Left::Refused;
                }
                Ok(Note::Answer(_, Err(_))) => poller.ask(agent.poll(wall())),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Takes an answer in; gives the sessions that it names.
    fn take(&self, mut changes: Changes, agent: &mut drivers::Agent) -> Vec<SessionOpen> {
        let sessions = std::mem::take(&mut changes.sessions);
        if let Err(stale) = agent.apply(changes, self.clock.now()) {
            tracing::warn!(agent = self.setup.name, %stale, "an answer was passed over");
        }
        sessions
    }
}

/// A driver may say that nothing will change for ever; the server's answers wake us anyway.
const LONGEST_SLEEP_MS: i64 = 60_000;

/// A session may be asked for before its workload is there: it is tried again so often …
const RETRY_MS: i64 = 50;
/// … for so long. The server gives a dial ten seconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// Sessions that are not open yet.
#[derive(Default)]
struct Waiting(Vec<(SessionOpen, Instant)>);

impl Waiting {
    fn add(&mut self, sessions: Vec<SessionOpen>) {
        self.0.extend(sessions.into_iter().map(|session| (session, Instant::now())));
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn retry(&mut self, sessions: &Sessions, driver: &mut dyn Driver) {
        for (session, since) in std::mem::take(&mut self.0) {
            let left = sessions.open(session, driver, since.elapsed() < PATIENCE);
            self.0.extend(left.map(|session| (session, since)));
        }
    }
}

/// The machine's wall clock: only for measuring how far it is off.
fn wall() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}

/// When a report may be tried again.
struct Reports {
    pauses: Box<dyn Iterator<Item = Duration>>,
    not_before: Option<Instant>,
}

impl Reports {
    fn new() -> Reports {
        Reports { pauses: Box::new(pauses()), not_before: None }
    }

    fn may_be_sent(&self) -> bool {
        self.not_before.is_none_or(|at| Instant::now() >= at)
    }

    fn sent(&mut self) {
        if self.not_before.is_some() {
            *self = Reports::new();
        }
    }

    fn failed(&mut self, name: &str, error: &UplinkError) {
        tracing::warn!(agent = name, %error, "a report was not taken");
        self.not_before = Some(Instant::now() + self.pauses.next().unwrap_or(poller::LONGEST_PAUSE));
    }

    /// What is not taken is not looked for again and again.
    fn at_least(&self, wait: Duration) -> Duration {
        let left = self.not_before.map(|at| at.saturating_duration_since(Instant::now()));
        left.map_or(wait, |left| wait.max(left.min(Duration::from_secs(1))))
    }
}
