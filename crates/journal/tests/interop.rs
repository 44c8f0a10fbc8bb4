//! Other implementations of C2SP logs accept what this crate publishes, and refuse it when a byte is changed.
//!
//! See `interop/README.md` for the programs and what they need; one that cannot run is said to be skipped.

mod sample;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use journal::{
    Keys, Memory, Source, Store, leaf,
    proof::{LogProof, Prover},
    publish,
};
use sample::Samples;
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const OLD: usize = 300;
const NEW: usize = 1_000;
const INDEX: u64 = 700;

fn interop(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop").join(path)
}

/// A folder as the programs want it.
fn case() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Memory::new(Keys::from_seed(11));
    let mut samples = Samples::new(store.keys().log());
    let old = store.append(&samples.batch(OLD)).unwrap();
    let new = store.append(&samples.batch(NEW - OLD)).unwrap();
    let checkpoint = store.keys().checkpoint(&new);
    let prover = Prover::new(&store);
    let hashes = prover.inclusion(INDEX, new.size).unwrap();
    let proof = LogProof { index: INDEX, hashes, checkpoint: checkpoint.clone() };
    let leaf_hash = leaf::hash(&leaf_data(&store, INDEX + 1));
    let read = LogProof::parse(&proof.text()).unwrap();
    assert_eq!(read.check(&leaf_hash, store.keys().verifier()).unwrap().root, new.root);
    assert!(read.check(&[0; 32], store.keys().verifier()).is_err());
    let consistency: Vec<_> =
        prover.consistency(old.size, new.size).unwrap().iter().map(|hash| BASE64_STANDARD.encode(hash)).collect();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("key", store.keys().verifier().to_string().as_bytes());
    write("old", store.keys().checkpoint(&old).as_bytes());
    write("new", checkpoint.as_bytes());
    write("leaf", &leaf_data(&store, INDEX + 1));
    write("leaf.tlog-proof", proof.text().as_bytes());
    write("consistency", (consistency.join("\n") + "\n").as_bytes());
    publish::write(&store, new.size, &checkpoint, &folder.path().join("log")).unwrap();
    folder
}

fn leaf_data(source: &dyn Source, seq: u64) -> Vec<u8> {
    let mut data = Vec::new();
    source
        .read(seq, &mut |stored| {
            data = stored.leaf_data.to_vec();
            std::ops::ControlFlow::Break(())
        })
        .unwrap();
    data
}

/// Whether the program accepts the folder; what it says if it does not run at all.
fn accepts(program: &mut Command, folder: &Path) -> Result<bool, String> {
    let output = program.arg(folder).output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).trim() == "accepted";
    let refused = String::from_utf8_lossy(&output.stderr).contains("refused:");
    match (output.status.success(), said, refused) {
        (true, true, _) => Ok(true),
        (false, _, true) => Ok(false),
        _ => Err(format!("it broke: {output:?}")),
    }
}

/// The sound case is accepted; with one byte of any of `files` changed, or one proof cut, it is refused.
fn check(program: &dyn Fn() -> Command, files: &[&str]) {
    let folder = case();
    assert_eq!(accepts(&mut program(), folder.path()), Ok(true));
    for file in files {
        let path = folder.path().join(file);
        let sound = fs::read(&path).unwrap();
        for at in [sound.len() / 3, sound.len() / 2, sound.len() - 3] {
            let mut changed = sound.clone();
            // A letter stays a letter, so that what is refused is the value and not the spelling.
            changed[at] = if changed[at] == b'B' { b'C' } else { b'B' };
            fs::write(&path, &changed).unwrap();
            assert_eq!(accepts(&mut program(), folder.path()), Ok(false), "byte {at} of {file} is changed");
        }
        fs::write(&path, &sound).unwrap();
    }
    assert_eq!(accepts(&mut program(), folder.path()), Ok(true));
}

/// Past the capture of test output, so that whoever runs the tests sees it.
fn skipped(what: &str) {
    writeln!(std::io::stderr(), "skipped: {what}").expect("standard error is there");
}

const FILES: [&str; 5] = ["old", "new", "leaf", "leaf.tlog-proof", "consistency"];

#[test]
fn go_accepts_our_checkpoints_and_proofs_and_refuses_a_changed_byte() {
    let built = tempfile::tempdir().unwrap();
    let program = built.path().join("tlog-go");
    let build = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(interop("tlog-go")).output();
    let output = match build {
        Ok(output) => output,
        Err(why) => return skipped(&format!("tlog-go, go is not there ({why})")),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("dial tcp") || said.contains("module lookup disabled") {
        return skipped(&format!("tlog-go, golang.org/x/mod cannot be fetched ({said})"));
    }
    assert!(output.status.success(), "{said}");
    check(&|| Command::new(&program), &FILES);
}

#[test]
fn aics_tlog_accepts_our_checkpoints_proofs_and_tiles_and_refuses_a_changed_byte() {
    let cached = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/aics/bin/python");
    let python = env::var_os("SUANZU_AICS_PYTHON").map_or(cached, PathBuf::from);
    let has = Command::new(&python).args(["-c", "import aics_tlog"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return skipped(&format!("tlog-python, {} has no aics_tlog", python.display()));
    }
    let program = || {
        let mut command = Command::new(&python);
        command.arg(interop("tlog-python/check.py"));
        command
    };
    check(&program, &[&FILES[..], &["log/tile/0/002", "log/tile/1/000.p/3", "log/tile/entries/001"]].concat());
}
