//! A fold gives what applying entry by entry gives, up to the entry that it cannot read.

use engine::FoldError;
use journal::{Batch, Entry, Failure, Hash, Header, Keys, Memory, Pairs, Source, Store, Stored, tile::TileId};
use rental::{Command, Event, State, apply, decide, fleet, seal, tenancy};
use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
};
use units::{NodeId, Owner, Time};

/// More than the threads hold between them, so that memory comes round to be used again.
const ENTRIES: u64 = 8_000;

fn commands() -> impl Iterator<Item = Command> {
    // Parts of unlike shape take each other's place.
    (1..=ENTRIES).map(|n| match n % 3 {
        0 => Command::Fleet(fleet::Command::AddPool { name: format!("pool-{n}") }),
        _ => Command::Tenancy(tenancy::Command::CreateTenant),
    })
}

fn append(store: &mut Memory, seq: u64, parts: Vec<journal::Part>) {
    let header = Header {
        format: journal::header::FORMAT,
        log: store.keys().log(),
        epoch: 1,
        seq,
        time: Time(1),
        command: "any".into(),
        actor: "any".into(),
        key: None,
        request: None,
    };
    let batch = Batch { entries: vec![Entry::new(header, parts)], ..Batch::default() };
    store.append(&batch).expect("memory takes every entry");
}

fn encoded(part: &rental::Part) -> journal::Part {
    journal::Part { owner: part.owner, bytes: minicbor::to_vec(part).expect("a Vec takes every byte") }
}

/// A journal with this many entries, and the state that wrote it.
fn written(entries: usize) -> (Memory, State) {
    let mut store = Memory::new(Keys::from_seed(1));
    let mut written = State::default();
    for (seq, command) in (1..).zip(commands().take(entries)) {
        let events = decide(&written, Time(1), &command).expect("nothing stands against it");
        let parts = seal(&written, Time(1), events);
        append(&mut store, seq, parts.iter().map(encoded).collect());
        apply(&mut written, parts);
    }
    (store, written)
}

/// A disk that does not give the entry after `good`.
struct Breaking {
    journal: Memory,
    good: u64,
}

impl Source for Breaking {
    fn size(&self) -> Result<u64, Failure> {
        self.journal.size()
    }

    fn read(&self, from: u64, visit: &mut dyn FnMut(Stored<'_>) -> ControlFlow<()>) -> Result<(), Failure> {
        let mut broke = false;
        self.journal.read(from, &mut |stored| {
            broke = stored.seq > self.good;
            if broke { ControlFlow::Break(()) } else { visit(stored) }
        })?;
        if broke { Err(Failure::Torn { seq: self.good + 1 }) } else { Ok(()) }
    }

    fn tile(&self, id: TileId) -> Result<Vec<Hash>, Failure> {
        self.journal.tile(id)
    }

    fn directory_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        self.journal.directory_get(key)
    }

    fn directory_scan(&self, prefix: &[u8]) -> Result<Pairs, Failure> {
        self.journal.directory_scan(prefix)
    }

    fn checkpoints(&self) -> Result<Vec<(u64, String)>, Failure> {
        self.journal.checkpoints()
    }
}

#[test]
fn a_journal_that_breaks_off_folds_up_to_there() {
    let (_, expected) = written(5_000);
    let (journal, _) = written(6_000);
    let mut folded = State::default();
    let failed = engine::fold(&mut folded, &mut Breaking { journal, good: 5_000 });
    assert!(matches!(failed, Err(FoldError::Journal(Failure::Torn { seq: 5_001 }))), "{failed:?}");
    assert_eq!(folded, expected);

    // What cannot be decoded stands before what cannot be read.
    let (mut journal, _) = written(5_000);
    for seq in 5_001..=5_002 {
        append(&mut journal, seq, vec![journal::Part { owner: Owner(1), bytes: vec![0xff] }]);
    }
    let mut folded = State::default();
    let failed = engine::fold(&mut folded, &mut Breaking { journal, good: 5_001 });
    assert!(matches!(failed, Err(FoldError::Part { seq: 5_001, .. })), "{failed:?}");
    assert_eq!(folded, expected);
}

#[test]
fn a_panic_of_one_thread_is_the_callers_and_keeps_no_other_waiting() {
    // In the first run, which the caller's thread has as a rule, and in the second. Who has the empty one behind it waits.
    for entries in [500, 700] {
        let (mut journal, state) = written(entries);
        let unknown = fleet::Event::NodeRemoved(fleet::NodeRemoved { node: NodeId(1) });
        let parts = seal(&state, Time(1), vec![Event::Fleet(unknown)]);
        append(&mut journal, entries as u64 + 1, parts.iter().map(encoded).collect());
        for _ in 0..10 {
            let folded = catch_unwind(AssertUnwindSafe(|| engine::fold(&mut State::default(), &mut journal)));
            let panic = folded.expect_err("no such node can be removed");
            let message = panic.downcast_ref::<String>().expect("it says what is wrong");
            assert!(message.contains("only a known node leaves"), "{message}");
        }
    }
}

#[test]
fn a_long_journal_folds_as_it_was_written_up_to_what_cannot_be_read() {
    let (mut store, written) = written(ENTRIES as usize);
    let mut folded = State::default();
    assert_eq!(engine::fold(&mut folded, &mut store).expect("all of it is known"), ENTRIES);
    assert_eq!(folded, written);

    // The operator's part can be read, the tenant's cannot: neither may be applied.
    let pool = decide(&written, Time(1), &Command::Fleet(fleet::Command::AddPool { name: "last".into() }));
    let mut parts: Vec<_> = seal(&written, Time(1), pool.expect("the name is new")).iter().map(encoded).collect();
    parts.push(journal::Part { owner: Owner(1), bytes: vec![0xff] });
    append(&mut store, ENTRIES + 1, parts);
    let mut folded = State::default();
    let failed = engine::fold(&mut folded, &mut store);
    assert!(matches!(failed, Err(FoldError::Part { seq, .. }) if seq == ENTRIES + 1), "{failed:?}");
    assert_eq!(folded, written);
}
