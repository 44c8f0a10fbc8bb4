//! Every read of the views, inside the owner it is for.
//!
//! There is one place that names an owner in SQL: [`Within`]. It puts the owner's condition first in every statement,
//! joined by AND with whatever the caller asks; sums are taken after it.

use super::{Lease, Line, PartRow, Posting, Standing, failed, lease, schema, signed, unsigned};
use journal::Failure;
use rusqlite::{Connection, OpenFlags, Row, ToSql};
use std::path::Path;
use units::{LeaseId, Owner, ProjectId, TenantId, Time};

/// Reads of the views. One per thread that asks; any number beside the follower.
pub struct Queries {
    pub(super) connection: Connection,
}

/// Whose rows a query sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everybody's: the operator's eyes only.
    All,
    /// One owner's: a tenant's, or those of the operator's own parts.
    Owner(Owner),
}

impl From<TenantId> for Scope {
    fn from(tenant: TenantId) -> Scope {
        Scope::Owner(tenant.into())
    }
}

impl Scope {
    /// `?1` is [`Scope::owner`]: a statement of one scope that is bound to the other finds nothing.
    fn condition(self) -> &'static str {
        match self {
            Scope::All => "?1 IS NULL",
            Scope::Owner(_) => "owner = ?1",
        }
    }

    fn owner(self) -> Option<i64> {
        match self {
            Scope::All => None,
            Scope::Owner(owner) => Some(signed(owner.0)),
        }
    }
}

/// A stretch of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<T> {
    /// The last of the stretch before; `None`: from the beginning.
    pub after: Option<T>,
    /// How many at most.
    pub limit: u32,
    /// The newest first, or the oldest.
    pub newest_first: bool,
}

/// Which leases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeaseFilter {
    /// In one of these; empty: in any.
    pub standings: Vec<Standing>,
    /// Only of this project.
    pub project: Option<ProjectId>,
}

/// Where a posting stands: entry, and place in its part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PostingId {
    /// The entry.
    pub seq: u64,
    /// Its place among the events of its part.
    pub number: u32,
}

impl Queries {
    /// Opens views that [`super::Views::open`] or a follower has made.
    pub fn open(path: &Path) -> Result<Queries, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = schema::connect(path, flags).map_err(failed("opening the views to read"))?;
        Ok(Queries { connection })
    }

    /// The last entry that is folded.
    pub fn applied(&self) -> Result<u64, Failure> {
        Ok(schema::applied(&self.connection).map_err(failed("reading the views"))?.seq)
    }

    /// Everything asked through it stays in this scope.
    pub fn within(&self, scope: impl Into<Scope>) -> Within<'_> {
        Within { queries: self, scope: scope.into() }
    }
}

/// Reads inside one scope.
#[derive(Clone, Copy)]
pub struct Within<'a> {
    queries: &'a Queries,
    scope: Scope,
}

impl Within<'_> {
    /// A lease, live or closed.
    pub fn lease(&self, id: LeaseId) -> Result<Option<Lease>, Failure> {
        let id = signed(id.0);
        Ok(self.list(lease::SELECTED, "id = ?2", &[&id], Lease::read)?.pop())
    }

    /// Leases, by id.
    pub fn leases(&self, filter: &LeaseFilter, page: Page<LeaseId>) -> Result<Vec<Lease>, Failure> {
        let (beyond, order) = direction(page.newest_first);
        let after = page.after.map(|id| signed(id.0));
        let standings = match filter.standings.iter().fold(0, |set, standing| set | 1_i64 << *standing as u8) {
            0 => !0,
            set => set,
        };
        let project = filter.project.map(|id| signed(id.0));
        let rest = format!(
            "(?2 IS NULL OR id {beyond} ?2) AND (?3 >> standing) & 1 AND (?4 IS NULL OR project = ?4) ORDER BY id {order} LIMIT ?5"
        );
        self.list(lease::SELECTED, &rest, &[&after, &standings, &project, &page.limit], Lease::read)
    }

    /// Every line of a lease, in the order in which they were booked.
    pub fn lines_of(&self, lease: LeaseId) -> Result<Vec<Line>, Failure> {
        let lease = signed(lease.0);
        self.list("* FROM line", "lease = ?2 ORDER BY seq, number", &[&lease], Line::read)
    }

    /// Shows lines that touch `[from, until)`, uncut, in the order of their ends.
    pub fn lines_over(&self, from: Time, until: Time, visit: &mut dyn FnMut(Line)) -> Result<(), Failure> {
        let rest = "until > ?2 AND start < ?3 ORDER BY owner, until, seq, number";
        self.each("* FROM line", rest, &[&from.0, &until.0], &mut |row| {
            visit(Line::read(row)?);
            Ok(())
        })
    }

    /// A tenant's postings. Of all tenants together they are in the order of the tenants.
    pub fn statement(&self, page: Page<PostingId>) -> Result<Vec<Posting>, Failure> {
        let (beyond, order) = direction(page.newest_first);
        let (seq, number) = page.after.map(|id| (signed(id.seq), id.number)).unzip();
        let rest = format!(
            "(?2 IS NULL OR (seq, number) {beyond} (?2, ?3)) ORDER BY owner {order}, seq {order}, number {order} LIMIT ?4"
        );
        self.list("* FROM posting", &rest, &[&seq, &number, &page.limit], Posting::read)
    }

    /// An owner's parts, by entry.
    pub fn parts(&self, page: Page<u64>) -> Result<Vec<PartRow>, Failure> {
        let (beyond, order) = direction(page.newest_first);
        let after = page.after.map(signed);
        let rest = format!("(?2 IS NULL OR seq {beyond} ?2) ORDER BY seq {order}, owner LIMIT ?3");
        self.list("* FROM part", &rest, &[&after, &page.limit], PartRow::read)
    }

    /// Entries in `[from, until)` that have a part of the owner, ascending.
    pub fn seqs(&self, from: Time, until: Time) -> Result<Vec<u64>, Failure> {
        let rest = "time >= ?2 AND time < ?3 ORDER BY seq";
        self.list("seq FROM part", rest, &[&from.0, &until.0], |row| row.get(0).map(unsigned))
    }

    /// Entries whose part of the owner speaks of a lease, ascending: what a receipt's bundle proves.
    pub fn seqs_of(&self, lease: LeaseId) -> Result<Vec<u64>, Failure> {
        let lease = signed(lease.0);
        self.list("seq FROM part_of_lease", "lease = ?2 ORDER BY seq", &[&lease], |row| row.get(0).map(unsigned))
    }

    fn list<T>(
        &self,
        what: &str,
        rest: &str,
        more: &[&dyn ToSql],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Failure> {
        let mut found = Vec::new();
        self.each(what, rest, more, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The one place where rows are read: inside the scope, whatever `rest` says. Its parameters begin at `?2`.
    fn each(
        &self,
        what: &str,
        rest: &str,
        more: &[&dyn ToSql],
        visit: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), Failure> {
        let owner = self.scope.owner();
        let parameters: Vec<&dyn ToSql> = std::iter::once(&owner as &dyn ToSql).chain(more.iter().copied()).collect();
        let sql = format!("SELECT {what} WHERE {} AND {rest}", self.scope.condition());
        let mut run = || {
            let mut statement = self.queries.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(&parameters[..])?;
            while let Some(row) = rows.next()? {
                visit(row)?;
            }
            Ok(())
        };
        run().map_err(failed("reading the views"))
    }
}

fn direction(newest_first: bool) -> (&'static str, &'static str) {
    if newest_first { ("<", "DESC") } else { (">", "ASC") }
}
