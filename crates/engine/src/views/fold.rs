//! Reading the journal in batches and writing what they change, each batch in one transaction.

use super::{
    Lease, Line, failed,
    gather::Gathered,
    lease,
    rows::PostingRow,
    schema::{self, Applied},
    signed,
};
use crate::{
    FoldError,
    fold::{decode, leaf_data},
    recent::{Parts, Recent},
};
use journal::{Failure, LogId, Source, sqlite::Checkpoints};
use rental::Part;
use rusqlite::{Connection, Transaction, params};
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};
use units::Time;

/// Entries of one batch. So many are written in 20 to 30 ms: that bounds how far behind a view is under load.
const BATCH: u64 = 1024;
/// Entries of one batch while far behind: the more of them, the more rows go to a page before it is written. 30 MB.
const FAR_BATCH: u64 = 16 * BATCH;

/// What an entry writes to the log, about: its rows, and its share of the pages that they lie in.
const ENTRY_BYTES: usize = 700;

/// The tables, to write.
pub struct Views {
    path: PathBuf,
    connection: Connection,
    log: LogId,
    applied: Applied,
    /// Time of the last entry that was folded since this was opened.
    time: Option<Time>,
    /// Whether the journal is known to hold what was folded.
    checked: bool,
    gathered: Gathered,
    checkpoints: Checkpoints,
}

impl Views {
    /// Opens the views in the file at `path`. A file of another log or of another version of the tables is emptied, one
    /// that is no database is removed: [`Views::advance`] folds it anew.
    pub fn open(path: &Path, log: LogId) -> Result<Views, Failure> {
        Views::of(path, log, schema::open(path, log)?)
    }

    fn of(path: &Path, log: LogId, (connection, applied): (Connection, Applied)) -> Result<Views, Failure> {
        let checkpoints = Checkpoints::spawn(path, None, schema::CHECKPOINT_PAGES)?;
        let (path, gathered) = (path.into(), Gathered::default());
        Ok(Views { path, connection, log, applied, time: None, checked: false, gathered, checkpoints })
    }

    /// Puts an empty file in the place of one that is spoiled: [`Views::advance`] folds it anew.
    pub(super) fn renew(&mut self) -> Result<(), Failure> {
        *self = Views::of(&self.path, self.log, schema::open_anew(&self.path, self.log)?)?;
        Ok(())
    }

    /// The last entry that is folded.
    pub fn applied(&self) -> u64 {
        self.applied.seq
    }

    /// Time of the last entry that was folded since the views were opened.
    pub fn applied_time(&self) -> Option<Time> {
        self.time
    }

    /// Folds every entry that `source` has and the views have not. Returns the last one.
    ///
    /// Views of entries that `source` does not hold (it was restored from an older backup) are emptied first.
    pub fn advance(&mut self, source: &dyn Source) -> Result<u64, FoldError> {
        while self.advance_batch(source, None)? {}
        Ok(self.applied.seq)
    }

    /// Folds one batch at most, of what `recent` holds where it goes on from here. Returns whether there may be more.
    pub(super) fn advance_batch(&mut self, source: &dyn Source, recent: Option<&Recent>) -> Result<bool, FoldError> {
        if let Some(failure) = self.checkpoints.failure() {
            return Err(failure.into());
        }
        if !self.checked {
            self.check(source)?;
        }
        let behind = source.size()?.saturating_sub(self.applied.seq);
        let limit = if behind > 2 * FAR_BATCH { FAR_BATCH } else { BATCH };
        let kept = recent.map_or_else(Vec::new, |recent| recent.from(self.applied.seq + 1, BATCH as usize));
        let gathered = if kept.is_empty() { self.gather(source, limit) } else { self.gather_kept(source, &kept) };
        let folded = gathered.and_then(|applied| {
            if applied.seq > self.applied.seq {
                self.write(&applied).map_err(failed("writing the views"))?;
            }
            Ok(applied)
        });
        match folded {
            Ok(applied) => {
                let entries = applied.seq - self.applied.seq;
                self.checkpoints.wrote(entries as usize * ENTRY_BYTES);
                self.applied = applied;
                self.gathered.forget();
                Ok(entries > 0 && entries < behind)
            }
            Err(error) => {
                // What was gathered is not in the file: the next attempt gathers it again.
                self.gathered = Gathered::default();
                Err(error)
            }
        }
    }

