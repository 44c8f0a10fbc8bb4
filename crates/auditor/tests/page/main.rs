//! `docs/journal-format.md` says what the writer writes: its tables are those of the core, its example is regenerated.

#[path = "../world/mod.rs"]
mod world;

mod example;
mod tables;

use std::{fs, path::PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/journal-format.md")).expect("the page is part of the repository")
}
