//! The nouns that every crate shares: money, time, ids, shares, asks, assignments.
//!
//! Plain data only. No rule of renting, billing or placing lives here; what is here means the same in the
//! core, in the stored bytes and on the wire.

mod ask;
mod assignment;
mod ids;
mod money;
mod share;
mod time;
mod workload;

pub use ask::{Accept, Ask, Beside, Size, UnitKind};
pub use assignment::{Assignment, Observation, Phase, Wanted};
pub use ids::{AgentId, DeviceId, KeyId, LeaseId, NodeId, Owner, ParseIdError, PoolId, PriceListId, ProjectId, TenantId, UserId};
pub use money::{Micro, ParseMoneyError, Rate, Ticks};
pub use share::{Grant, Share, Slice};
pub use time::{HOUR_MS, Interval, Time};
pub use workload::{Runtime, Workload};
