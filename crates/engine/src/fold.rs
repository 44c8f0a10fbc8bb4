//! Reading the journal into a state: one thread reads and decodes, the other applies.

use journal::{Failure, Source, Stored};
use rental::{Part, State, apply};
use std::{mem, ops::ControlFlow, sync::mpsc, thread};

/// Parts that travel between the threads together: enough that handing over costs nothing beside them.
const CHUNK: usize = 512;
/// Chunks that may wait: bounds the memory where applying is slower than reading.
const AHEAD: usize = 8;

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
    let (full, chunks) = mpsc::sync_channel::<Chunk>(AHEAD);
    // What is applied goes back to be decoded over: memory that one thread takes and the other frees costs more than
    // applying it.
    let (applied, used) = mpsc::channel();
    thread::scope(|scope| {
        let reading = scope.spawn(move || read(&*source, before + 1, &Ends { full, used }));
        for chunk in chunks {
            apply(state, chunk.filled());
            // A closed channel means that all is read.
            let _ = applied.send(chunk);
        }
        reading.join().expect("reading the journal does not panic")
    })?;
    Ok(state.seq - before)
}

/// The parts of whole entries, and behind them parts of an earlier use.
#[derive(Default)]
struct Chunk {
    parts: Vec<Part>,
    filled: usize,
}

impl Chunk {
    fn filled(&self) -> &[Part] {
        &self.parts[..self.filled]
    }

    fn fill(&mut self, stored: &Stored<'_>) -> Result<(), FoldError> {
        let before = self.filled;
        for part in &stored.parts {
            let decoded = match self.parts.get_mut(self.filled) {
                Some(used) => used.decode_over(part.bytes, part.owner),
                None => Part::decode(part.bytes, part.owner).map(|part| self.parts.push(part)),
            };
            if let Err(source) = decoded {
                // No part of an entry is applied without the others.
                self.filled = before;
                return Err(FoldError::Part { seq: stored.seq, source });
            }
            self.filled += 1;
        }
        Ok(())
    }
}

/// The reading thread's ends of the channels.
struct Ends {
    full: mpsc::SyncSender<Chunk>,
    used: mpsc::Receiver<Chunk>,
}

impl Ends {
    /// Hands a chunk over and takes an empty one. `false`: nobody wants more.
    fn hand_over(&self, chunk: &mut Chunk) -> bool {
        let mut empty = self.used.try_recv().unwrap_or_default();
        empty.filled = 0;
        self.full.send(mem::replace(chunk, empty)).is_ok()
    }
}

fn read(source: &dyn Source, from: u64, ends: &Ends) -> Result<(), FoldError> {
    let mut chunk = Chunk::default();
    let mut wrong = None;
    source.read(from, &mut |stored| {
        wrong = chunk.fill(&stored).err();
        let more = wrong.is_none() && (chunk.filled < CHUNK || ends.hand_over(&mut chunk));
        if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    ends.hand_over(&mut chunk);
    wrong.map_or(Ok(()), Err)
}

/// The parts of a stored entry.
pub(crate) fn decode(stored: &Stored<'_>) -> Result<Vec<Part>, FoldError> {
    let part = |part: &journal::PartRef<'_>| Part::decode(part.bytes, part.owner);
    let seq = stored.seq;
    stored.parts.iter().map(part).collect::<Result<_, _>>().map_err(|source| FoldError::Part { seq, source })
}
