//! Reading the journal into a state: one thread reads, one decodes, one applies.

use crate::belt::{Giver, Taker, belt};
use journal::{Failure, Source, Stored};
use rental::{Part, State, apply};
use std::{ops::ControlFlow, thread};
use units::Owner;

/// Parts that travel between the threads together: enough that handing over costs nothing beside them.
const CHUNK: usize = 512;

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
    let (rows, read_rows) = belt();
    let (chunks, decoded_chunks) = belt();
    thread::scope(|scope| {
        let reading = scope.spawn(move || read(&*source, before + 1, &rows));
        let decoding = scope.spawn(move || decode_all(&read_rows, &chunks));
        while let Some(chunk) = decoded_chunks.take() {
            apply(state, chunk.filled());
            decoded_chunks.give_back(chunk);
        }
        // What cannot be decoded stands before what cannot be read.
        decoding.join().expect("decoding does not panic")?;
        Ok(reading.join().expect("reading the journal does not panic")?)
    })
    .map(|()| state.seq - before)
}

/// The parts of whole entries as they are stored, one behind the other.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    parts: Vec<Row>,
}

/// Of the entry `seq`, to the byte `end`.
struct Row {
    seq: u64,
    owner: Owner,
    end: usize,
}

impl Rows {
    fn push(&mut self, stored: &Stored<'_>) {
        for part in &stored.parts {
            self.bytes.extend_from_slice(part.bytes);
            self.parts.push(Row { seq: stored.seq, owner: part.owner, end: self.bytes.len() });
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
    }
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

    /// Decodes over what it holds, up to the first entry that cannot be read.
    fn fill(&mut self, rows: &Rows) -> Result<(), FoldError> {
        self.filled = 0;
        let (mut begin, mut entry, mut whole) = (0, 0, 0);
        for Row { seq, owner, end } in &rows.parts {
            if *seq != entry {
                (entry, whole) = (*seq, self.filled);
            }
            if let Err(source) = self.push(&rows.bytes[begin..*end], *owner) {
                // No part of an entry is applied without the others.
                self.filled = whole;
                return Err(FoldError::Part { seq: *seq, source });
            }
            begin = *end;
        }
        Ok(())
    }

    fn push(&mut self, bytes: &[u8], owner: Owner) -> Result<(), rental::DecodeEventError> {
        match self.parts.get_mut(self.filled) {
            Some(used) => used.decode_over(bytes, owner)?,
            None => self.parts.push(Part::decode(bytes, owner)?),
        }
        self.filled += 1;
        Ok(())
    }
}

fn read(source: &dyn Source, from: u64, full: &Giver<Rows>) -> Result<(), Failure> {
    let mut rows = Rows::default();
    let read = source.read(from, &mut |stored| {
        rows.push(&stored);
        let more = rows.parts.len() < CHUNK || full.hand_over(&mut rows, Rows::clear);
        if more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    full.hand_over(&mut rows, Rows::clear);
    read
}

fn decode_all(rows: &Taker<Rows>, full: &Giver<Chunk>) -> Result<(), FoldError> {
    let mut chunk = Chunk::default();
    while let Some(stored) = rows.take() {
        let filled = chunk.fill(&stored);
        rows.give_back(stored);
        let more = full.hand_over(&mut chunk, |_| {});
        if !more || filled.is_err() {
            return filled;
        }
    }
    Ok(())
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
