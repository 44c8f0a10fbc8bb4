//! What every store promises, checked for each of them.

mod sample;

use journal::{Batch, Change, Entry, Failure, Keys, Memory, Options, Repeat, Sqlite, Store, Tree, tile::TileId};
use sample::{START, Samples, everything};
use std::ops::ControlFlow;
use units::{Owner, Time};

fn an_empty_store_has_an_empty_head(store: &mut dyn Store) {
    let head = store.head();
    assert_eq!((head.size, head.time, head.epoch, head.next()), (0, None, 0, 1));
    assert_eq!(head.root, Tree::default().root());
    assert!(everything(store, 1).is_empty());
}

fn entries_are_read_back_as_they_were_given(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    let batches = [samples.batch(3), samples.batch(1), samples.batch(300)];
    for batch in &batches {
        store.append(batch).unwrap();
    }
    let given: Vec<&Entry> = batches.iter().flat_map(|b| &b.entries).collect();
    let read = everything(store, 1);
    assert_eq!(read.len(), 304);
    for (entry, (seq, header, parts)) in given.iter().zip(&read) {
        assert_eq!((entry.header().seq, &entry.header().encode(), entry.parts()), (*seq, header, parts.as_slice()));
    }
    assert_eq!(everything(store, 300), read[299..]);
    assert!(everything(store, 305).is_empty());
}

fn the_head_follows_the_last_entry(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    let head = store.append(&samples.batch(5)).unwrap();
    assert_eq!(head, store.head());
    assert_eq!((head.size, head.time, head.epoch), (5, Some(Time(START + 5)), 1));
    assert_eq!(store.size().unwrap(), 5);
}

fn a_reader_may_stop_early(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    store.append(&samples.batch(10)).unwrap();
    let mut seen = 0;
    let visit = &mut |_: journal::Stored<'_>| {
        seen += 1;
        if seen == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    store.read(1, visit).unwrap();
    assert_eq!(seen, 4);
}

fn an_entry_that_is_not_the_next_is_refused_and_nothing_is_written(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    let head = store.append(&samples.batch(2)).unwrap();
    for wrong in [1, 2, 4] {
        samples.seq = wrong - 1;
        let batch = Batch { entries: vec![samples.next(&[0])], directory: vec![put("a", "1")], ..Batch::default() };
        let refused = store.append(&batch);
        assert!(matches!(refused, Err(Failure::NotNext { given, expected: 3 }) if given == wrong), "{refused:?}");
    }
    assert_eq!(store.head(), head);
    assert_eq!(store.directory_get(b"a").unwrap(), None);
}

fn a_batch_with_one_wrong_entry_is_refused_whole(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    let mut batch = samples.batch(3);
    batch.entries.remove(1);
    assert!(matches!(store.append(&batch), Err(Failure::NotNext { given: 3, expected: 2 })));
    assert!(everything(store, 1).is_empty());
}

fn a_writer_of_an_older_epoch_is_fenced(store: &mut dyn Store) {
    let samples = Samples::new(store.keys().log());
    let mut header = samples.header(1);
    header.epoch = 7;
    store.append(&one(Entry::new(header, vec![]))).unwrap();
    let refused = store.append(&one(Entry::new(samples.header(2), vec![])));
    assert!(matches!(refused, Err(Failure::Fenced { given: 1, current: 7 })), "{refused:?}");
}

fn time_may_stand_still_but_not_go_back(store: &mut dyn Store) {
    let samples = Samples::new(store.keys().log());
    let at = |seq, time| {
        let mut header = samples.header(seq);
        header.time = Time(time);
        one(Entry::new(header, vec![]))
    };
    store.append(&at(1, 100)).unwrap();
    store.append(&at(2, 100)).unwrap();
    assert!(matches!(store.append(&at(3, 99)), Err(Failure::TimeWentBack { seq: 3, .. })));
}

fn an_entry_of_another_log_is_refused(store: &mut dyn Store) {
    let mut samples = Samples::new(Keys::from_seed(99).log());
    assert!(matches!(store.append(&samples.batch(1)), Err(Failure::ForeignLog { seq: 1 })));
}

fn the_directory_is_written_with_the_entries_and_read_by_prefix(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    let mut batch = samples.batch(1);
    batch.directory = vec![put("b/1", "x"), put("b/2", "y"), put("a", "z"), put("c", "w"), put("b/2", "yy")];
    store.append(&batch).unwrap();
    assert_eq!(store.directory_get(b"b/2").unwrap().as_deref(), Some(&b"yy"[..]));
    assert_eq!(store.directory_scan(b"b/").unwrap(), [pair("b/1", "x"), pair("b/2", "yy")]);
    assert_eq!(store.directory_scan(b"").unwrap().len(), 4);
    let delete = Change::Delete { key: b"b/1".into() };
    let head = store.append(&Batch { directory: vec![delete], ..Batch::default() }).unwrap();
    assert_eq!(head.size, 1, "the directory changes without an entry");
    assert_eq!(store.directory_scan(b"b/").unwrap(), [pair("b/2", "yy")]);
}

fn a_prefix_of_the_highest_bytes_is_scanned_to_the_end(store: &mut dyn Store) {
    let change = |key: &[u8]| Change::Put { key: key.into(), value: vec![] };
    let directory = vec![change(&[0xfe]), change(&[0xff]), change(&[0xff, 0xff, 1])];
    store.append(&Batch { directory, ..Batch::default() }).unwrap();
    assert_eq!(store.directory_scan(&[0xff]).unwrap().len(), 2);
    assert_eq!(store.directory_scan(&[0xff, 0xff]).unwrap().len(), 1);
}

