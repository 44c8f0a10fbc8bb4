//! Bodies that several routes share, and the way between them and the core's own types.

mod ask;
mod lease;
mod money;
mod order;

pub use ask::{AskBody, GrantBody, SizeBody};
pub(crate) use ask::{alternative, decimal, milli};
pub use lease::{LeaseBody, LeaseState};
pub(crate) use lease::{Live, SIMULATED, hourly, ordered, reason_name};
pub use money::Money;
pub(crate) use money::{cny, price};
pub use order::Order;
