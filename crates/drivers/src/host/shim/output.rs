//! A workload's output on disk: one stream of both its outputs, in files that are rotated by size.

use crate::host::folder::OutputLimits;
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Copies `from` to its end. What cannot be written is dropped: a full disk must not stop a workload.
pub(super) fn keep(mut from: impl Read, path: &Path, limits: OutputLimits) {
    let mut file = RotatedFile::open(path, limits);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => file.write(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

struct RotatedFile<'a> {
    path: &'a Path,
    limits: OutputLimits,
    file: Option<File>,
    written: u64,
}

impl RotatedFile<'_> {
    fn open(path: &Path, limits: OutputLimits) -> RotatedFile<'_> {
        RotatedFile { path, limits, file: create(path).ok(), written: 0 }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.written + bytes.len() as u64 > self.limits.max_bytes && self.written > 0 {
            self.rotate();
        }
        self.written += bytes.len() as u64;
        if let Some(file) = &mut self.file {
            // See `keep`: losing output is better than losing the workload.
            let _ = file.write_all(bytes);
        }
    }

    fn rotate(&mut self) {
        for age in (1..self.limits.files).rev() {
            // The older file is missing until there have been that many.
            let _ = fs::rename(rotated(self.path, age - 1), rotated(self.path, age));
        }
        self.file = create(self.path).ok();
        self.written = 0;
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// The name of an output file: 0 is the one being written, higher is older.
pub(crate) fn rotated(path: &Path, age: u32) -> PathBuf {
    if age == 0 {
        return path.to_owned();
    }
    let mut name = OsString::from(path);
    name.push(format!(".{age}"));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_beyond_its_limits_costs_the_oldest() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("output.log");
        let mut file = RotatedFile::open(&path, OutputLimits { max_bytes: 4, files: 3 });
        for word in ["aaa\n", "bbb\n", "ccc\n", "ddd\n"] {
            file.write(word.as_bytes());
        }
        let read = |age| fs::read_to_string(rotated(&path, age)).ok();
        assert_eq!([read(0), read(1), read(2)], [Some("ddd\n".into()), Some("ccc\n".into()), Some("bbb\n".into())]);
        assert_eq!(read(3), None);
    }
}
