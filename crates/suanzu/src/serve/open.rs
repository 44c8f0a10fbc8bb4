//! From a data folder to a running writer.

use anyhow::{Context as _, anyhow};
use engine::{Clock, Engine, Follower, Handle, Settings, Snapshots};
use journal::{Failure, Options, Sqlite};
use std::path::Path;

/// Opens the journal of this folder, or begins one; folds it; starts the writer and the views.
///
/// One process writes at a time: a second one is told so.
pub fn open(data: &Path) -> anyhow::Result<(Handle, Follower)> {
    let store = Sqlite::open(data, &Options::default()).map_err(|failure| in_words(failure, data))?;
    let mut reader = store.reader().context("reading the journal")?;
    let snapshots = Snapshots::new(data.join("snapshots"));
    let engine = Engine::open(Box::new(store), Some(&snapshots), &mut reader).context("folding the journal")?;
    let following = reader.try_clone().context("reading the journal")?;
    let handle = Handle::spawn(engine, Settings { snapshots: Some(snapshots), reader, clock: Clock::start() });
    let views = Follower::spawn(&data.join("views.sqlite"), following, &handle);
    Ok((handle, views.context("opening the views")?))
}

fn in_words(failure: Failure, data: &Path) -> anyhow::Error {
    match failure {
        Failure::InUse { .. } => {
            anyhow!("another process serves {}; stop it first, or name another folder with --data", data.display())
        }
        other => anyhow::Error::new(other).context(format!("opening {}", data.display())),
    }
}
