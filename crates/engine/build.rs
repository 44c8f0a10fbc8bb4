//! Names the shape of the core's state, so that a snapshot of another build is never loaded.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Crates whose types stand in the state.
const CRATES: [&str; 4] = ["units", "billing", "placement", "rental"];

fn main() {
    let mut files: Vec<PathBuf> = Vec::new();
    for name in CRATES {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut files);
    }
    files.sort();
    // FNV-1a, 64 bits: enough to tell builds apart, and nothing secret hangs on it.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in files.iter().flat_map(|file| fs::read(file).unwrap_or_default()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    println!("cargo::rustc-env=STATE_BUILD={hash:016x}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}