    /// Empties the views and folds the whole journal again.
    pub fn rebuild(&mut self, source: &dyn Source) -> Result<u64, FoldError> {
        self.empty()?;
        self.advance(source)
    }

    fn empty(&mut self) -> Result<(), Failure> {
        schema::empty(&mut self.connection, self.log).map_err(failed("emptying the views"))?;
        (self.applied, self.time, self.gathered) = (Applied::default(), None, Gathered::default());
        Ok(())
    }

    /// Whether the last folded entry is the one that the journal has in its place.
    fn check(&mut self, source: &dyn Source) -> Result<(), Failure> {
        let mut found = self.applied.seq == 0;
        if !found {
            found = leaf_data(source, self.applied.seq)?.as_ref() == Some(&self.applied.leaf_data);
        }
        if !found {
            self.empty()?;
        }
        self.checked = true;
        Ok(())
    }

    fn gather(&mut self, source: &dyn Source, limit: u64) -> Result<Applied, FoldError> {
        let mut applied = self.applied.clone();
        let mut outcome = Ok(());
        let mut entries = 0;
        source.read(self.applied.seq + 1, &mut |stored| {
            outcome = decode(&stored).and_then(|parts| self.add(&parts).map_err(FoldError::from));
            applied.seq = stored.seq;
            applied.leaf_data.clear();
            applied.leaf_data.extend_from_slice(stored.leaf_data);
            entries += 1;
            // Broken off, so that the journal's write-ahead log can be reset between batches.
            if outcome.is_ok() && entries < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome.map(|()| applied)
    }

    fn gather_kept(&mut self, source: &dyn Source, kept: &[Parts]) -> Result<Applied, FoldError> {
        kept.iter().try_for_each(|parts| self.add(parts))?;
        let seq = kept.last().and_then(|parts| Some(parts.first()?.seq)).unwrap_or(self.applied.seq);
        let leaf_data = leaf_data(source, seq)?.unwrap_or_default();
        Ok(Applied { seq, leaf_data })
    }

    fn add(&mut self, parts: &[Part]) -> Result<(), Failure> {
        self.time = parts.last().map(|part| part.time).or(self.time);
        parts.iter().try_for_each(|part| self.gathered.add(&self.connection, part))
    }

    fn write(&mut self, applied: &Applied) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        write_rows(&transaction, &mut self.gathered)?;
        self.gathered.slots.write(&transaction)?;
        schema::set_applied(&transaction, applied)?;
        transaction.commit()
    }
}

/// Writes in the order of each table's key, so that neighbours go to the same page.
fn write_rows(transaction: &Transaction<'_>, gathered: &mut Gathered) -> rusqlite::Result<()> {
    let mut upsert = transaction.prepare_cached(lease::UPSERT)?;
    gathered.changed().into_iter().try_for_each(|lease: &Lease| lease.write(&mut upsert))?;

    let mut insert = transaction.prepare_cached(Line::INSERT)?;
    gathered.lines.sort_unstable_by_key(|line| (line.tenant, line.until, line.seq, line.number));
    gathered.lines.drain(..).try_for_each(|line| line.write(&mut insert))?;

    let mut insert = transaction.prepare_cached(PostingRow::INSERT)?;
    gathered.postings.sort_unstable_by_key(|posting| (posting.tenant, posting.seq, posting.number));
    gathered.postings.drain(..).try_for_each(|posting| posting.write(&mut insert))?;

    let mut insert = transaction.prepare_cached("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?5)")?;
    gathered.parts.sort_unstable_by_key(|part| (part.owner, part.seq));
    for part in gathered.parts.drain(..) {
        let (owner, seq, part_seq) = (signed(part.owner.0), signed(part.seq), signed(part.part_seq));
        insert.execute(params![owner, seq, part_seq, part.time.0, part.kinds.join(" ")])?;
    }

    let mut insert = transaction.prepare_cached("INSERT INTO part_of_lease VALUES (?1, ?2, ?3)")?;
    gathered.parts_of_leases.sort_unstable();
    for (owner, lease, seq) in gathered.parts_of_leases.drain(..) {
        insert.execute(params![signed(owner.0), signed(lease.0), signed(seq)])?;
    }
    Ok(())
}
