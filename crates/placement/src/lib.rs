//! What fits where, and why not: the fleet's shape, what is taken of it, and where an ask would go.
//!
//! Placement never learns a price, a tenant or a lease. Asks come with ranks in place of prices; answers are
//! grants, or counted reasons over all nodes and what would fit instead. Everything is a function of the
//! [`Fleet`]: no clock, no randomness, the lowest id wins a tie.

mod alternatives;
mod card;
mod check;
mod fleet;
mod node;
mod place;
mod room;
mod row;
mod spec;
mod view;
mod why;

pub use alternatives::{Alternative, Change, alternatives};
pub use fleet::Fleet;
pub use node::Amount;
pub use place::{could_ever_fit, find, place};
pub use spec::{DeviceSpec, NodeSpec, NodeStatus};
pub use view::{DeviceView, NodeView, Occupancy};
pub use why::{Reason, WhyNot};
