//! How answers are shown: tables for people, JSON, YAML and CSV for programs. Answers go to standard output, everything said
//! beside them to standard error.

mod adding_up;
mod cell;
mod column;
mod live;
mod screen;
mod table;

pub use adding_up::add_up;
pub use cell::{money, money_to, places, shown, text_of};
pub use column::{Column, Show};
pub use live::Live;
pub use screen::{Format, Screen};
pub use table::{csv, sheet, table};
