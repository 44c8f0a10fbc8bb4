//! Snapshots of the state: a cache beside the journal that may be deleted at any time without loss.
//!
//! One file each: the build's name (16 bytes of text), then the state in postcard. A snapshot of another build is passed over.

use rental::State;
use std::{fs, io, path::PathBuf};

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
        let bytes = postcard::to_extend(state, BUILD.as_bytes().to_vec()).map_err(io::Error::other)?;
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

    /// The newest state of this build at or before entry `most`, or a fresh one.
    pub fn load(&self, most: u64) -> State {
        self.files().into_iter().rev().filter(|(seq, _)| *seq <= most).find_map(|(_, path)| read(&path)).unwrap_or_default()
    }

    /// Writes a snapshot and drops the old ones.
    pub fn save(&self, image: &Image) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let unfinished = self.folder.join("unfinished");
        fs::write(&unfinished, &image.bytes)?;
        fs::rename(&unfinished, self.folder.join(format!("{:020}.snapshot", image.seq)))?;
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

fn read(path: &std::path::Path) -> Option<State> {
    let bytes = fs::read(path).ok()?;
    postcard::from_bytes(bytes.strip_prefix(BUILD.as_bytes())?).ok()
}
