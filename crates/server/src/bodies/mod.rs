//! Bodies that several routes share, and the way between them and the core's own types.

mod ask;
mod instant;
mod lease;
mod money;
mod name;
mod order;
mod workload;

pub use ask::{AskBody, GrantBody, SizeBody};
pub(crate) use ask::{alternative, decimal, milli};
pub(crate) use instant::instant;
pub use lease::{LeaseBody, LeaseState};
pub(crate) use lease::{Live, SIMULATED, hourly, ordered, reason_name};
pub use money::Money;
pub(crate) use money::{cny, price};
pub use name::Name;
pub use order::Order;
pub(crate) use workload::words;
