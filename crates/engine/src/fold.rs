//! Reading the journal into a state: one thread reads and decodes, the other applies.

use journal::{Failure, Source};
use rental::{Part, State, apply};
use std::{ops::ControlFlow, sync::mpsc, thread};

/// Entries that travel between the threads together: enough that handing over costs nothing beside them.
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
    let from = state.seq + 1;
    let (full, chunks) = mpsc::sync_channel::<Vec<Vec<Part>>>(AHEAD);
    thread::scope(|scope| {
        let reading = scope.spawn(move || read(&*source, from, &full));
        let mut entries = 0;
        for chunk in chunks {
            entries += chunk.len() as u64;
            chunk.into_iter().for_each(|parts| apply(state, parts));
        }
        reading.join().expect("reading the journal does not panic")?;
        Ok(entries)
    })
}

fn read(source: &dyn Source, from: u64, full: &mpsc::SyncSender<Vec<Vec<Part>>>) -> Result<(), FoldError> {
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut wrong = None;
    source.read(from, &mut |stored| {
        match decode(&stored) {
            Ok(parts) => chunk.push(parts),
            Err(error) => {
                wrong = Some(error);
                return ControlFlow::Break(());
            }
        }
        if chunk.len() == CHUNK && full.send(std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK))).is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    // A closed channel means that the other side has given up already.
    let _ = full.send(chunk);
    wrong.map_or(Ok(()), Err)
}

/// The parts of a stored entry.
pub(crate) fn decode(stored: &journal::Stored<'_>) -> Result<Vec<Part>, FoldError> {
    let part = |part: &journal::PartRef<'_>| Part::decode(part.bytes, part.owner);
    let seq = stored.seq;
    stored.parts.iter().map(part).collect::<Result<_, _>>().map_err(|source| FoldError::Part { seq, source })
}
