//! What may happen in one step, with its weight.

use super::{operator, tenants, weather};
use crate::{random::Random, world::World};

/// Something that happens to a world.
pub(super) type Deed = fn(&mut World, &mut Random) -> Result<(), String>;

/// What tenants do.
pub(super) const TENANTS: &[(u32, Deed)] = &[
    (300, tenants::order),
    (60, tenants::order_several),
    (100, tenants::stop),
    (30, tenants::stop_twice),
    (70, tenants::start),
    (90, tenants::destroy),
    (30, tenants::extend),
    (40, tenants::resize),
    (25, tenants::foreign),
    (50, tenants::pay),
    (15, tenants::pay_through_provider),
];

/// What the operator does.
pub(super) const OPERATOR: &[(u32, Deed)] = &[
    (12, operator::prices),
    (6, operator::policy),
    (10, operator::credit),
    (10, operator::adjust),
    (6, operator::limits),
    (4, operator::close),
    (8, operator::mark_node),
    (6, operator::mark_device),
    (6, operator::remember_less),
];

/// What goes wrong.
pub(super) const FAULTS: &[(u32, Deed)] = &[
    (10, weather::crash),
    (4, weather::outage),
    (4, weather::crash_and_jump),
    (3, weather::jump),
    (8, weather::disk_full),
    (6, weather::disk_fails),
    (12, weather::cut_line),
    (8, weather::kill_agent),
    (6, weather::reboot),
    (8, weather::crash_workload),
    (6, weather::vanish),
    (6, weather::lose_device),
    (8, weather::restore_devices),
    (6, weather::silence),
    (6, weather::lie),
    (4, weather::skew),
];
