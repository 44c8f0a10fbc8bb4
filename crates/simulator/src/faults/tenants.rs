//! Tenants' wishes, sensible and not.

use crate::{
    random::Random,
    world::{Call, World},
};
use engine::Attach;
use rental::{Command, lease, money};
use std::collections::BTreeMap;
use units::{
    Accept, Ask, Beside, HOUR_MS, Interval, LeaseId, Micro, Owner, ProjectId, Share, Size, TenantId, Ticks, Time, UnitKind,
    Workload,
};

const MODELS: [&str; 5] = ["T4", "L40S", "A100-80GB", "H100-80GB", "B200"];

pub(super) fn order(world: &mut World, random: &mut Random) -> Result<(), String> {
    let call = an_order(world, random);
    world.call(call)
}

/// Several at once: one batch of the writer.
pub(super) fn order_several(world: &mut World, random: &mut Random) -> Result<(), String> {
    let calls = (0..random.within(2, 5)).map(|_| an_order(world, random)).collect();
    world.calls(calls)
}

fn an_order(world: &mut World, random: &mut Random) -> Call {
    let tenant = someone(world, random);
    let request = lease::Request {
        tenant,
        project: project(world, tenant, random),
        ask: ask(random, world.now),
        wait: random.happens(600),
        on_failure: if random.happens(400) { lease::OnFailure::Requeue } else { lease::OnFailure::End },
        most: random.happens(60).then(|| Micro::from_cny(random.within(1, 90))),
    };
    let attach = Attach::All(vec![Attach::Workload(Box::new(workload(random))), Attach::Name("job".into())]);
    let mut call = keyed(world, tenant.into(), Command::Lease(lease::Command::Request(Box::new(request))));
    call.attach = attach;
    call.losses = u32::from(random.happens(60));
    call
}

fn ask(random: &mut Random, now: Time) -> Ask {
    let models = (0..[0, 0, 1, 3][usize::try_from(random.below(4)).unwrap_or(0)])
        .filter_map(|_| random.pick(&MODELS).copied())
        .map(|m| Accept { model: m.into(), rank: 0 });
    let models = models.collect();
    let beside = Beside { cpu_milli: u32_within(random, 0, 4_000), memory_mib: u32_within(random, 0, 32_768) };
    Ask {
        size: size(random),
        models,
        card_memory_mib: if random.happens(100) { 40_000 } else { 0 },
        beside: if random.happens(500) { beside } else { Beside::default() },
        pool: random.happens(80).then(|| units::PoolId(1 + random.below(3))),
        labels: if random.happens(50) { vec!["simulated".into()] } else { Vec::new() },
        interval: Interval { from: now, until: random.happens(300).then(|| now.plus_ms(random.within(60_000, 6 * HOUR_MS))) },
    }
}

fn size(random: &mut Random) -> Size {
    match random.below(10) {
        0 => Size::Servers(u32_within(random, 1, 2)),
        1..=3 => Size::Cards(if random.happens(850) { u32_within(random, 1, 2) } else { u32_within(random, 0, 8) }),
        4..=6 => Size::Share(share(random)),
        7 => Size::Units(UnitKind::Tflops, 10_000 + random.below(400_000)),
        _ => Size::Units(UnitKind::Cpu, random.below(16_000)),
    }
}

fn share(random: &mut Random) -> Share {
    if random.happens(100) {
        // Smaller or larger than any policy allows.
        return Share { compute: u32_within(random, 0, 1_050), memory_mib: u32_within(random, 0, 100_000) };
    }
    Share { compute: u32_within(random, 200, 700), memory_mib: u32_within(random, 8_192, 15_360) }
}

fn workload(random: &mut Random) -> Workload {
    let mut workload = Workload::default();
    if random.happens(80) {
        workload.argv = vec!["exit".into(), random.below(4).to_string()];
    } else if random.happens(300) {
        workload.env = BTreeMap::from([("SIMULATED_RUN_MS".into(), random.within(1_000, 3 * HOUR_MS).to_string())]);
    }
    workload
}

pub(super) fn stop(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some((lease, tenant)) = own(world, random) else { return Ok(()) };
    world.call(Call::plain(tenant.into(), Command::Lease(lease::Command::Stop { tenant, lease })))
}

/// The same stop twice in one batch.
pub(super) fn stop_twice(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some((lease, tenant)) = own(world, random) else { return Ok(()) };
    let stop = Call::plain(tenant.into(), Command::Lease(lease::Command::Stop { tenant, lease }));
    world.calls(vec![stop.clone(), stop])
}

pub(super) fn start(world: &mut World, random: &mut Random) -> Result<(), String> {
    let stopped = |world: &World, of: &(LeaseId, TenantId)| {
        world.plane.state().is_some_and(|s| s.lease.get(of.0).is_some_and(|l| l.status == lease::Status::Stopped))
    };
    let candidates: Vec<_> = world.leases.iter().filter(|of| stopped(world, of)).copied().collect();
    let Some((lease, tenant)) = random.pick(&candidates).copied().or_else(|| own(world, random)) else { return Ok(()) };
    let wait = random.happens(500);
    let mut call = keyed(world, tenant.into(), Command::Lease(lease::Command::Start { tenant, lease, wait }));
    call.losses = u32::from(random.happens(60));
    world.call(call)
}

