//! A file of views that is of no use any more: only a new one, folded from the journal, helps.

use journal::Failure;
use rusqlite::ErrorCode;
use units::LeaseId;

#[derive(Debug, thiserror::Error)]
enum Spoiled {
    #[error(transparent)]
    Damaged(rusqlite::Error),
    #[error("they lack {0}, which was requested in an entry before")]
    Missing(LeaseId),
}

/// Turns an error of SQLite into a failure. All of it may pass or be mended by folding anew: nothing here is the truth.
pub(super) fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> Failure {
    move |error| {
        let cause = if is_damage(&error) { Spoiled::Damaged(error).into() } else { error.into() };
        Failure::Storage { doing, retryable: true, cause }
    }
}

/// The views do not have a lease that they were told of.
pub(super) fn missing(lease: LeaseId) -> Failure {
    Failure::Storage { doing: "folding the views", retryable: true, cause: Spoiled::Missing(lease).into() }
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Whether it is the views that are spoiled. A journal that is damaged is another matter.
pub(super) fn is_spoiled(failure: &Failure) -> bool {
    matches!(failure, Failure::Storage { cause, .. } if cause.is::<Spoiled>())
}
