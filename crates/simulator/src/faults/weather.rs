//! What goes wrong: processes die, clocks jump, disks fill up, lines are cut, machines restart, backends lie.

use crate::{
    random::Random,
    world::{Call, DiskFault, Site, World},
};
use protocol::Instance;
use rental::{Command, fleet};
use units::{HOUR_MS, Owner};

/// The control plane dies and is back at once.
pub(super) fn crash(world: &mut World, random: &mut Random) -> Result<(), String> {
    world.count("crashes");
    world.plane.crash(world.now, random.within(0, 30_000), 0);
    Ok(())
}

/// The control plane is away for minutes or hours.
pub(super) fn outage(world: &mut World, random: &mut Random) -> Result<(), String> {
    world.count("crashes");
    world.plane.crash(world.now, random.within(60_000, 5 * HOUR_MS), 0);
    Ok(())
}

/// Between two starts of the control plane the machine's clock was set.
pub(super) fn crash_and_jump(world: &mut World, random: &mut Random) -> Result<(), String> {
    world.count("crashes");
    let jump = random.within(-2 * HOUR_MS, 2 * HOUR_MS);
    world.plane.crash(world.now, random.within(0, 60_000), jump);
    Ok(())
}

/// The control plane's clock jumps forward while it runs: its machine was asleep.
pub(super) fn jump(world: &mut World, random: &mut Random) -> Result<(), String> {
    world.count("jumps");
    world.plane.jump(random.within(1_000, 3 * HOUR_MS), world.now);
    Ok(())
}

pub(super) fn disk_full(world: &mut World, random: &mut Random) -> Result<(), String> {
    world.count("disk faults");
    world.plane.disk.fail((0..random.within(1, 4)).map(|_| DiskFault::Full));
    Ok(())
}

pub(super) fn disk_fails(world: &mut World, random: &mut Random) -> Result<(), String> {
    world.count("disk faults");
    world.plane.disk.fail([if random.happens(500) { DiskFault::Lost } else { DiskFault::Unconfirmed }]);
    Ok(())
}

fn a_site<'a>(world: &'a mut World, random: &mut Random) -> Option<&'a mut Site> {
    let at = random.below(world.sites.len() as u64);
    world.sites.get_mut(usize::try_from(at).ok()?)
}

pub(super) fn cut_line(world: &mut World, random: &mut Random) -> Result<(), String> {
    let long = random.happens(400);
    let until = world.now.plus_ms(if long { random.within(60_000, 4 * HOUR_MS) } else { random.within(1_000, 60_000) });
    if let Some(site) = a_site(world, random) {
        site.cut(until);
    }
    world.count("cut lines");
    Ok(())
}

pub(super) fn kill_agent(world: &mut World, random: &mut Random) -> Result<(), String> {
    let until = world.now.plus_ms(random.within(100, 300_000));
    if let Some(site) = a_site(world, random) {
        site.kill_agent(until);
    }
    world.count("dead agents");
    Ok(())
}

pub(super) fn reboot(world: &mut World, random: &mut Random) -> Result<(), String> {
    let until = world.now.plus_ms(random.within(20_000, 900_000));
    if let Some(site) = a_site(world, random) {
        let nodes: Vec<_> = site.nodes().collect();
        if let Some(node) = random.pick(&nodes) {
            site.reboot(*node, until);
        }
    }
    world.count("reboots");
    Ok(())
}

fn a_workload(site: &Site, random: &mut Random, now: units::Time) -> Option<Instance> {
    let all: Vec<Instance> = site.truth(now).map(|seen| seen.instance).collect();
    random.pick(&all).copied()
}

pub(super) fn crash_workload(world: &mut World, random: &mut Random) -> Result<(), String> {
    let now = world.now;
    let Some(site) = a_site(world, random) else { return Ok(()) };
    if let Some(instance) = a_workload(site, random, now) {
        let clock = site.clock(now);
        site.driver.crash(instance, i32::try_from(random.within(0, 255)).unwrap_or(1), clock);
        site.next_step = now;
    }
    Ok(())
}

pub(super) fn vanish(world: &mut World, random: &mut Random) -> Result<(), String> {
    let now = world.now;
    let Some(site) = a_site(world, random) else { return Ok(()) };
    if let Some(instance) = a_workload(site, random, now) {
        site.driver.vanish(instance);
        site.next_step = now;
    }
    Ok(())
}

pub(super) fn lose_device(world: &mut World, random: &mut Random) -> Result<(), String> {
    let now = world.now;
    let Some(site) = a_site(world, random) else { return Ok(()) };
    let uuids = site.uuids();
    if let Some((_, uuid)) = random.pick(&uuids) {
        let clock = site.clock(now);
        site.driver.lose_device(uuid, clock);
        site.next_step = now;
    }
    world.count("lost devices");
    Ok(())
}

/// Somebody reseats the cards, and the operator offers them again.
pub(super) fn restore_devices(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some(site) = a_site(world, random) else { return Ok(()) };
    let uuids = site.uuids();
    for (_, uuid) in &uuids {
        site.driver.restore_device(uuid);
    }
    let offer = |(device, _)| Call::plain(Owner::OPERATOR, Command::Fleet(fleet::Command::MarkDevice { device, offered: true }));
    let calls = uuids.into_iter().map(offer).collect();
    world.calls(calls)
}

/// A backend that does not answer.
pub(super) fn silence(world: &mut World, random: &mut Random) -> Result<(), String> {
    let until = world.now.plus_ms(random.within(1_000, 600_000));
    if let Some(site) = a_site(world, random) {
        let until = site.clock(until);
        site.driver.silence(until);
    }
    world.count("silent backends");
    Ok(())
}

/// A backend whose listings are empty and say that they are complete.
pub(super) fn lie(world: &mut World, random: &mut Random) -> Result<(), String> {
    let listings = u32::try_from(random.within(1, 6)).unwrap_or(1);
    if let Some(site) = a_site(world, random) {
        site.driver.lie_empty(listings);
    }
    world.count("lying backends");
    Ok(())
}

/// A node's wall clock is set wrong, or right again.
pub(super) fn skew(world: &mut World, random: &mut Random) -> Result<(), String> {
    let ms = if random.happens(500) { 0 } else { random.within(-24 * HOUR_MS, 24 * HOUR_MS) };
    if let Some(site) = a_site(world, random) {
        site.skew_ms = ms;
    }
    world.count("skewed clocks");
    Ok(())
}