pub(super) fn destroy(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some((lease, tenant)) = own(world, random) else { return Ok(()) };
    world.call(Call::plain(tenant.into(), Command::Lease(lease::Command::Destroy { tenant, lease })))
}

pub(super) fn extend(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some((lease, tenant)) = own(world, random) else { return Ok(()) };
    let until = random.happens(800).then(|| world.now.plus_ms(random.within(-60_000, 8 * HOUR_MS)));
    world.call(Call::plain(tenant.into(), Command::Lease(lease::Command::Extend { tenant, lease, until })))
}

pub(super) fn resize(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some((lease, tenant)) = own(world, random) else { return Ok(()) };
    let now = world.plane.state().and_then(|state| state.lease.get(lease).map(|l| l.ask.size));
    // Mostly a size of the same kind: only that can be done in place.
    let size = match now {
        Some(Size::Units(kind, milli)) if random.happens(800) => {
            Size::Units(kind, (milli / 2).max(1) + random.below(milli.max(1)))
        }
        Some(Size::Share(s)) if random.happens(800) => Size::Share(Share {
            compute: s.compute + u32_within(random, 0, 200),
            memory_mib: s.memory_mib + u32_within(random, 0, 8_000),
        }),
        _ => size(random),
    };
    world.call(Call::plain(tenant.into(), Command::Lease(lease::Command::Resize { tenant, lease, size })))
}

/// Another's lease, or one that never was; another's project.
pub(super) fn foreign(world: &mut World, random: &mut Random) -> Result<(), String> {
    let leases: Vec<_> = world.leases.iter().copied().collect();
    let (lease, owner) = random.pick(&leases).copied().unwrap_or((LeaseId(1_000_000), TenantId(0)));
    let lease = if random.happens(200) { LeaseId(1_000_000) } else { lease };
    let tenant = someone(world, random);
    if tenant == owner {
        return Ok(());
    }
    let until = None;
    let command = match random.below(5) {
        0 => lease::Command::Stop { tenant, lease },
        1 => lease::Command::Destroy { tenant, lease },
        2 => lease::Command::Start { tenant, lease, wait: true },
        3 => lease::Command::Extend { tenant, lease, until },
        _ => lease::Command::Resize { tenant, lease, size: Size::Cards(1) },
    };
    let refused = world.plane.submit(world.now, engine::Submission::plain("key-1", Command::Lease(command.clone())));
    if refused.is_ok() {
        Err(format!("{tenant} could do this with a lease of {owner}: {command:?}"))
    } else {
        world.turn().map(|_| ())
    }
}

pub(super) fn pay(world: &mut World, random: &mut Random) -> Result<(), String> {
    let tenant = someone(world, random);
    world.serial += 1;
    let (payment, ticks) = (format!("cash-{}", world.serial), Ticks::from_fen(random.within(1, 40_000)));
    let command = Command::Money(money::Command::TopUp { tenant, payment, ticks });
    let mut call = keyed(world, tenant.into(), command);
    call.losses = u32::from(random.happens(100));
    world.call(call)
}

/// A provider's notices: in any order, more than once, contradicting each other.
pub(super) fn pay_through_provider(world: &mut World, random: &mut Random) -> Result<(), String> {
    let tenant = someone(world, random);
    let payment = format!("provider-{}", random.below(40));
    let command = match random.below(3) {
        0 => money::Command::OpenPayment { tenant, payment, ticks: Ticks::from_cny(random.within(1, 60)) },
        1 => money::Command::SettlePayment { tenant, payment, paid: true },
        _ => money::Command::SettlePayment { tenant, payment, paid: false },
    };
    world.call(Call::plain(Owner::OPERATOR, Command::Money(command)))
}

/// A lease of someone's, mostly one that lives.
fn own(world: &World, random: &mut Random) -> Option<(LeaseId, TenantId)> {
    let state = world.plane.state();
    let lives = |of: &&(LeaseId, TenantId)| state.as_ref().is_some_and(|s| s.lease.get(of.0).is_some());
    let living: Vec<_> = world.leases.iter().filter(lives).copied().collect();
    let from = if random.happens(950) { living } else { world.leases.iter().copied().collect() };
    random.pick(&from).copied()
}

pub(super) fn someone(world: &World, random: &mut Random) -> TenantId {
    random.pick(&world.tenants).copied().unwrap_or(TenantId(1))
}

fn project(world: &World, tenant: TenantId, random: &mut Random) -> ProjectId {
    let state = world.plane.state();
    let own = state.and_then(|state| state.tenancy.projects_of(tenant).next());
    own.filter(|_| random.happens(990)).unwrap_or(ProjectId(1))
}

/// A call with the next idempotency key.
pub(super) fn keyed(world: &mut World, owner: Owner, command: Command) -> Call {
    world.serial += 1;
    Call::keyed(owner, command, world.serial)
}

pub(super) fn u32_within(random: &mut Random, least: u32, most: u32) -> u32 {
    u32::try_from(random.within(least.into(), most.into())).unwrap_or(least)
}
