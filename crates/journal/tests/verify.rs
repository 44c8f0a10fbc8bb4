//! A changed byte is found wherever it is, and named.

mod sample;

use journal::{
    Batch, Bundle, Entry, Header, Keys, Memory, Options, Part, Place, Sqlite, Store,
    note::Verifier,
    publish,
    verify::{self, Report},
};
use sample::{Samples, part_bytes};
use std::{fs, path::Path};
use tempfile::TempDir;
use units::{Owner, Time};

/// A data folder of `size` entries with a checkpoint kept every 100.
fn data_folder(size: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Sqlite::open(folder.path(), &Options::default()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    let mut left = size;
    while left > 0 {
        let head = store.append(&samples.batch(left.min(100))).unwrap();
        let signed = store.keys().checkpoint(&head);
        store.keep_checkpoint(head.size, &signed).unwrap();
        left -= left.min(100);
    }
    folder
}

fn checked(folder: &Path) -> Report {
    verify::folder(folder).unwrap()
}

/// Runs `change` on the database of a sound folder and tells what is found then.
fn findings(folder: &Path, change: impl Fn(&rusqlite::Connection)) -> Vec<(Option<u64>, Place)> {
    let database = rusqlite::Connection::open(folder.join("journal.sqlite")).unwrap();
    change(&database);
    drop(database);
    checked(folder).findings.into_iter().map(|f| (f.seq, f.place)).collect()
}

/// Changes a stored value and its byte `at`; gives the value as it was.
fn flip(database: &rusqlite::Connection, table: &str, column: &str, condition: &str, at: usize) -> Vec<u8> {
    let select = format!("SELECT CAST({column} AS BLOB) FROM {table} WHERE {condition}");
    let old: Vec<u8> = database.query_row(&select, [], |row| row.get(0)).unwrap();
    let mut new = old.clone();
    new[at] ^= 0x10;
    set(database, table, column, condition, &new);
    old
}

fn set(database: &rusqlite::Connection, table: &str, column: &str, condition: &str, value: &[u8]) {
    database.execute(&format!("UPDATE {table} SET {column} = ?1 WHERE {condition}"), [value]).unwrap();
}

/// Which place of the row the byte at `at` belongs to, by looking for the pieces of the entry in it.
fn place_of(row: &[u8], entry: &Entry, at: usize) -> Option<Place> {
    let within = |bytes: &[u8]| {
        let from = row.windows(bytes.len()).position(|window| window == bytes).unwrap();
        (from..from + bytes.len()).contains(&at)
    };
    if within(&entry.header().encode()) {
        return Some(Place::Header);
    }
    if let Some(part) = entry.parts().iter().find(|part| within(&part.bytes)) {
        return Some(Place::Part(part.owner));
    }
    (at >= row.len() - 32 * (entry.parts().len() + 1)).then_some(Place::LeafData)
}

#[test]
fn a_sound_folder_is_sound() {
    let folder = data_folder(300);
    let report = checked(folder.path());
    assert_eq!(report.findings, []);
    assert_eq!((report.size, report.parts, report.checkpoints), (300, 800, 3));
}

#[test]
fn every_flipped_byte_of_an_entry_is_named_by_entry_and_part() {
    let folder = data_folder(30);
    let mut samples = Samples::new(Keys::load(&folder.path().join("keys")).unwrap().log());
    let entry = samples.batch(30).entries.swap_remove(13);
    let row = stored_row(folder.path());
    for at in 0..row.len() {
        let found = findings(folder.path(), |db| {
            flip(db, "entry", "row", "seq = 14", at);
        });
        assert!(!found.is_empty() && found.iter().all(|(seq, _)| *seq == Some(14)), "byte {at}: {found:?}");
        if let Some(place) = place_of(&row, &entry, at) {
            assert!(found.iter().all(|(_, p)| *p == place), "byte {at} of {place}: {found:?}");
        }
        let database = rusqlite::Connection::open(folder.path().join("journal.sqlite")).unwrap();
        set(&database, "entry", "row", "seq = 14", &row);
    }
    assert!(checked(folder.path()).sound());
}

/// The row of entry 14.
fn stored_row(folder: &Path) -> Vec<u8> {
    let database = rusqlite::Connection::open(folder.join("journal.sqlite")).unwrap();
    database.query_row("SELECT row FROM entry WHERE seq = 14", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_flipped_byte_of_a_tile_is_named_by_the_entry_beneath_it() {
    for (level, at, seq) in [(0, 40, 2), (0, 32 * 255, 256), (1, 5, 1)] {
        let folder = data_folder(300);
        let condition = format!("level = {level} AND number = 0");
        let found = findings(folder.path(), |db| {
            flip(db, "tile", "hashes", &condition, at);
        });
        assert_eq!(found, [(Some(seq), Place::Tile { level, number: 0 })]);
    }
}

#[test]
fn a_tile_that_is_cut_or_gone_is_named() {
    let folder = data_folder(300);
    let found = findings(folder.path(), |db| {
        db.execute_batch("UPDATE tile SET hashes = substr(hashes, 1, 33) WHERE level = 0 AND number = 1").unwrap();
    });
    assert!(found.contains(&(Some(257), Place::Tile { level: 0, number: 1 })), "{found:?}");
    let folder = data_folder(300);
    let found = findings(folder.path(), |db| db.execute_batch("DELETE FROM tile WHERE level = 1").unwrap());
    assert_eq!(found, [(Some(1), Place::Tile { level: 1, number: 0 })]);
}

#[test]
fn a_flipped_byte_of_a_checkpoint_is_named_by_its_size() {
    let folder = data_folder(300);
    let length = kept_checkpoint(folder.path()).len();
    for at in 0..length {
        let mut old = Vec::new();
        let folder = folder.path();
        let database = rusqlite::Connection::open(folder.join("journal.sqlite")).unwrap();
        old.extend(flip(&database, "checkpoint", "signed", "size = 200", at));
        let new: Vec<u8> =
            database.query_row("SELECT CAST(signed AS BLOB) FROM checkpoint WHERE size = 200", [], |r| r.get(0)).unwrap();
        // SQL text must be UTF-8 to be read at all; the dash is the only character of several bytes.
        if let Ok(text) = String::from_utf8(new) {
            database.execute("UPDATE checkpoint SET signed = ?1 WHERE size = 200", [text]).unwrap();
            let found: Vec<_> = checked(folder).findings.into_iter().map(|f| (f.seq, f.place)).collect();
            assert_eq!(found, [(Some(200), Place::Checkpoint)], "byte {at}");
        }
        let old = String::from_utf8(old).unwrap();
        database.execute("UPDATE checkpoint SET signed = ?1 WHERE size = 200", [old]).unwrap();
    }
}

fn kept_checkpoint(folder: &Path) -> String {
    let database = rusqlite::Connection::open(folder.join("journal.sqlite")).unwrap();
    database.query_row("SELECT signed FROM checkpoint WHERE size = 200", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_missing_entry_is_named() {
    let folder = data_folder(300);
    let found = findings(folder.path(), |db| db.execute_batch("DELETE FROM entry WHERE seq = 77").unwrap());
    assert_eq!(found, [(Some(77), Place::Frame)]);
}

#[test]
fn a_part_that_is_given_to_another_owner_is_named() {
    let folder = data_folder(30);
    let row = stored_row(folder.path());
    let owner = row.windows(3).position(|w| w[0] == 0x82 && w[1] > 0 && w[1] < 8 && w[2] == 0x58).unwrap() + 1;
    let found = findings(folder.path(), |db| {
        flip(db, "entry", "row", "seq = 14", owner);
    });
    let moved = Place::Part(Owner(u64::from(row[owner] ^ 0x10)));
    assert_eq!(found, [(Some(14), moved)]);
}

/// What is found in a log of these entries, written as if nothing were wrong.
fn written(change: impl Fn(usize, &mut Header, &mut Vec<Part>)) -> Vec<(Option<u64>, Place)> {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Sqlite::open(folder.path(), &Options::default()).unwrap();
    let entries = Samples::new(store.keys().log()).batch(20).entries.into_iter().enumerate().map(|(i, entry)| {
        let (mut header, mut parts) = (entry.header().clone(), entry.parts().to_vec());
        change(i + 1, &mut header, &mut parts);
        Entry::new(header, parts)
    });
    store.append(&Batch { entries: entries.collect(), ..Batch::default() }).unwrap();
    drop(store);
    checked(folder.path()).findings.into_iter().map(|f| (f.seq, f.place)).collect()
}

#[test]
fn a_part_left_out_shows_in_the_owners_next_part() {
    let found = written(|seq, _, parts| {
        if seq == 6 {
            parts.retain(|part| part.owner == Owner::OPERATOR);
        }
    });
    // Entry 6 held a part of tenant 1 and one of tenant 3, whose next ones are in entries 11 and 8.
    assert_eq!(found, [(Some(8), Place::Part(Owner(3))), (Some(11), Place::Part(Owner(1)))]);
}

#[test]
fn a_part_that_repeats_another_seq_or_time_is_named() {
    let operator = Place::Part(Owner::OPERATOR);
    let found = written(|seq, header, parts| {
        if seq == 4 {
            parts[0].bytes = part_bytes(5, header.time, 4, "");
        }
        if seq == 8 {
            parts[0].bytes = part_bytes(8, Time(header.time.0 + 1), 8, "");
        }
        if seq == 12 {
            parts[0].bytes = b"\x60".to_vec();
        }
    });
    assert_eq!(found, [4, 8, 12].map(|seq| (Some(seq), operator)));
}

#[test]
fn a_bundle_shows_an_owners_parts_and_a_change_in_any_of_them() {
    let mut store = Memory::new(Keys::from_seed(5));
    let head = store.append(&Samples::new(store.keys().log()).batch(300)).unwrap();
    let checkpoint = store.keys().checkpoint(&head);
    let seqs = Bundle::seqs(&store, Owner(3), 1..=300).unwrap();
    let bundle = Bundle::make(&store, store.keys(), Owner(3), &seqs, &checkpoint).unwrap();
    let key = store.keys().verifier();
    let check = |bundle: &Bundle| verify::bundle(bundle.to_json().as_bytes(), Some(key)).unwrap();
    let report = check(&bundle);
    assert_eq!((report.findings.as_slice(), report.parts, report.size), (&[][..], seqs.len() as u64, 300));

    let changed = |change: &dyn Fn(&mut Bundle)| {
        let mut bundle = bundle.clone();
        change(&mut bundle);
        let findings = check(&bundle).findings;
        findings.first().map(|f| (f.seq, f.place)).expect("a change is found")
    };
    let (second, place) = (Some(seqs[1]), Place::Part(Owner(3)));
    let last = |bytes: &mut Vec<u8>| *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(changed(&|b| last(&mut b.parts[1].bytes)), (second, place));
    assert_eq!(changed(&|b| last(&mut b.parts[1].salt)), (second, place));
    assert_eq!(changed(&|b| b.parts[1].leaf_data[0] ^= 1), (second, Place::Proof));
    assert_eq!(changed(&|b| last(&mut b.parts[1].proof)), (second, Place::Proof));
    assert_eq!(changed(&|b| drop(b.parts.remove(1))), (Some(seqs[2]), place), "an omission shows");
    assert_eq!(changed(&|b| b.checkpoint = b.checkpoint.replace("300", "301")), (None, Place::Checkpoint));
    let other: &Verifier = &Keys::from_seed(6).verifier().clone();
    assert!(!verify::bundle(bundle.to_json().as_bytes(), Some(other)).unwrap().sound());
}

#[test]
fn a_selection_of_parts_says_that_it_is_one_and_is_sound() {
    let mut store = Memory::new(Keys::from_seed(5));
    let head = store.append(&Samples::new(store.keys().log()).batch(300)).unwrap();
    let checkpoint = store.keys().checkpoint(&head);
    let every_other: Vec<u64> = Bundle::seqs(&store, Owner(3), 1..=300).unwrap().into_iter().step_by(2).collect();
    let mut bundle = Bundle::make(&store, store.keys(), Owner(3), &every_other, &checkpoint).unwrap();
    let check = |bundle: &Bundle| verify::bundle(bundle.to_json().as_bytes(), Some(store.keys().verifier())).unwrap();
    assert!(!bundle.whole && check(&bundle).sound());
    bundle.parts.swap(0, 1);
    assert!(!check(&bundle).sound(), "a selection is in order");
    bundle.parts.swap(0, 1);
    bundle.whole = true;
    assert!(!check(&bundle).sound(), "what claims to be whole has no gap");
    bundle.parts.truncate(1);
    assert!(check(&bundle).sound());
    bundle.whole = false;
    assert!(!check(&bundle).sound(), "what claims to be a selection has one");
    let more = bundle.to_json().replacen("\"owner\"", "\"signed by\": \"me\", \"owner\"", 1);
    assert!(verify::bundle(more.as_bytes(), None).is_err(), "a member that this format does not have");
}

#[test]
fn a_bundle_tells_a_neighbours_bytes_to_nobody() {
    let mut store = Memory::new(Keys::from_seed(5));
    let head = store.append(&Samples::new(store.keys().log()).batch(50)).unwrap();
    let checkpoint = store.keys().checkpoint(&head);
    let seqs: Vec<u64> = (1..=50).collect();
    let json = Bundle::make(&store, store.keys(), Owner(3), &seqs, &checkpoint).unwrap();
    for part in &json.parts {
        assert!(String::from_utf8_lossy(&part.bytes).contains("tenant-3"));
        assert_eq!(part.leaf_data.len() % 32, 0);
    }
    assert!(json.parts.len() < 50);
}

#[test]
fn a_published_log_is_checked_without_any_secret() {
    let mut store = Memory::new(Keys::from_seed(5));
    let head = store.append(&Samples::new(store.keys().log()).batch(70_000)).unwrap();
    let checkpoint = store.keys().checkpoint(&head);
    let folder = tempfile::tempdir().unwrap();
    publish::write(&store, head.size, &checkpoint, folder.path()).unwrap();
    let key = store.keys().verifier();
    let report = verify::directory(folder.path(), key).unwrap();
    assert_eq!((report.findings.as_slice(), report.size, report.root), (&[][..], 70_000, Some(head.root)));

    let changed = |path: &str, at: usize| {
        let path = folder.path().join(path);
        let sound = fs::read(&path).unwrap();
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let report = verify::directory(folder.path(), key).unwrap();
        fs::write(&path, sound).unwrap();
        report.findings.first().map(|f| (f.seq, f.place)).expect("a change is found")
    };
    assert_eq!(changed("tile/0/001", 64), (Some(259), Place::LeafData));
    assert_eq!(changed("tile/entries/001", 10), (Some(257), Place::LeafData));
    assert_eq!(changed("tile/entries/273.p/112", 1), (Some(273 * 256 + 1), Place::LeafData));
    assert_eq!(changed("tile/1/001.p/17", 0), (Some(65_537), Place::Tile { level: 1, number: 1 }));
    assert_eq!(changed("tile/2/000.p/1", 3), (Some(1), Place::Tile { level: 2, number: 0 }));
    assert_eq!(changed("checkpoint", 45), (None, Place::Checkpoint));
}

#[test]
fn an_older_checkpoint_of_a_log_that_has_grown_still_holds() {
    let mut store = Memory::new(Keys::from_seed(5));
    let mut samples = Samples::new(store.keys().log());
    let old = store.append(&samples.batch(300)).unwrap();
    let checkpoint = store.keys().checkpoint(&old);
    store.append(&samples.batch(500)).unwrap();
    let fetch = |path: &str| {
        let resource = journal::tile::Resource::parse(path).ok_or("no such path")?;
        Ok(publish::get(&store, &checkpoint, resource)?.ok_or("not there")?)
    };
    let report = verify::site(&fetch, store.keys().verifier()).unwrap();
    assert_eq!((report.findings.as_slice(), report.root), (&[][..], Some(old.root)));
}
