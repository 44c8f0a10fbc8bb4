//! Signs of life: when a workload was last known to run, kept for whoever comes once its shim was killed or its machine
//! was restarted. What served until nobody knows when is charged to its last sign.
//!
//! A sign is no proof of its own: it is given by who sees the workload run, and only while he sees it.

use super::clock;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

/// Bytes of a sign's file. It is written over in place, so that a kill leaves the old or the new sign; and it stays within one
/// sector of a disk.
const FILE_BYTES: usize = 256;

/// An instant on this machine, as the machine's next start can place it too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sign {
    /// Which start of the machine.
    pub(crate) boot: String,
    /// Milliseconds since that start.
    pub(crate) up_ms: u64,
    /// Milliseconds since 1970 by the wall clock, which alone goes on over a restart.
    pub(crate) wall_ms: u64,
}

impl Sign {
    /// This instant.
    pub(crate) fn now() -> Sign {
        Sign { boot: clock::boot_id(), up_ms: clock::since_boot_ms(), wall_ms: clock::wall_ms() }
    }

    /// Milliseconds from it until now.
    pub(crate) fn ago_ms(&self) -> u64 {
        self.until(&Sign::now())
    }

    /// Milliseconds from it until a later one. Over a restart of the machine it is the wall clock's difference, but not less
    /// than the machine has been up since: that long it was over for certain.
    pub(crate) fn until(&self, now: &Sign) -> u64 {
        if self.is_same_boot(now) {
            return now.up_ms - self.up_ms;
        }
        now.wall_ms.saturating_sub(self.wall_ms).max(now.up_ms)
    }

    /// Where the kernel names no start, one is told from another by time that went back.
    pub(crate) fn is_same_boot(&self, now: &Sign) -> bool {
        self.boot == now.boot && self.up_ms <= now.up_ms
    }

    /// Reads the last sign of a file; `None` where there is none, or a power cut left no whole one.
    pub(crate) fn read(path: &Path) -> Option<Sign> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }
}

/// The file of a workload's last sign.
pub(crate) struct SignFile(Option<File>);

impl SignFile {
    /// Opens or makes it.
    pub(crate) fn open(path: &Path) -> SignFile {
        SignFile(OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).ok())
    }

    /// Writes down that the workload runs now. It is not forced to the disk: that can wait for the kernel's own writing, and
    /// what a power cut takes of it is the tenant's gain.
    pub(crate) fn touch(&self) {
        let Some(file) = &self.0 else { return };
        let sign = serde_json::to_string(&Sign::now()).expect("a sign has no key that is not text");
        // A full disk must not stop a workload; the sign is older then.
        let _ = file.write_all_at(format!("{sign:<FILE_BYTES$}").as_bytes(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(boot: &str, up_ms: u64, wall_ms: u64) -> Sign {
        Sign { boot: boot.into(), up_ms, wall_ms }
    }

    #[test]
    fn a_sign_is_as_old_as_the_monotonic_clock_says_and_over_a_restart_as_the_wall_clock_but_not_younger_than_the_restart() {
        let sign = at("a", 5_000, 1_000_000);
        for (case, now, age) in [
            ("the same start, whatever was done to the wall clock", at("a", 12_000, 0), 7_000),
            ("a restart two hours later", at("b", 60_000, 8_200_000), 7_200_000),
            ("a restart, and a wall clock that went back", at("b", 60_000, 900_000), 60_000),
            ("a restart, and a wall clock that has lost its time", at("b", 60_000, 0), 60_000),
            ("a restart, and the wall clock says that it was just now", at("b", 60_000, 1_001_000), 60_000),
        ] {
            assert_eq!(sign.until(&now), age, "{case}");
        }
        assert_eq!(at("", 5_000, 1_000_000).until(&at("", 1_000, 1_100_000)), 100_000, "a start without a name");
    }

    #[test]
    fn the_last_sign_is_read_back_and_half_of_one_is_none() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("alive.json");
        assert_eq!(Sign::read(&path), None);
        let file = SignFile::open(&path);
        assert_eq!(Sign::read(&path), None, "nothing was seen yet");
        for _ in 0..2 {
            let before = Sign::now();
            file.touch();
            let sign = Sign::read(&path).expect("it was written");
            assert!(before.up_ms <= sign.up_ms && sign.up_ms <= clock::since_boot_ms());
            assert_eq!(fs::metadata(&path).expect("it is there").len(), FILE_BYTES as u64);
        }
        fs::write(&path, [0; FILE_BYTES]).expect("it is writable");
        assert_eq!(Sign::read(&path), None, "as a power cut may leave it");
    }
}
