//! Random lives of a small world: several tenants, nodes that fail, reports that are late, doubled or stale, prices that
//! move, a core that sleeps through its timers.
//!
//! After every entry the state's invariants hold and the stored bytes are read back as they were written (`support`); due
//! commands are never refused, always change something and end; an empty memo gives the same answer; nothing falls due
//! unannounced. Beside that: a refusal changes nothing, and every bill equals its naive recomputation.

mod support;

use proptest::prelude::*;
use rental::{Command, fleet, lease, market, money, stop_by, tenancy};
use support::{World, oracle::Oracle};
use units::{
    Accept, AgentId, Ask, Beside, DeviceId, HOUR_MS, Interval, LeaseId, Micro, NodeId, Observation, Phase, PoolId, Share, Size,
    TenantId, Ticks, Time, UnitKind,
};

/// A wish in numbers, small enough to shrink well: what, and three details of it.
type Wish = (u8, u16, u16, u16);

/// Chances out of 40 that what is wished is …
const ORDER: std::ops::Range<u8> = 0..6;
const REPORT: std::ops::Range<u8> = 6..22;
const CHANGE: std::ops::Range<u8> = 22..29;
const CLEAN: std::ops::Range<u8> = 29..32;
const MONEY: std::ops::Range<u8> = 32..35;
const MARKET: std::ops::Range<u8> = 35..37;
const FLEET: std::ops::Range<u8> = 37..39;

fn wish(world: &World, (what, a, b, c): Wish) -> Command {
    let tenant = TenantId(1 + u64::from(a % 3));
    match what {
        w if ORDER.contains(&w) => order(world, tenant, b, c),
        w if REPORT.contains(&w) => report(world, a, b, c),
        w if CHANGE.contains(&w) => change(world, a, b, c),
        w if CLEAN.contains(&w) => clean(world, a, b),
        w if MONEY.contains(&w) => pay(world, tenant, b, c),
        w if MARKET.contains(&w) => prices(world, a, b, c),
        w if FLEET.contains(&w) => nodes(a, b),
        _ => rules(world, tenant, b, c),
    }
}

fn size(b: u16) -> Size {
    let n = u32::from(b / 16 % 5);
    match b % 16 {
        0..3 => Size::Cards(n),
        // More than any node has: a gang over several.
        3..6 => Size::Cards(4 + n % 3),
        6..10 => Size::Share(Share { compute: 100 + 100 * n, memory_mib: 4_096 + 9_000 * n }),
        10..12 => Size::Units(UnitKind::Cpu, 1_000 * u64::from(n)),
        12..14 => Size::Units(UnitKind::Tflops, 100_000 * u64::from(n) + 7),
        _ => Size::Servers(n % 3),
    }
}

fn order(world: &World, tenant: TenantId, b: u16, c: u16) -> Command {
    let models: &[&str] = if b.is_multiple_of(2) { &["A100"] } else { &["L4", "A100"] };
    let ask = Ask {
        size: size(b),
        models: models.iter().map(|m| Accept { model: (*m).into(), rank: 9 }).collect(),
        card_memory_mib: 0,
        beside: Beside { cpu_milli: 100, memory_mib: 64 },
        pool: None,
        labels: vec![],
        interval: Interval { from: Time(0), until: (c.is_multiple_of(7)).then(|| world.now.plus_ms(i64::from(c) * 500)) },
    };
    let on_failure = if c.is_multiple_of(2) { lease::OnFailure::Requeue } else { lease::OnFailure::End };
    let most = (c.is_multiple_of(5)).then_some(Micro::from_cny(12));
    let project = world.state.tenancy.projects_of(tenant).next().unwrap_or(units::ProjectId(0));
    Command::Lease(lease::Command::Request(Box::new(lease::Request { tenant, project, ask, wait: c % 4 != 1, on_failure, most })))
}

/// A lease that is not ended; now and then one that is not there.
fn some_lease(world: &World, a: u16) -> (TenantId, LeaseId) {
    let all: Vec<&lease::Lease> = world.state.lease.all().collect();
    match all.get(usize::from(a) % (all.len() + 1)) {
        Some(lease) => (if a.is_multiple_of(11) { TenantId(9) } else { lease.tenant }, lease.id),
        None => (TenantId(1), LeaseId(u64::from(a))),
    }
}

