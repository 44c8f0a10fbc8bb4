//! Where a running server listens, written into its data folder for whoever works on the same machine.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

const FILE: &str = "listening.json";

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listening {
    /// Such as `http://127.0.0.1:7070`.
    pub url: String,
    /// The certificate that it shows, where it made its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// The server's process.
    pub pid: u32,
}

/// Where the server of this folder listens, as far as it has written that down.
pub fn listening(data: &Path) -> Option<Listening> {
    serde_json::from_slice(&fs::read(data.join(FILE)).ok()?).ok()
}

/// Writes it down, all or nothing: a reader never sees half of it.
pub fn write(data: &Path, listening: &Listening) -> anyhow::Result<()> {
    let new = data.join("listening.new");
    let text = serde_json::to_string_pretty(listening)?;
    fs::write(&new, text).and_then(|()| fs::rename(&new, data.join(FILE))).context("writing down where the server listens")
}

/// Nobody listens any more.
pub fn remove(data: &Path) {
    // What is not there need not be removed; a stale file is overwritten at the next start.
    let _ = fs::remove_file(data.join(FILE));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_server_listens_is_read_back_until_it_stops() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(listening(folder.path()), None);
        let known = Listening { url: "http://127.0.0.1:1".into(), certificate: None, pid: 7 };
        write(folder.path(), &known).unwrap();
        assert_eq!(listening(folder.path()), Some(known));
        remove(folder.path());
        assert_eq!(listening(folder.path()), None);
    }
}
