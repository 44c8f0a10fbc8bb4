//! How answers are shown: tables for people, JSON, YAML and CSV for programs. Answers go to standard output, everything said
//! beside them to standard error.

mod cell;
mod column;
mod live;
mod screen;
mod table;

pub use cell::{money, money_to, shown, text_of};
pub use column::{Column, Show};
pub use live::Live;
pub use screen::{Format, Screen};
pub use table::{csv, sheet, table};