/// Up to three leases at once, now and then one of them twice.
fn report(world: &World, a: u16, b: u16, c: u16) -> Command {
    let sightings = (0..1 + c % 3).map(|n| sighting(world, a.wrapping_add(n), b, c.wrapping_add(5 * n)));
    let sightings: Vec<_> = sightings.collect();
    match lease::Command::reports(sightings.clone()).pop() {
        Some(command) if !b.is_multiple_of(13) => Command::Lease(command),
        _ => Command::Lease(lease::Command::Report { sightings }),
    }
}

fn sighting(world: &World, a: u16, b: u16, c: u16) -> lease::Sighting {
    let (_, id) = some_lease(world, a);
    let lease = world.state.lease.get(id);
    let attempt = lease.map_or(1, |l| l.attempt).saturating_sub(u32::from(c.is_multiple_of(17)));
    let members: Vec<NodeId> = lease.map(|l| l.members.iter().map(|m| m.grant.node).collect()).unwrap_or_default();
    let node = members.get(usize::from(b) % members.len().max(1)).copied().unwrap_or(NodeId(1));
    let stopping = lease.is_some_and(|l| matches!(l.status, lease::Status::Stopping(_)));
    let phase = match c % 24 {
        0..18 if stopping => Phase::Gone,
        0..18 => Phase::Ready,
        18 | 19 => Phase::Gone,
        20 => Phase::Exited(1),
        21 => Phase::Failed("device lost".into()),
        22 => Phase::OutOfFunds,
        _ => Phase::Starting("…".into()),
    };
    let ago = if c.is_multiple_of(3) { i64::from(b) * 150 } else { 0 };
    let seen = Observation { lease: id, attempt, node, phase, ago_ms: 0 };
    lease::Sighting { seen, since: world.now.plus_ms(-ago + i64::from(c.is_multiple_of(7)) * 5_000) }
}

fn change(world: &World, a: u16, b: u16, c: u16) -> Command {
    let (tenant, lease) = some_lease(world, a);
    Command::Lease(match b % 8 {
        0 | 1 => lease::Command::Stop { tenant, lease },
        2 => lease::Command::Destroy { tenant, lease },
        3 => lease::Command::Start { tenant, lease, wait: c.is_multiple_of(2) },
        4 => {
            lease::Command::Extend { tenant, lease, until: (!c.is_multiple_of(4)).then(|| world.now.plus_ms(i64::from(c) * 200)) }
        }
        5 | 6 => lease::Command::Resize { tenant, lease, size: other_size(world, lease, c) },
        _ => lease::Command::GiveUp { leases: vec![(lease, world.now.plus_ms(-i64::from(c) * 100))] },
    })
}

/// Twice as much of the same, or anything.
fn other_size(world: &World, lease: LeaseId, c: u16) -> Size {
    match world.state.lease.get(lease).map(|l| l.ask.size) {
        Some(Size::Share(share)) if !c.is_multiple_of(4) => {
            Size::Share(Share { compute: share.compute + 100, memory_mib: share.memory_mib * 2 })
        }
        Some(Size::Units(UnitKind::Cpu, milli)) if !c.is_multiple_of(4) => Size::Units(UnitKind::Cpu, milli / 2 + 500),
        _ => size(c),
    }
}

fn clean(world: &World, a: u16, b: u16) -> Command {
    let waiting = world.state.fleet.waiting().flat_map(|(_, grant)| grant.slices.iter().map(|s| s.device));
    let mut devices: Vec<DeviceId> = waiting.collect();
    if a.is_multiple_of(4) {
        devices.retain(|device| !u64::from(b).is_multiple_of(device.0 + 1));
    }
    Command::Fleet(fleet::Command::Clear { devices, heard: None })
}

fn pay(world: &World, tenant: TenantId, b: u16, c: u16) -> Command {
    let ticks = Ticks::from_fen(i64::from(b % 4_000) + 1);
    Command::Money(match c % 6 {
        0..3 => money::Command::TopUp { tenant, payment: format!("p{}", world.state.seq), ticks },
        3 => money::Command::SetCredit { tenant, limit: if b.is_multiple_of(2) { Ticks::ZERO } else { ticks } },
        4 => money::Command::Adjust { tenant, ticks: if b.is_multiple_of(3) { -ticks } else { ticks }, reason: "so".into() },
        _ => money::Command::TopUp { tenant, payment: "again".into(), ticks: Ticks::from_cny(3) },
    })
}

