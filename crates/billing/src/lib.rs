//! Prices, rating and the double-entry book. Knows money and time; knows no lease, node, HTTP or SQL.
//!
//! Rating is multiplication only (see `units::Ticks`): a charge over `[a, b)` and one over `[b, c)` add up to the charge
//! over `[a, c)` exactly, wherever the cut falls and however the price changed in between.

mod book;
mod prices;
mod rating;

pub use book::{Account, Accounts, Move, Movement, Totals};
pub use prices::{Price, PriceBook, PriceItem, Sku, SkuId};
pub use rating::{Line, affords, rate, share_milli};
