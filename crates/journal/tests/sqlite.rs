//! What only a store on disk can promise: it is there again after closing, and it has one writer.

mod sample;

use journal::{Batch, Change, Failure, Keys, Options, Reader, Source, Sqlite, Store, tile::TileId};
use sample::{Samples, everything};
use simulated_disk::Disk;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

fn open(folder: &Path) -> Result<Sqlite, Failure> {
    Sqlite::open(folder, &Options::default())
}

/// Changes the database behind the store's back.
fn tamper(folder: &Path, sql: &str) {
    rusqlite::Connection::open(folder.join("journal.sqlite")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_log_goes_on_after_closing_wherever_it_was_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    let mut memory = journal::Memory::new(store.keys().clone());
    for count in [1, 2, 252, 1, 1, 255, 1, 65_100, 1] {
        let batch = samples.batch(count);
        assert_eq!(store.append(&batch).unwrap(), memory.append(&batch).unwrap());
        drop(store);
        store = open(folder.path()).unwrap();
        assert_eq!(store.head(), memory.head());
    }
    assert_eq!(everything(&store, 65_000), everything(&memory, 65_000));
}

#[test]
fn two_stores_cannot_have_one_folder_open() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let second = open(folder.path()).err().unwrap();
    assert!(matches!(second, Failure::InUse { .. }) && second.retryable(), "{second}");
    drop(first);
    open(folder.path()).unwrap();
}

#[test]
fn a_reader_follows_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let reader = Reader::open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    for size in [4, 8] {
        let mut batch = samples.batch(4);
        batch.directory = vec![Change::Put { key: vec![1], value: vec![size] }];
        store.append(&batch).unwrap();
        assert_eq!(reader.size().unwrap(), u64::from(size));
        assert_eq!(reader.directory_get(&[1]).unwrap(), Some(vec![size]));
    }
    assert_eq!(everything(&reader.try_clone().unwrap(), 1), everything(&store, 1));
}

#[test]
fn keys_are_made_once_for_the_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path()).unwrap().keys().log();
    assert_eq!(open(folder.path()).unwrap().keys().log(), log);
    for file in ["log.key", "log.secret"] {
        let mode = fs::metadata(folder.path().join("keys").join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_log_without_its_keys_or_with_those_of_another_does_not_open() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(open(folder.path()).unwrap());
    let keys = folder.path().join("keys");
    fs::remove_dir_all(&keys).unwrap();
    let missing = open(folder.path()).err().unwrap();
    assert!(matches!(missing, Failure::Keys { .. }), "{missing}");
    assert!(!keys.exists(), "no new keys are made for an old log");
    Keys::create(other.path()).unwrap();
    fs::rename(other.path(), &keys).unwrap();
    let foreign = open(folder.path()).err().unwrap();
    assert!(matches!(foreign, Failure::Keys { .. }), "{foreign}");
}

#[test]
fn keys_without_their_journal_do_not_begin_a_second_history() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    fs::remove_file(folder.path().join("journal.sqlite")).unwrap();
    let lost = open(folder.path()).err().unwrap();
    assert!(matches!(lost, Failure::Keys { .. }), "{lost}");
}

#[test]
fn a_torn_last_entry_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    store.append(&samples.batch(3)).unwrap();
    drop(store);
    tamper(folder.path(), "UPDATE entry SET row = substr(row, 1, length(row) - 1) WHERE seq = 3");
    let torn = open(folder.path()).err().unwrap();
    assert!(matches!(torn, Failure::Torn { seq: 3 }), "{torn}");
}

#[test]
fn a_damaged_entry_ends_the_reading_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    store.append(&samples.batch(9)).unwrap();
    drop(store);
    tamper(folder.path(), "UPDATE entry SET row = CAST(substr(row, 1, 60) || x'00' || substr(row, 62) AS BLOB) WHERE seq = 5");
    let store = open(folder.path()).unwrap();
    let failure = store.read(1, &mut |_| std::ops::ControlFlow::Continue(())).err().unwrap();
    assert!(matches!(failure, Failure::Damaged { seq: 5, .. }), "{failure}");
}

#[test]
fn a_log_whose_last_tile_is_damaged_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    store.append(&samples.batch(3)).unwrap();
    drop(store);
    tamper(folder.path(), "UPDATE tile SET hashes = zeroblob(96)");
    let failure = open(folder.path()).err().unwrap();
    assert!(matches!(failure, Failure::Damaged { seq: 3, .. }), "{failure}");
}

#[test]
fn what_is_deleted_from_the_directory_is_gone_from_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let name = b"a name that must be erasable".to_vec();
    let holds_it = || {
        let bytes = fs::read(folder.path().join("journal.sqlite")).unwrap();
        bytes.windows(name.len()).any(|window| window == name)
    };
    let mut store = open(folder.path()).unwrap();
    let directory = vec![Change::Put { key: vec![1], value: name.clone() }];
    store.append(&Batch { directory, ..Batch::default() }).unwrap();
    drop(store);
    assert!(holds_it());
    let mut store = open(folder.path()).unwrap();
    store.append(&Batch { directory: vec![Change::Delete { key: vec![1] }], ..Batch::default() }).unwrap();
    drop(store);
    assert!(!holds_it());
    assert!(!folder.path().join("journal.sqlite-wal").exists(), "closing folds the write-ahead log in");
}

#[test]
fn a_full_disk_is_retryable_and_writes_nothing() {
    let (folder, disk) = (tempfile::tempdir().unwrap(), Disk::new());
    disk.register("full");
    let mut store = Sqlite::open(folder.path(), &Options { vfs: Some("full".into()), ..Options::default() }).unwrap();
    let mut samples = Samples::new(store.keys().log());
    let head = store.append(&samples.batch(3)).unwrap();
    disk.set_room(Some(1 << 20));
    let large = Batch { directory: vec![Change::Put { key: vec![1], value: vec![0; 1 << 20] }], ..samples.batch(5) };
    let failure = store.append(&large).err().unwrap();
    assert!(failure.retryable(), "{failure:?}");
    assert_eq!(store.head(), head);
    disk.set_room(None);
    assert_eq!(store.append(&large).unwrap().size, 8);
}

#[test]
fn a_store_that_closes_leaves_the_whole_log_in_its_database_though_others_have_it_open() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut store = open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    let head = store.append(&samples.batch(300)).unwrap();
    let reader = store.reader().unwrap();
    assert_eq!(reader.size().unwrap(), 300);
    drop(store);
    fs::copy(folder.path().join("journal.sqlite"), copy.path().join("journal.sqlite")).unwrap();
    fs::create_dir(copy.path().join("keys")).unwrap();
    for key in fs::read_dir(folder.path().join("keys")).unwrap().flatten() {
        fs::copy(key.path(), copy.path().join("keys").join(key.file_name())).unwrap();
    }
    assert_eq!(open(copy.path()).unwrap().head(), head);
    assert_eq!(reader.size().unwrap(), 300);
}

#[test]
fn what_is_asked_for_beyond_all_numbers_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let mut samples = Samples::new(store.keys().log());
    store.append(&samples.batch(3)).unwrap();
    for number in [1 << 63, u64::MAX] {
        assert_eq!(store.tile(TileId { level: 0, number }).unwrap(), [[0; 32]; 0]);
        store.read(number, &mut |stored| panic!("{}", stored.seq)).unwrap();
    }
}