fn prices(world: &World, a: u16, b: u16, c: u16) -> Command {
    let skus = ["card/A100", "card/L4", "unit/cpu", "unit/tflops", "server/A100"];
    let sku = skus[usize::from(a) % skus.len()].parse().expect("a SKU");
    let micro = if b.is_multiple_of(9) { Micro(0) } else { Micro(i64::from(b) * 333) };
    let from = world.now.plus_ms(if c.is_multiple_of(3) { 0 } else { i64::from(c) * 300 });
    Command::Market(market::Command::PublishPrices { from, prices: vec![market::Price { sku, micro }] })
}

fn nodes(a: u16, b: u16) -> Command {
    let (node, device) = (NodeId(1 + u64::from(a % 5)), DeviceId(1 + u64::from(a % 12)));
    if b % 9 == 8 {
        return add_node(&format!("late{}", a % 3), "L4", 2);
    }
    Command::Fleet(match b % 9 {
        0..4 => fleet::Command::MarkNode { node, mark: fleet::Mark::Offered },
        4 => fleet::Command::MarkNode { node, mark: fleet::Mark::Lost },
        5 => fleet::Command::MarkNode { node, mark: fleet::Mark::Draining },
        6 => fleet::Command::MarkDevice { device, offered: !a.is_multiple_of(3) },
        _ => fleet::Command::RemoveNode { node },
    })
}

fn rules(world: &World, tenant: TenantId, b: u16, c: u16) -> Command {
    let limits = tenancy::Limits {
        cards_milli: (b.is_multiple_of(3)).then_some(u64::from(c % 6) * 1_000),
        leases: (b.is_multiple_of(5)).then_some(u32::from(c % 4)),
        spend: (b.is_multiple_of(7)).then_some(Ticks::from_cny(i64::from(c % 100))),
    };
    match c % 3 {
        0 => Command::Tenancy(tenancy::Command::SetLimits { tenant, limits }),
        1 => Command::Tenancy(tenancy::Command::CloseTenant { tenant, closed: b.is_multiple_of(2) }),
        _ => {
            let (grace, bound) = (i64::from(b % 3) * HOUR_MS / 2, i64::from(b % 4) * HOUR_MS);
            let policy = &world.state.market.policy;
            let policy = market::Policy { arrears_grace_ms: grace, queue_bound_ms: bound, ..policy.clone() };
            Command::Market(market::Command::SetPolicy(policy))
        }
    }
}

fn add_node(name: &str, model: &str, cards: usize) -> Command {
    let device =
        placement::DeviceSpec { id: DeviceId(0), model: model.into(), memory_mib: 40_960, tflops_milli: 312_000, max_shares: 4 };
    let devices = vec![device; cards];
    let spec = placement::NodeSpec { pool: PoolId(1), cpu_milli: 8_000, memory_mib: 4_096, labels: vec![], devices };
    Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: name.into(), spec })
}

fn settled_world(oracle: &mut Oracle) -> World {
    let mut world = World::default();
    world.now = Time(1_000_000_000_000);
    let mut setup = vec![
        Command::Fleet(fleet::Command::AddPool { name: "pool".into() }),
        Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }),
        add_node("n1", "A100", 4),
        add_node("n2", "A100", 4),
        add_node("n3", "L4", 2),
        add_node("n4", "L4", 0),
    ];
    for sku in ["card/A100", "card/L4", "unit/cpu", "unit/tflops"] {
        let price = market::Price {
            sku: sku.parse().expect("a SKU"),
            micro: Micro(if sku.starts_with("card") { 7_200_000 } else { 20_000 }),
        };
        setup.push(Command::Market(market::Command::PublishPrices { from: world.now, prices: vec![price] }));
    }
    for tenant in 1..=3 {
        setup.push(Command::Tenancy(tenancy::Command::CreateTenant));
        let (payment, ticks) = ("first".to_owned(), Ticks::from_cny(40 * tenant));
        setup.push(Command::Money(money::Command::TopUp { tenant: TenantId(tenant as u64), payment, ticks }));
    }
    for command in setup {
        let events = world.submit(&command).expect("the scene is set");
        oracle.see(world.now, &command, &events).expect("nothing is charged yet");
    }
    world
}

/// Milliseconds that pass before a wish.
fn pause(n: u16) -> i64 {
    match n % 8 {
        0..3 => 0,
        3 => i64::from(n % 20),
        4 => 10_000,
        5 => i64::from(n) * 7,
        6 => HOUR_MS / 2 + i64::from(n),
        _ => i64::from(n) * 600,
    }
}

