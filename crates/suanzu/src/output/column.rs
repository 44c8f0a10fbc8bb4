//! Which fields of an answer are shown, under which title and in which way.

use crate::language::Phrase;

/// One column of a table, or one line of a sheet.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its title.
    pub title: &'static Phrase,
    /// Where in the object it is found (JSON pointer, RFC 6901).
    pub at: &'static str,
    /// How it is shown.
    pub show: Show,
}

/// How a field is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// As it is; lists with commas.
    Text,
    /// A word of the API in the reader's language.
    Word,
    /// `{amount, currency}` with at least two decimals, and as many as any other of its column.
    Money,
    /// The kind of a posting, such as `money.charged/1`, as a word.
    Posting,
    /// An instant, to the second.
    Time,
    /// MiB as GiB.
    Mib,
    /// Permille as percent.
    Permille,
    /// Milliseconds as `1h 30m`.
    Milliseconds,
    /// What was asked for, in the words of an order: `8 × A100-80GB`.
    Ask,
    /// What a lease has, by node.
    Grants,
    /// Other orders that would fit.
    Alternatives,
    /// `{taken, total}` as `2 / 8`.
    Taken,
    /// A node's cards, by model: `8 × A100-80GB`.
    Cards,
    /// Labels, with `simulated` as loud as [`Show::Simulated`].
    Labels,
    /// True as the word `SIMULATED`, so that nobody takes it for real; false as `real`.
    Simulated,
}

impl Column {
    /// A column.
    pub const fn new(title: &'static Phrase, at: &'static str, show: Show) -> Column {
        Column { title, at, show }
    }
}
