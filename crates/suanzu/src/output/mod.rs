//! How answers are shown: tables for people, JSON, YAML and CSV for programs. Answers go to standard output, everything said
//! beside them to standard error.

mod cell;
mod column;
mod screen;
mod table;

pub use cell::{money, shown, text_of};
pub use column::{Column, Show};
pub use screen::{Format, Screen};
pub use table::{csv, sheet, table};
