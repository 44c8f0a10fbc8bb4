//! What the operator changes while the house is full.

use super::tenants::{someone, u32_within};
use crate::{
    random::Random,
    world::{Call, World},
};
use rental::{Command, fleet, market, money, tenancy};
use units::{DeviceId, HOUR_MS, Micro, NodeId, Owner, Ticks};

fn call(world: &mut World, command: Command) -> Result<(), String> {
    world.call(Call::plain(Owner::OPERATOR, command))
}

/// A list that holds from now, from later, or from the past (which is refused).
pub(super) fn prices(world: &mut World, random: &mut Random) -> Result<(), String> {
    let clock = world.plane.clock(world.now);
    let from = clock.plus_ms(random.within(-1, 3 * HOUR_MS));
    let skus = ["card/T4", "card/L40S", "card/A100-80GB", "card/H100-80GB", "unit/cpu", "unit/tflops", "server/T4"];
    let priced = |sku: &&str, random: &mut Random| {
        let micro = if random.happens(20) { 0 } else { random.within(50_000, 40_000_000) };
        Some(market::Price { sku: sku.parse().ok()?, micro: Micro(micro) })
    };
    let prices = skus.iter().filter_map(|sku| random.happens(400).then(|| priced(sku, random)).flatten()).collect();
    call(world, Command::Market(market::Command::PublishPrices { from, prices }))
}

pub(super) fn policy(world: &mut World, random: &mut Random) -> Result<(), String> {
    let policy = market::Policy {
        arrears_grace_ms: *random.pick(&[0, 60_000, 3_600_000, 10_800_000]).unwrap_or(&0),
        share_compute: u32_within(random, 0, 200),
        share_memory_mib: u32_within(random, 0, 8_192),
        queue_bound_ms: random.within(0, 4 * HOUR_MS),
        unseen_after_ms: random.within(30_000, 300_000),
        lost_after_ms: *random.pick(&[0, 0, 120_000, 3_600_000]).unwrap_or(&0),
        clock_off_ms: random.within(1_000, 10_000),
    };
    call(world, Command::Market(market::Command::SetPolicy(policy)))
}

pub(super) fn credit(world: &mut World, random: &mut Random) -> Result<(), String> {
    let tenant = someone(world, random);
    let limit = if random.happens(400) { Ticks::ZERO } else { Ticks::from_cny(random.within(1, 120)) };
    call(world, Command::Money(money::Command::SetCredit { tenant, limit }))
}

pub(super) fn adjust(world: &mut World, random: &mut Random) -> Result<(), String> {
    let tenant = someone(world, random);
    let ticks = Ticks::from_fen(random.within(-6_000, 3_000));
    call(world, Command::Money(money::Command::Adjust { tenant, ticks, reason: "a correction".into() }))
}

pub(super) fn limits(world: &mut World, random: &mut Random) -> Result<(), String> {
    let tenant = someone(world, random);
    let limits = tenancy::Limits {
        cards_milli: random.happens(300).then(|| random.below(8_000)),
        leases: random.happens(300).then(|| u32_within(random, 0, 12)),
        spend: random.happens(200).then(|| Ticks::from_cny(random.within(0, 2_000))),
    };
    call(world, Command::Tenancy(tenancy::Command::SetLimits { tenant, limits }))
}

pub(super) fn close(world: &mut World, random: &mut Random) -> Result<(), String> {
    let (tenant, closed) = (someone(world, random), random.happens(300));
    call(world, Command::Tenancy(tenancy::Command::CloseTenant { tenant, closed }))
}

pub(super) fn mark_node(world: &mut World, random: &mut Random) -> Result<(), String> {
    let nodes: Vec<NodeId> = world.sites.iter().flat_map(|site| site.nodes()).collect();
    let Some(node) = random.pick(&nodes).copied() else { return Ok(()) };
    let mark = if random.happens(400) { fleet::Mark::Draining } else { fleet::Mark::Offered };
    call(world, Command::Fleet(fleet::Command::MarkNode { node, mark }))
}

pub(super) fn mark_device(world: &mut World, random: &mut Random) -> Result<(), String> {
    let devices: Vec<DeviceId> = world.sites.iter().flat_map(|site| site.uuids()).map(|(device, _)| device).collect();
    let Some(device) = random.pick(&devices).copied() else { return Ok(()) };
    let offered = random.happens(800);
    call(world, Command::Fleet(fleet::Command::MarkDevice { device, offered }))
}

/// Old idempotency keys are forgotten, as each month.
pub(super) fn remember_less(world: &mut World, _random: &mut Random) -> Result<(), String> {
    let before = world.plane.clock(world.now).plus_ms(-30 * 24 * HOUR_MS);
    let Some(engine) = world.plane.engine() else { return Ok(()) };
    engine.prune_repeats(before).map(|_| ()).map_err(|failure| failure.to_string())
}