/// Plays wishes, each after a pause; returns the kinds of the events that came of them.
fn live(wishes: &[(Wish, u16)]) -> Result<Vec<&'static str>, TestCaseError> {
    let fail = |wrong: String| TestCaseError::fail(wrong);
    let mut oracle = Oracle::default();
    let mut world = settled_world(&mut oracle);
    let mut seen = world.entries.len();
    for (n, (what, time)) in wishes.iter().enumerate() {
        let until = world.now.plus_ms(pause(*time));
        // Now and then the core sleeps through its timers, and a wish comes before them.
        if time.is_multiple_of(6) {
            world.now = until.plus_ms(i64::from(*time) * 200);
        } else {
            world.advance(until).map_err(fail)?;
        }
        let command = wish(&world, *what);
        one_by_one(&world, &command).map_err(fail)?;
        let before = world.state.clone();
        if world.submit(&command).is_err() {
            prop_assert!(world.state == before, "a refusal of {:?} changed something", command);
        }
        world.settle().map_err(fail)?;
        for entry in &world.entries[seen..] {
            oracle.see(entry.time, &entry.command, &entry.events).map_err(|wrong| fail(format!("{n}: {wrong}")))?;
        }
        seen = world.entries.len();
        let charged = oracle.charged();
        for (tenant, book) in world.state.money.books() {
            let right = charged.get(&tenant).copied().unwrap_or(0);
            prop_assert_eq!(book.totals().charged.0, right, "{}: {} is charged", n, tenant);
            stop_by(&world.state, tenant, world.now);
        }
    }
    world.refold().map_err(fail)?;
    Ok(world.entries.iter().flat_map(|entry| &entry.events).map(|event| event.kind()).collect())
}

/// A report of several leases does what its sightings do one by one.
fn one_by_one(world: &World, command: &Command) -> Result<(), String> {
    let Command::Lease(lease::Command::Report { sightings }) = command else { return Ok(()) };
    let (mut together, mut singly) = (world.state.clone(), world.state.clone());
    // A report that has a lease twice is refused.
    let Some(()) = play(&mut together, world.now, command) else { return Ok(()) };
    for lease::Sighting { seen, since } in sightings {
        play(&mut singly, world.now, &Command::Lease(lease::Command::report(seen.clone(), *since))).expect("it is one alone");
    }
    if told(&together) == told(&singly) { Ok(()) } else { Err(format!("it matters that {sightings:?} come together")) }
}

fn play(state: &mut rental::State, now: Time, command: &Command) -> Option<()> {
    let events = rental::decide(state, now, command).ok()?;
    if !events.is_empty() {
        let parts = rental::seal(state, now, events);
        rental::apply(state, parts);
    }
    Some(())
}

/// Leases, books and capacity, but for the numbers of entries.
fn told(state: &rental::State) -> String {
    let leases = state.lease.all().map(|lease| (lease::Lease { changed: 0, ..lease.clone() }, state.money.run(lease.id)));
    let leases: Vec<_> = leases.collect();
    let waiting: Vec<_> = state.fleet.waiting().map(|(_, grant)| grant).collect();
    format!("{leases:?} {:?} {:?} {waiting:?}", state.money.books(), state.fleet.devices().occupancy())
}

fn lives() -> impl Strategy<Value = Vec<(Wish, u16)>> {
    proptest::collection::vec(((0u8..40, any::<u16>(), any::<u16>(), any::<u16>()), any::<u16>()), 1..160)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_invariant_holds_and_every_bill_is_right(
        wishes in lives()
    ) {
        live(&wishes)?;
    }
}

/// A property that never meets a case proves nothing about it.
#[test]
fn the_lives_meet_every_kind_of_event() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let mut met = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..150 {
        let wishes = lives().new_tree(&mut runner).expect("a life").current();
        for event in live(&wishes).expect("a life without a fault") {
            *met.entry(event).or_default() += 1;
        }
    }
    let wanted = [
        "lease.queued/1",
        "lease.placed/1",
        "lease.member_ready/1",
        "lease.started/1",
        "lease.renewed/1",
        "lease.extended/1",
        "lease.resized/1",
        "lease.stopping/1",
        "lease.service_ended/1",
        "lease.member_gone/1",
        "lease.stopped/1",
        "lease.ended/1",
        "money.held/1",
        "money.charged/1",
        "money.reversed/1",
        "money.lost/1",
        "fleet.cleared/1",
        "fleet.node_removed/1",
    ];
    for kind in wanted {
        assert!(met.get(kind).is_some_and(|n| *n >= 10), "{kind} was met {:?} times", met.get(kind));
    }
}
