//! The entries that were committed last, in memory: who follows closely need not read and decode them again.

use rental::Part;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
};

/// The parts of an entry.
pub(crate) type Parts = Arc<[Part]>;

/// Events that are kept, in all entries together: some 10 MB.
const KEPT: usize = 32_768;

/// Entries in order and without a gap, up to the last one that is committed.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: VecDeque<Parts>,
    events: usize,
}

impl Recent {
    /// Keeps what was committed, and lets go of the oldest.
    pub fn push(&self, committed: impl IntoIterator<Item = Parts>) {
        let mut kept = self.lock();
        for parts in committed {
            kept.events += events(&parts);
            kept.entries.push_back(parts);
        }
        while kept.events > KEPT {
            let Some(oldest) = kept.entries.pop_front() else { return };
            kept.events -= events(&oldest);
        }
    }

    /// The entries from `seq` on, at most so many; none where `seq` is not kept any more, or not committed yet.
    pub fn from(&self, seq: u64, most: usize) -> Vec<Parts> {
        let kept = self.lock();
        let first = kept.entries.front().and_then(|parts| Some(parts.first()?.seq));
        let skipped = first.and_then(|first| usize::try_from(seq.checked_sub(first)?).ok());
        skipped.map_or_else(Vec::new, |skipped| kept.entries.iter().skip(skipped).take(most).cloned().collect())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().expect("nobody panics while changing what is kept")
    }
}

fn events(parts: &Parts) -> usize {
    // One that changes nothing takes room as well.
    parts.iter().map(|part| part.events.len()).sum::<usize>().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rental::{Event, money};
    use units::{Owner, TenantId, Ticks, Time};

    fn entry(seq: u64, events: usize) -> Parts {
        let event = Event::Money(TenantId(1), money::CreditSet { limit: Ticks::ZERO }.into());
        let part = Part { owner: Owner(1), seq, time: Time(0), part_seq: seq, totals: None, events: vec![event; events] };
        [part].into()
    }

    fn seqs(recent: &Recent, from: u64, most: usize) -> Vec<u64> {
        recent.from(from, most).iter().map(|parts| parts[0].seq).collect()
    }

    #[test]
    fn what_follows_an_entry_is_given_while_it_is_kept() {
        let recent = Recent::default();
        assert_eq!(seqs(&recent, 1, 9), [0; 0]);
        recent.push((5..9).map(|seq| entry(seq, 1)));
        assert_eq!(seqs(&recent, 5, 9), [5, 6, 7, 8]);
        assert_eq!(seqs(&recent, 6, 2), [6, 7]);
        assert_eq!(seqs(&recent, 4, 9), [0; 0], "a gap is no run of entries");
        assert_eq!(seqs(&recent, 9, 9), [0; 0], "not committed yet");
    }

    #[test]
    fn the_oldest_go_when_there_are_many() {
        let recent = Recent::default();
        recent.push((1..=4).map(|seq| entry(seq, KEPT / 2)));
        assert_eq!(seqs(&recent, 2, 9), [0; 0]);
        assert_eq!(seqs(&recent, 3, 9), [3, 4]);
        recent.push([entry(5, KEPT + 1)]);
        assert_eq!(seqs(&recent, 5, 9), [0; 0], "larger than all that may be kept");
        recent.push([entry(6, 1)]);
        assert_eq!(seqs(&recent, 6, 9), [6]);
    }
}
