//! The thread that keeps the views behind the journal, and who waits for it.

use super::{Queries, Views, spoiled::is_spoiled};
use crate::{FoldError, Handle, published::Published};
use journal::{Failure, Head, Reader};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::sync::{Notify, watch};
use units::Time;

/// How long a fold that failed waits before it is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Between two folds while nobody waits for one: what comes together is written together, to each page once.
const PACE: Duration = Duration::from_millis(20);
/// Connections that are kept for the next who asks; more are opened when more ask at once.
const KEPT: usize = 16;

/// How far the views are behind the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lag {
    /// Entries that are not folded.
    pub entries: u64,
    /// Milliseconds between the last folded entry and the last one of the journal.
    pub ms: i64,
}

/// Folds behind the journal until it is dropped or the writer ends. Cheap to clone.
#[derive(Clone)]
pub struct Follower {
    shared: Arc<Shared>,
    // Declared last: the thread is joined when the last clone goes.
    _thread: Arc<Thread>,
}

struct Shared {
    path: PathBuf,
    head: watch::Receiver<Head>,
    applied: watch::Sender<u64>,
    /// The last entry that anybody has waited for.
    wanted: watch::Sender<u64>,
    status: Mutex<Status>,
    free: Mutex<Free>,
    /// Somebody found the file to be spoiled.
    spoiled: Notify,
}

/// Connections to the file that is there now.
#[derive(Default)]
struct Free {
    /// How often the file was renewed.
    renewed: u32,
    queries: Vec<Queries>,
}

#[derive(Default)]
struct Status {
    time: Option<Time>,
    failure: Option<String>,
}

/// Ends the thread when it is dropped.
struct Thread {
    end: watch::Sender<bool>,
    handle: Option<JoinHandle<()>>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.end.send_replace(true);
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

impl Follower {
    /// Opens the views at `path` and follows the writer on a thread of its own. `reader` reads the writer's journal.
    pub fn spawn(path: &Path, reader: Reader, writer: &Handle) -> Result<Follower, Failure> {
        let views = Views::open(path, writer.keys().log())?;
        let (head, published) = (writer.follow(), writer.published());
        let shared = Arc::new(Shared {
            path: path.into(),
            head: head.clone(),
            applied: watch::Sender::new(views.applied()),
            wanted: watch::Sender::new(0),
            status: Mutex::default(),
            free: Mutex::default(),
            spoiled: Notify::new(),
        });
        let (end, ended) = watch::channel(false);
        let wanted = shared.wanted.subscribe();
        let following = Following { views, reader, published, head, wanted, ended, shared: Arc::clone(&shared) };
        let handle = thread::Builder::new().name("views".into()).spawn(move || following.run());
        let handle = Some(handle.expect("the operating system gives us one thread"));
        Ok(Follower { shared, _thread: Arc::new(Thread { end, handle }) })
    }

    /// Follows the last folded entry.
    pub fn applied(&self) -> watch::Receiver<u64> {
        self.shared.applied.subscribe()
    }

    /// Waits until entry `seq` is folded, at most for `timeout`. Returns whether it is.
    pub async fn wait_for(&self, seq: u64, timeout: Duration) -> bool {
        let mut applied = self.applied();
        // What is not committed yet hurries nobody.
        let wanted = seq.min(self.shared.head.borrow().size);
        self.shared.wanted.send_if_modified(|before| std::mem::replace(before, wanted.max(*before)) < wanted);
        let reached = tokio::time::timeout(timeout, applied.wait_for(|at| *at >= seq)).await;
        matches!(reached, Ok(Ok(_)))
    }

    /// How far the views are behind.
    pub fn lag(&self) -> Lag {
        let head = *self.shared.head.borrow();
        let entries = head.size.saturating_sub(*self.shared.applied.borrow());
        let folded = self.shared.status().time;
        let ms = head.time.zip(folded).map_or(0, |(last, folded)| last.since(folded));
        Lag { entries, ms: if entries == 0 { 0 } else { ms.max(0) } }
    }

    /// Why folding does not go on, if it does not.
    pub fn failure(&self) -> Option<String> {
        self.shared.status().failure.clone()
    }

    /// Asks the views on a connection of its own. It blocks on the disk: not for an async thread.
    pub fn query<T>(&self, ask: impl FnOnce(&Queries) -> Result<T, Failure>) -> Result<T, Failure> {
        let (renewed, kept) = {
            let mut free = self.shared.free();
            (free.renewed, free.queries.pop())
        };
        let queries = kept.map_or_else(|| Queries::open(&self.shared.path), Ok)?;
        let answer = ask(&queries);
        if answer.as_ref().is_err_and(is_spoiled) {
            self.shared.spoiled.notify_one();
        }
        let mut free = self.shared.free();
        if free.renewed == renewed && free.queries.len() < KEPT {
            free.queries.push(queries);
        }
        answer
    }
}

impl Shared {
    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().expect("nobody panics while changing the status")
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().expect("nobody panics while taking a connection")
    }
}

struct Following {
    views: Views,
    reader: Reader,
    published: Arc<Published>,
    head: watch::Receiver<Head>,
    wanted: watch::Receiver<u64>,
    ended: watch::Receiver<bool>,
    shared: Arc<Shared>,
}

impl Following {
    fn run(mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime of one thread needs nothing that can be missing");
        while !*self.ended.borrow() {
            // Marked seen first: what comes while we fold wakes us again.
            self.head.borrow_and_update();
            let begun = Instant::now();
            let more = self.fold();
            if !more && !runtime.block_on(self.wait(begun + PACE)) {
                return;
            }
        }
    }

    /// Folds one batch; returns whether there may be more.
    fn fold(&mut self) -> bool {
        let folded = self.views.advance_batch(&self.reader, Some(&self.published.recent));
        let mut status = self.shared.status();
        status.time = self.views.applied_time();
        status.failure = folded.as_ref().err().map(|error| error.to_string());
        drop(status);
        self.shared.applied.send_replace(self.views.applied());
        folded.unwrap_or_else(|error| {
            tracing::error!(%error, "the views cannot be folded");
            matches!(&error, FoldError::Journal(failure) if is_spoiled(failure)) && self.renew()
        })
    }

    /// Begins a new file in place of a spoiled one: nothing in it is the truth. Returns whether it could.
    fn renew(&mut self) -> bool {
        tracing::warn!("the views are spoiled: they are folded anew");
        let renewed = self.views.renew();
        let mut free = self.shared.free();
        (free.renewed, free.queries) = (free.renewed.wrapping_add(1), Vec::new());
        drop(free);
        self.shared.applied.send_replace(self.views.applied());
        renewed.inspect_err(|failure| tracing::error!(%failure, "no new views can be begun")).is_ok()
    }

    /// Sleeps until there is something to fold, and while nobody waits for it until `next`. Returns whether to go on.
    async fn wait(&mut self, next: Instant) -> bool {
        let failed = self.shared.status().failure.is_some();
        let more = tokio::select! {
            _ = self.ended.changed() => false,
            changed = self.head.changed(), if !failed => changed.is_ok(),
            () = tokio::time::sleep(AGAIN), if failed => true,
            () = self.shared.spoiled.notified() => return self.renew() || !*self.ended.borrow(),
        };
        let applied = self.views.applied();
        more && tokio::select! {
            _ = self.ended.changed() => false,
            wanted = self.wanted.wait_for(|wanted| *wanted > applied) => wanted.is_ok(),
            () = tokio::time::sleep_until(next.into()) => true,
        }
    }
}
