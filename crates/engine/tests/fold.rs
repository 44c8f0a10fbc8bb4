//! A fold gives what applying entry by entry gives, up to the entry that it cannot read.

use engine::FoldError;
use journal::{Batch, Entry, Header, Keys, Memory, Store};
use rental::{Command, State, apply, decide, fleet, seal, tenancy};
use units::{Owner, Time};

/// More than the two threads hold between them, so that memory comes round to be used again.
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

#[test]
fn a_long_journal_folds_as_it_was_written_up_to_what_cannot_be_read() {
    let mut store = Memory::new(Keys::from_seed(1));
    let mut written = State::default();
    for (seq, command) in (1..).zip(commands()) {
        let events = decide(&written, Time(1), &command).expect("nothing stands against it");
        let parts = seal(&written, Time(1), events);
        append(&mut store, seq, parts.iter().map(encoded).collect());
        apply(&mut written, parts);
    }
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
