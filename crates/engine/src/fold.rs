//! Reading the journal into a state: a few threads, each of which reads a run of entries, decodes it, and applies it when the
//! runs before it are applied. What a thread has decoded is still in its core's caches when it applies it.

use journal::{Failure, Source, Stored};
use rental::{Part, State, apply};
use std::{
    ops::ControlFlow,
    panic,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};
use units::Owner;

/// Threads at most: applying is more than a third of the whole and done by one at a time, so a fourth would only wait.
const THREADS: usize = 3;
/// Parts that are read, decoded and applied together: enough that taking turns costs nothing beside them, and few enough for
/// a core's own cache.
const RUN: usize = 512;

/// The journal could not be folded.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// It could not be read.
    #[error(transparent)]
    Journal(#[from] Failure),
    /// A part does not hold events that this build knows.
    #[error("entry {seq}: {source}")]
    Part {
        /// The entry.
        seq: u64,
        /// What is wrong with its bytes.
        source: rental::DecodeEventError,
    },
}

/// Applies every entry after the state's last one. Returns how many.
pub fn fold(state: &mut State, source: &mut (dyn Source + Send)) -> Result<u64, FoldError> {
    let before = state.seq;
    let reading = Mutex::new(Reading { source, run: 0, next: before + 1, ended: false });
    let applying = Applying { now: Mutex::new(Now { state, run: 0, over: None }), moved: Condvar::new() };
    thread::scope(|scope| {
        let others = 1..thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS));
        let others: Vec<_> = others.map(|_| scope.spawn(|| applying.runs_of(&reading))).collect();
        applying.runs_of(&reading);
        if let Some(panic) = others.into_iter().find_map(|other| other.join().err()) {
            panic::resume_unwind(panic);
        }
    });
    let Now { state, over, .. } = applying.now.into_inner().expect("a panic has not come so far");
    over.unwrap_or(Ok(())).map(|()| state.seq - before)
}

/// Where the next run begins.
struct Reading<'a> {
    source: &'a mut (dyn Source + Send),
    run: u64,
    next: u64,
    /// Whether there was nothing more to read, or reading failed.
    ended: bool,
}

/// What a run of entries is read and decoded into, again and again.
#[derive(Default)]
struct Run {
    /// The parts as they are stored, one behind the other.
    bytes: Vec<u8>,
    rows: Vec<Row>,
    /// The parts of whole entries, and behind them parts of an earlier use.
    parts: Vec<Part>,
    decoded: usize,
}

/// Of the entry `seq`, to the byte `end`.
struct Row {
    seq: u64,
    owner: Owner,
    end: usize,
}

impl Reading<'_> {
    /// Fills the rows of the next run. Gives its number; `None` if another had the last one.
    fn fill(&mut self, run: &mut Run) -> Option<(u64, Result<(), Failure>)> {
        if self.ended {
            return None;
        }
        run.bytes.clear();
        run.rows.clear();
        let read = self.source.read(self.next, &mut |stored| {
            for part in &stored.parts {
                run.bytes.extend_from_slice(part.bytes);
                run.rows.push(Row { seq: stored.seq, owner: part.owner, end: run.bytes.len() });
            }
            self.next = stored.seq + 1;
            if run.rows.len() < RUN { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.ended = read.is_err() || run.rows.is_empty();
        self.run += 1;
        Some((self.run - 1, read))
    }
}

impl Run {
    /// Decodes the rows, up to the first entry that cannot be decoded.
    fn decode(&mut self) -> Result<(), FoldError> {
        self.decoded = 0;
        let (mut begin, mut entry, mut whole) = (0, 0, 0);
        for Row { seq, owner, end } in &self.rows {
            if *seq != entry {
                (entry, whole) = (*seq, self.decoded);
            }
            let bytes = &self.bytes[begin..*end];
            let decoded = match self.parts.get_mut(self.decoded) {
                Some(used) => used.decode_over(bytes, *owner),
                None => Part::decode(bytes, *owner).map(|part| self.parts.push(part)),
            };
            if let Err(source) = decoded {
                // No part of an entry is applied without the others.
                self.decoded = whole;
                return Err(FoldError::Part { seq: *seq, source });
            }
            self.decoded += 1;
            begin = *end;
        }
        Ok(())
    }
}

/// The threads take turns here, in the order of their runs.
struct Applying<'a> {
    now: Mutex<Now<'a>>,
    moved: Condvar,
}

struct Now<'a> {
    state: &'a mut State,
    /// Whose turn it is.
    run: u64,
    /// How it ended; where a thread panicked, nobody asks.
    over: Option<Result<(), FoldError>>,
}

impl<'a> Applying<'a> {
    fn runs_of(&self, reading: &Mutex<Reading<'_>>) {
        let _farewell = Farewell(self);
        let mut run = Run::default();
        loop {
            // Where another has panicked while reading or applying, nobody goes on; its panic is what the caller gets.
            let Some((number, read)) = reading.lock().ok().and_then(|mut reading| reading.fill(&mut run)) else { return };
            // What cannot be decoded stands before what cannot be read.
            let outcome = run.decode().and_then(|()| Ok(read?));
            let last = outcome.is_err() || run.rows.is_empty();
            let Some(mut now) = self.turn(number) else { return };
            apply(now.state, &run.parts[..run.decoded]);
            now.run += 1;
            now.over = last.then_some(outcome);
            drop(now);
            self.moved.notify_all();
            if last {
                return;
            }
        }
    }

    /// Waits for the turn of this run; `None` if it is over before, or another has panicked.
    fn turn(&self, number: u64) -> Option<MutexGuard<'_, Now<'a>>> {
        let now = self.now.lock().ok()?;
        let now = self.moved.wait_while(now, |now| now.run != number && now.over.is_none()).ok()?;
        now.over.is_none().then_some(now)
    }
}

/// Nobody waits for the turn of a thread that panicked.
struct Farewell<'f, 'a>(&'f Applying<'a>);

impl Drop for Farewell<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.now.lock().unwrap_or_else(PoisonError::into_inner).over.get_or_insert(Ok(()));
            self.0.moved.notify_all();
        }
    }
}

/// The parts of a stored entry.
pub(crate) fn decode(stored: &Stored<'_>) -> Result<Vec<Part>, FoldError> {
    let part = |part: &journal::PartRef<'_>| Part::decode(part.bytes, part.owner);
    let seq = stored.seq;
    stored.parts.iter().map(part).collect::<Result<_, _>>().map_err(|source| FoldError::Part { seq, source })
}

/// The leaf data of entry `seq`, which tells one history from another; `None` where the journal ends before it.
pub(crate) fn leaf_data(source: &dyn Source, seq: u64) -> Result<Option<Vec<u8>>, Failure> {
    let mut found = None;
    source.read(seq, &mut |stored| {
        found = (stored.seq == seq).then(|| stored.leaf_data.to_vec());
        ControlFlow::Break(())
    })?;
    Ok(found)
}
