//! The disk under a measurement: which file system, and how long it takes to sync.

use anyhow::{Context as _, bail};
use std::{fs::File, io::Write, path::Path, time::Instant};

/// `statfs` types of file systems that live in memory (linux/magic.h): syncing costs nothing there.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6_u32 as i64];
/// Enough for a median.
const SYNCS: usize = 200;

/// What is under a folder.
pub struct Disk {
    /// The file system's type, as the kernel's number.
    pub kind: String,
    /// Median of an `fdatasync` after 4 KiB, in milliseconds.
    pub sync_p50_ms: f64,
}

/// Looks at the disk under `folder`; refuses one that is memory.
pub fn look(folder: &Path) -> anyhow::Result<Disk> {
    let kind = rustix::fs::statfs(folder).context("asking for the file system")?.f_type;
    if IN_MEMORY.contains(&kind) {
        bail!("{} is in memory: a durable figure needs a disk; name a folder with --data", folder.display());
    }
    let mut file = tempfile::NamedTempFile::new_in(folder).context("making a file to sync")?;
    let mut times: Vec<f64> = (0..SYNCS).map(|_| sync(file.as_file_mut())).collect::<Result<_, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(Disk { kind: named(kind), sync_p50_ms: times[SYNCS / 2] })
}

fn sync(file: &mut File) -> anyhow::Result<f64> {
    file.write_all(&[0x5a; 4096]).context("writing")?;
    let begun = Instant::now();
    file.sync_data().context("syncing")?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

fn named(kind: i64) -> String {
    match kind {
        0xef53 => "ext4".into(),
        0x5846_5342 => "xfs".into(),
        0x9123_683e => "btrfs".into(),
        0x794c_7630 => "overlayfs".into(),
        other => format!("{other:#x}"),
    }
}