fn repeats_are_found_by_owner_and_key_until_they_are_pruned(store: &mut dyn Store) {
    let repeat = |owner, key, seq| Repeat { owner: Owner(owner), key: [key; 32], request: [9; 32], seq, time: Time(seq as i64) };
    let mut samples = Samples::new(store.keys().log());
    let mut batch = samples.batch(3);
    batch.repeats = vec![repeat(1, 1, 1), repeat(2, 1, 2), repeat(1, 2, 3)];
    store.append(&batch).unwrap();
    assert_eq!(store.repeat(Owner(1), &[1; 32]).unwrap(), Some(repeat(1, 1, 1)));
    assert_eq!(store.repeat(Owner(3), &[1; 32]).unwrap(), None);
    assert_eq!(store.prune_repeats(Time(3)).unwrap(), 2);
    assert_eq!(store.repeat(Owner(2), &[1; 32]).unwrap(), None);
    assert_eq!(store.repeat(Owner(1), &[2; 32]).unwrap(), Some(repeat(1, 2, 3)));
    // A key that is forgotten may come again, and then be forgotten with its new entry.
    let mut batch = samples.batch(1);
    batch.repeats = vec![repeat(1, 1, 4)];
    store.append(&batch).unwrap();
    assert_eq!(store.repeat(Owner(1), &[1; 32]).unwrap(), Some(repeat(1, 1, 4)));
    assert_eq!(store.prune_repeats(Time(100)).unwrap(), 2);
    assert_eq!(store.repeat(Owner(1), &[1; 32]).unwrap(), None);
    assert_eq!(store.prune_repeats(Time(100)).unwrap(), 0);
}

#[test]
fn repeats_are_found_again_after_a_restart_and_by_the_whole_of_their_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut key = [1; 32];
    let repeat = Repeat { owner: Owner(1), key, request: [9; 32], seq: 1, time: Time(START + 1) };
    {
        let mut store = Sqlite::open(folder.path(), &Options::default()).unwrap();
        let mut batch = Samples::new(store.keys().log()).batch(1);
        batch.repeats = vec![repeat];
        store.append(&batch).unwrap();
    }
    let store = Sqlite::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(store.repeat(Owner(1), &key).unwrap(), Some(repeat));
    key[31] = 2;
    assert_eq!(store.repeat(Owner(1), &key).unwrap(), None, "the first half is the same");
    assert_eq!(store.repeat(Owner(2), &repeat.key).unwrap(), None);
}

fn tiles_hold_the_leaf_hashes_whatever_the_batches(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    for count in [1, 255, 1, 256, 7] {
        store.append(&samples.batch(count)).unwrap();
    }
    let mut leaves = Vec::new();
    let visit = &mut |stored: journal::Stored<'_>| {
        leaves.push(journal::leaf::hash(stored.leaf_data));
        ControlFlow::Continue(())
    };
    store.read(1, visit).unwrap();
    let tiles: Vec<_> = (0..4).map(|number| store.tile(TileId { level: 0, number }).unwrap()).collect();
    assert_eq!(tiles.iter().map(Vec::len).collect::<Vec<_>>(), [256, 256, 8, 0]);
    assert_eq!(tiles.concat(), leaves);
    let mut tree = Tree::default();
    leaves.iter().for_each(|leaf| tree.push(*leaf));
    assert_eq!(store.head().root, tree.root());
    assert_eq!(store.tile(TileId { level: 1, number: 0 }).unwrap().len(), 2);
}

fn checkpoints_are_kept(store: &mut dyn Store) {
    let mut samples = Samples::new(store.keys().log());
    let head = store.append(&samples.batch(4)).unwrap();
    let signed = store.keys().checkpoint(&head);
    store.keep_checkpoint(head.size, &signed).unwrap();
    assert_eq!(store.checkpoints().unwrap(), [(4, signed)]);
}

fn put(key: &str, value: &str) -> Change {
    Change::Put { key: key.into(), value: value.into() }
}

fn pair(key: &str, value: &str) -> (Vec<u8>, Vec<u8>) {
    (key.into(), value.into())
}

fn one(entry: Entry) -> Batch {
    Batch { entries: vec![entry], ..Batch::default() }
}

macro_rules! conformance {
    ($($promise:ident)*) => {
        mod memory {$(
            #[test]
            fn $promise() {
                super::$promise(&mut super::Memory::new(super::Keys::from_seed(1)));
            }
        )*}

        mod sqlite {$(
            #[test]
            fn $promise() {
                let folder = tempfile::tempdir().unwrap();
                super::$promise(&mut super::Sqlite::open(folder.path(), &super::Options::default()).unwrap());
            }
        )*}
    };
}

conformance! {
    an_empty_store_has_an_empty_head
    entries_are_read_back_as_they_were_given
    the_head_follows_the_last_entry
    a_reader_may_stop_early
    an_entry_that_is_not_the_next_is_refused_and_nothing_is_written
    a_batch_with_one_wrong_entry_is_refused_whole
    a_writer_of_an_older_epoch_is_fenced
    time_may_stand_still_but_not_go_back
    an_entry_of_another_log_is_refused
    the_directory_is_written_with_the_entries_and_read_by_prefix
    a_prefix_of_the_highest_bytes_is_scanned_to_the_end
    repeats_are_found_by_owner_and_key_until_they_are_pruned
    tiles_hold_the_leaf_hashes_whatever_the_batches
    checkpoints_are_kept
}
