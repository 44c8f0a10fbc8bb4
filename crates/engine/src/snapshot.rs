//! Snapshots of the state: a cache beside the journal that may be deleted at any time without loss.
//!
//! One file each: the build's name (16 bytes of text), the SHA-256 of the rest, then in postcard the leaf data of the entry that the
//! state ends with, and the state. One that is of another build, damaged, or of another history than the journal is passed over.

use crate::fold::leaf_data;
use journal::{Failure, Source};
use rental::State;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Names the shape of the state; see `build.rs`.
const BUILD: &str = env!("STATE_BUILD");
/// Snapshots that are kept: the last, and the one before it in case the last is damaged.
const KEPT: usize = 2;

/// A state in the bytes of its snapshot: a few hundred for each lease, where a copy of the state takes thousands of pieces
/// of memory and ten times as long.
pub struct Image {
    seq: u64,
    bytes: Vec<u8>,
}

impl Image {
    /// The state as it is now.
    pub fn of(state: &State) -> io::Result<Image> {
        let bytes = postcard::to_allocvec(state).map_err(io::Error::other)?;
        Ok(Image { seq: state.seq, bytes })
    }
}

/// A folder of snapshots.
#[derive(Debug, Clone)]
pub struct Snapshots {
    folder: PathBuf,
}

impl Snapshots {
    /// Entries between two snapshots: folding so many takes a fraction of a second.
    pub const INTERVAL: u64 = 100_000;

    /// The snapshots in `folder`; it need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Snapshots {
        Snapshots { folder: folder.into() }
    }

    /// The newest state of this build that the journal has come through, or a fresh one.
    pub fn load(&self, journal: &dyn Source) -> Result<State, Failure> {
        for (seq, path) in self.files().into_iter().rev() {
            let Some(leaf_data) = leaf_data(journal, seq)? else { continue };
            if let Some(state) = read(&path, &leaf_data).filter(|state| state.seq == seq) {
                return Ok(state);
            }
        }
        Ok(State::default())
    }

    /// Writes a snapshot of what `journal` holds and drops the old ones.
    pub fn save(&self, image: &Image, journal: &dyn Source) -> io::Result<()> {
        let leaf_data = leaf_data(journal, image.seq).map_err(io::Error::other)?;
        let leaf_data = leaf_data.ok_or_else(|| io::Error::other("the journal does not reach as far as the state"))?;
        fs::create_dir_all(&self.folder)?;
        let unfinished = self.folder.join("unfinished");
        let written = write(&unfinished, &leaf_data, &image.bytes)
            .and_then(|()| fs::rename(&unfinished, self.folder.join(format!("{:020}.snapshot", image.seq))));
        if written.is_err() {
            // A full disk is not to stay so for a cache.
            let _ = fs::remove_file(&unfinished);
        }
        written?;
        File::open(&self.folder)?.sync_all()?;
        let files = self.files();
        for (_, path) in &files[..files.len().saturating_sub(KEPT)] {
            fs::remove_file(path)?;
        }
        Ok(())
    }

    /// Ascending by entry.
    fn files(&self) -> Vec<(u64, PathBuf)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let named = |path: PathBuf| {
            let seq = path.file_name()?.to_str()?.strip_suffix(".snapshot")?.parse().ok()?;
            Some((seq, path))
        };
        let mut files: Vec<(u64, PathBuf)> = entries.filter_map(|entry| named(entry.path())).collect();
        files.sort();
        files
    }
}

fn write(path: &Path, leaf_data: &Vec<u8>, state: &[u8]) -> io::Result<()> {
    let mut rest = postcard::to_allocvec(leaf_data).map_err(io::Error::other)?;
    rest.extend_from_slice(state);
    let mut file = File::create(path)?;
    file.write_all(BUILD.as_bytes())?;
    file.write_all(digest(&SHA256, &rest).as_ref())?;
    file.write_all(&rest)?;
    // The name must not be there before the bytes are.
    file.sync_all()
}

fn read(path: &Path, expected: &[u8]) -> Option<State> {
    let bytes = fs::read(path).ok()?;
    let (sum, rest) = bytes.strip_prefix(BUILD.as_bytes())?.split_at_checked(SHA256_OUTPUT_LEN)?;
    if digest(&SHA256, rest).as_ref() != sum {
        tracing::warn!(path = %path.display(), "a snapshot is damaged and passed over");
        return None;
    }
    let (leaf_data, state): (Vec<u8>, State) = postcard::from_bytes(rest).ok()?;
    (leaf_data == expected).then_some(state)
}
