//! The writer's thread and the handle that everybody else has of it.

use crate::{
    Answer, Clock, Directory, Engine, Idempotency, Image, Liveness, Rejected, Snapshots, Submission, published::Published,
};
use journal::{Failure, Head, Keys, Reader};
use rental::{Command, Event, Refusal, State};
use std::{
    io, process,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::sync::{oneshot, watch};
use units::{KeyId, Time};

/// Submissions that one batch takes at most: an append of so many lasts a few milliseconds, which bounds everybody's wait.
const MAX_BATCH: usize = 512;
/// Wishes that may wait for the writer. Beyond it, the sender waits.
const QUEUE: usize = 8192;
/// Longest sleep: silence of agents is looked at so often.
const MAX_SLEEP_MS: i64 = 1000;
/// A checkpoint is signed at least so often while entries come in.
const CHECKPOINT_MS: i64 = 60_000;
/// Idempotency keys are remembered for 30 days.
const REMEMBER_MS: i64 = 30 * 24 * 3_600_000;

/// What the writer's thread needs beside the engine.
pub struct Settings {
    /// Where snapshots go; `None`: none are written.
    pub snapshots: Option<Snapshots>,
    /// A reader of the same journal, for the directory and for whoever proves.
    pub reader: Reader,
    /// The clock of bills.
    pub clock: Clock,
}

/// The writer has ended.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the writer has ended")]
pub struct Stopped;

/// A way to the writer. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    published: Arc<Published>,
    wishes: mpsc::SyncSender<Job>,
    reader: Arc<Mutex<Reader>>,
    keys: Arc<Keys>,
    clock: Clock,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

enum Job {
    Submit(Box<Submission>, oneshot::Sender<Result<Answer, Rejected>>),
    FirstAnswer(Idempotency, oneshot::Sender<Result<Option<Answer>, Rejected>>),
    Checkpoint(oneshot::Sender<Result<String, Failure>>),
    End,
}

impl Handle {
    /// Starts the writer's thread.
    pub fn spawn(engine: Engine, settings: Settings) -> Handle {
        let (wishes, jobs) = mpsc::sync_channel(QUEUE);
        let published = engine.published();
        let keys = Arc::new(engine.keys().clone());
        let clock = settings.clock.not_before(engine.state().time);
        let reader = Arc::new(Mutex::new(settings.reader));
        let (snapshots, own) = (settings.snapshots, Arc::clone(&reader));
        let writer = Writer { engine, jobs, clock, snapshots, reader: own, last: Last::default() };
        let thread = thread::Builder::new().name("writer".into()).spawn(move || writer.run());
        let thread = thread.expect("the operating system gives us one thread");
        Handle { published, wishes, reader, keys, clock, thread: Arc::new(Mutex::new(Some(thread))) }
    }

    /// Submits a wish; the answer comes once it is durable.
    pub async fn submit(&self, submission: Submission) -> Result<Answer, Rejected> {
        self.send(submission)?.await.unwrap_or_else(|_| Err(ended()))
    }

    /// The same for callers without a runtime.
    pub fn submit_blocking(&self, submission: Submission) -> Result<Answer, Rejected> {
        self.send(submission)?.blocking_recv().unwrap_or_else(|_| Err(ended()))
    }

    /// What a request led to that came before under the same key; `None` if it is new. Submitting it again answers the same:
    /// this is for who would refuse it before that.
    pub async fn first_answer(&self, asked: Idempotency) -> Result<Option<Answer>, Rejected> {
        let (answer, later) = oneshot::channel();
        self.wishes.send(Job::FirstAnswer(asked, answer)).map_err(|_| ended())?;
        later.await.unwrap_or_else(|_| Err(ended()))
    }

    fn send(&self, submission: Submission) -> Result<oneshot::Receiver<Result<Answer, Rejected>>, Rejected> {
        let (answer, later) = oneshot::channel();
        self.wishes.send(Job::Submit(Box::new(submission), answer)).map_err(|_| ended())?;
        Ok(later)
    }

    /// Reads the durable state. Keep it short: the writer waits for it when it publishes.
    pub fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.published.state())
    }

    /// What a wish would lead to now; nothing is written.
    pub fn preview(&self, command: &Command) -> Result<Vec<Event>, Refusal> {
        Engine::preview(&self.published.state(), self.clock.now(), command)
    }

    /// The key that a secret of this hash opens.
    pub fn authenticate(&self, hash: &[u8; 32]) -> Option<KeyId> {
        self.published.secret(hash)
    }

    /// Last signs of life.
    pub fn liveness<T>(&self, look: impl FnOnce(&mut Liveness) -> T) -> T {
        look(&mut self.published.liveness())
    }

    /// Reads the directory and the journal.
    pub fn with_reader<T>(&self, look: impl FnOnce(&Reader) -> T) -> T {
        // A reader that panicked has changed nothing.
        look(&self.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the directory.
    pub fn directory<T>(&self, look: impl FnOnce(&Directory<'_>) -> T) -> T {
        self.with_reader(|reader| look(&Directory(reader)))
    }

    /// The time of bills.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The clock of bills.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The log's keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Where the durable log ends.
    pub fn head(&self) -> Head {
        *self.published.head.borrow()
    }

    /// Follows where the durable log ends.
    pub fn follow(&self) -> watch::Receiver<Head> {
        self.published.head.subscribe()
    }

    /// What is shared with the writer.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published)
    }

    /// Why nothing can be written now, if so: for good, or until there is room on the disk again.
    pub fn stopped(&self) -> Option<String> {
        self.published.stopped()
    }

    /// Signs where the log ends now.
    pub async fn checkpoint(&self) -> Result<String, Rejected> {
        let (answer, later) = oneshot::channel();
        self.wishes.send(Job::Checkpoint(answer)).map_err(|_| ended())?;
        later.await.map_err(|_| ended())?.map_err(|failure| Rejected::Stopped(failure.to_string()))
    }

    /// Ends the writer after what was submitted before; keeps a checkpoint and a snapshot.
    pub fn shut_down(&self) {
        let _ = self.wishes.send(Job::End);
        let thread = self.thread.lock().expect("nobody panics while taking the thread").take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn ended() -> Rejected {
    Rejected::Stopped(Stopped.to_string())
}

struct Writer {
    engine: Engine,
    jobs: mpsc::Receiver<Job>,
    clock: Clock,
    snapshots: Option<Snapshots>,
    reader: Arc<Mutex<Reader>>,
    last: Last,
}

/// When housekeeping was last done.
#[derive(Default)]
struct Last {
    checkpoint: Time,
    checkpoint_size: u64,
    prune: Time,
    snapshot_seq: u64,
}

/// However the writer's thread ends, everybody is told. After a panic it is not known what holds: the process ends, and whoever
/// watches over it starts it anew.
struct Farewell(Arc<Published>);

impl Drop for Farewell {
    fn drop(&mut self) {
        if thread::panicking() {
            process::abort();
        }
        self.0.stop(Some(Stopped.to_string()));
    }
}

impl Writer {
    fn run(mut self) {
        let _farewell = Farewell(self.engine.published());
        self.last.snapshot_seq = self.engine.head().size;
        loop {
            let jobs = self.gather();
            let end = self.batch(jobs);
            self.keep_house(end);
            if end {
                return;
            }
        }
    }

    /// Waits for a wish or for time, then takes what else has come.
    fn gather(&self) -> Vec<Job> {
        let now = self.clock.now();
        let wait = self.engine.next_wakeup(now).map_or(MAX_SLEEP_MS, |at| at.since(now).clamp(0, MAX_SLEEP_MS));
        match self.jobs.recv_timeout(Duration::from_millis(wait.unsigned_abs())) {
            Ok(first) => std::iter::once(first).chain(self.jobs.try_iter().take(MAX_BATCH - 1)).collect(),
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => vec![Job::End],
        }
    }

    /// Decides all, appends once, answers all. Returns whether this was the last batch.
    fn batch(&mut self, jobs: Vec<Job>) -> bool {
        let now = self.clock.now();
        let mut answers = Vec::with_capacity(jobs.len());
        let (mut asked, mut checkpoints) = (Vec::new(), Vec::new());
        let mut end = false;
        for job in jobs {
            match job {
                Job::Submit(submission, to) => answers.push((to, self.engine.submit(now, *submission))),
                Job::FirstAnswer(key, to) => asked.push((to, key)),
                Job::Checkpoint(to) => checkpoints.push(to),
                Job::End => end = true,
            }
        }
        self.engine.tick(now);
        let committed = self.engine.commit();
        if let Err(failure) = &committed {
            tracing::error!(%failure, "an append failed");
        }
        for (to, answer) in answers {
            let answer = match (&committed, answer) {
                // Nothing decided in this batch may be believed, a refusal neither: it may rest on what was lost.
                (Err(failure), _) => Err(Rejected::Stopped(failure.to_string())),
                (Ok(_), answer) => answer,
            };
            let _ = to.send(answer);
        }
        // Of what is durable only, that of this batch too.
        for (to, key) in asked {
            let _ = to.send(self.engine.first_answer(&key));
        }
        for to in checkpoints {
            let _ = to.send(self.engine.checkpoint());
        }
        end
    }

    fn keep_house(&mut self, end: bool) {
        let (now, head) = (self.clock.now(), self.engine.head());
        if head.size > self.last.checkpoint_size && (end || now.since(self.last.checkpoint) >= CHECKPOINT_MS) {
            (self.last.checkpoint, self.last.checkpoint_size) = (now, head.size);
            warn_of(self.engine.checkpoint());
        }
        if now.since(self.last.prune) >= units::HOUR_MS {
            self.last.prune = now;
            warn_of(self.engine.prune_repeats(now.plus_ms(-REMEMBER_MS)));
        }
        let due = head.size - self.last.snapshot_seq >= Snapshots::INTERVAL;
        if let Some(snapshots) = self.snapshots.clone().filter(|_| due || (end && head.size > self.last.snapshot_seq)) {
            self.last.snapshot_seq = head.size;
            let (published, reader) = (self.engine.published(), Arc::clone(&self.reader));
            // Taking the image stalls the writer for milliseconds; writing the file would stall it for longer.
            let saving = thread::spawn(move || {
                let image = Image::of(&published.state());
                // A connection of its own: others read while the file is written.
                let journal = reader.lock().unwrap_or_else(PoisonError::into_inner).try_clone().map_err(io::Error::other);
                warn_of(image.and_then(|image| snapshots.save(&image, &journal?)));
            });
            if end {
                let _ = saving.join();
            }
        }
    }
}

fn warn_of<T, E: std::fmt::Display>(result: Result<T, E>) {
    if let Err(failure) = result {
        tracing::warn!(%failure, "housekeeping failed");
    }
}
