//! Whatever the core decides, in whatever order it is asked, the auditor finds sound.

mod world;

use proptest::{prelude::*, strategy::ValueTree};
use rental::{Command, Event, fleet, lease, market, money};
use units::{DeviceId, LeaseId, NodeId, Observation, Phase, Share, Size, TenantId, Ticks, Time, UnitKind};
use world::{HOUR, MINUTE, World};

/// What happens next. Numbers are taken modulo what there is.
#[derive(Debug, Clone)]
enum Step {
    Pass(i64),
    /// Time goes by and nobody looks.
    Sleep(i64),
    Order {
        tenant: u64,
        size: Size,
        end: Option<i64>,
        wait: bool,
        requeue: bool,
    },
    Report {
        lease: u64,
        node: u64,
        phase: Phase,
        ago: i64,
    },
    /// All nodes of a lease report the same.
    ReportAll {
        lease: u64,
        phase: Phase,
        ago: i64,
    },
    Stop(u64),
    Start(u64, bool),
    Destroy(u64),
    Extend(u64, Option<i64>),
    Resize(u64, Size),
    GiveUp(u64, i64),
    Clear,
    Pay(u64, i64),
    Adjust(u64, i64),
    Credit(u64, i64),
    Prices(i64, u8, i64),
    Grace(i64),
    Mark(u64, fleet::Mark),
    MarkDevice(u64, bool),
    AddNode(usize),
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        (1u32..3).prop_map(Size::Servers),
        (1u32..5).prop_map(Size::Cards),
        (1u32..11, 1u32..9).prop_map(|(c, m)| Size::Share(Share { compute: c * 100, memory_mib: m * 10_000 })),
        (1u64..700_000).prop_map(|milli| Size::Units(UnitKind::Tflops, milli)),
        (1u64..40_000).prop_map(|milli| Size::Units(UnitKind::Cpu, milli)),
    ]
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        6 => Just(Phase::Ready),
        4 => Just(Phase::Gone),
        1 => Just(Phase::Exited(1)),
        1 => Just(Phase::Failed("device lost".into())),
        1 => Just(Phase::OutOfFunds),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0u64..12;
    let end = || proptest::option::weighted(0.3, 1i64..6 * HOUR);
    let ago = prop_oneof![2 => Just(0i64), 1 => 0i64..3 * HOUR];
    let mark = prop_oneof![
        3 => Just(fleet::Mark::Offered),
        1 => Just(fleet::Mark::Draining),
        1 => Just(fleet::Mark::Lost),
    ];
    prop_oneof![
        6 => (1i64..2 * HOUR).prop_map(Step::Pass),
        1 => (1i64..9 * HOUR).prop_map(Step::Sleep),
        8 => (1u64..3, size(), end(), any::<bool>(), any::<bool>())
            .prop_map(|(tenant, size, end, wait, requeue)| Step::Order { tenant, size, end, wait, requeue }),
        4 => (id.clone(), 0u64..4, phase(), ago.clone())
            .prop_map(|(lease, node, phase, ago)| Step::Report { lease, node, phase, ago }),
        10 => (id.clone(), phase(), ago.clone()).prop_map(|(lease, phase, ago)| Step::ReportAll { lease, phase, ago }),
        3 => id.clone().prop_map(Step::Stop),
        2 => (id.clone(), any::<bool>()).prop_map(|(l, wait)| Step::Start(l, wait)),
        1 => id.clone().prop_map(Step::Destroy),
        1 => (id.clone(), end()).prop_map(|(l, end)| Step::Extend(l, end)),
        2 => (id.clone(), size()).prop_map(|(l, size)| Step::Resize(l, size)),
        1 => (id, ago).prop_map(|(l, ago)| Step::GiveUp(l, ago)),
        4 => Just(Step::Clear),
        2 => (1u64..3, 1i64..60).prop_map(|(t, cny)| Step::Pay(t, cny)),
        1 => (1u64..3, -20i64..20).prop_map(|(t, cny)| Step::Adjust(t, cny)),
        1 => (1u64..3, 0i64..30).prop_map(|(t, cny)| Step::Credit(t, cny)),
        1 => (0i64..3 * HOUR, 0u8..4, 0i64..40).prop_map(|(from, sku, cny)| Step::Prices(from, sku, cny)),
        1 => (0i64..3 * HOUR).prop_map(Step::Grace),
        1 => (1u64..4, mark).prop_map(|(node, mark)| Step::Mark(node, mark)),
        1 => (1u64..5, any::<bool>()).prop_map(|(device, offered)| Step::MarkDevice(device, offered)),
        1 => (0usize..3).prop_map(Step::AddNode),
    ]
}

/// A lease that has not ended, by any number; sometimes one that never was.
fn pick(world: &World, n: u64) -> (LeaseId, TenantId) {
    let all: Vec<(LeaseId, TenantId)> = world.state.lease.all().map(|l| (l.id, l.tenant)).collect();
    if all.is_empty() { (LeaseId(n), TenantId(1)) } else { all[n as usize % all.len()] }
}

fn command(world: &World, step: Step) -> Option<Command> {
    let ahead = |ms: i64| world.now.plus_ms(ms);
    let command = |command| Some(Command::Lease(command));
    match step {
        Step::Order { tenant, size, end, wait, requeue } => {
            let mut ask = World::ask(size);
            ask.interval.until = end.map(ahead);
            let on_failure = if requeue { lease::OnFailure::Requeue } else { lease::OnFailure::End };
            let request = lease::Request { wait, on_failure, ..World::request(TenantId(tenant), ask) };
            command(lease::Command::Request(Box::new(request)))
        }
        Step::Report { lease, node, phase, ago } => {
            let (lease, _) = pick(world, lease);
            let attempt = world.state.lease.get(lease)?.attempt;
            let seen = Observation { lease, attempt, node: NodeId(node), phase, ago_ms: 0 };
            command(lease::Command::report(seen, ahead(-ago)))
        }
        Step::Stop(n) => command({
            let (lease, tenant) = pick(world, n);
            lease::Command::Stop { tenant, lease }
        }),
        Step::Start(n, wait) => command({
            let (lease, tenant) = pick(world, n);
            lease::Command::Start { tenant, lease, wait }
        }),
        Step::Destroy(n) => command({
            let (lease, tenant) = pick(world, n);
            lease::Command::Destroy { tenant, lease }
        }),
        Step::Extend(n, end) => command({
            let (lease, tenant) = pick(world, n);
            lease::Command::Extend { tenant, lease, until: end.map(ahead) }
        }),
        Step::Resize(n, size) => command({
            let (lease, tenant) = pick(world, n);
            lease::Command::Resize { tenant, lease, size }
        }),
        Step::GiveUp(n, ago) => command(lease::Command::GiveUp { leases: vec![(pick(world, n).0, ahead(-ago))] }),
        Step::Clear => {
            let devices = world.state.fleet.unclean_of(units::AgentId(1));
            Some(Command::Fleet(fleet::Command::Clear { devices, heard: None }))
        }
        Step::Adjust(tenant, cny) => {
            let reason = "a correction".into();
            Some(Command::Money(money::Command::Adjust { tenant: TenantId(tenant), ticks: Ticks::from_cny(cny), reason }))
        }
        Step::Credit(tenant, cny) => {
            Some(Command::Money(money::Command::SetCredit { tenant: TenantId(tenant), limit: Ticks::from_cny(cny) }))
        }
        Step::Prices(from, sku, cny) => {
            let sku = ["card/A100", "unit/cpu", "unit/tflops", "server/A100"][usize::from(sku)].parse().unwrap();
            let prices = vec![market::Price { sku, micro: units::Micro::from_cny(cny) }];
            Some(Command::Market(market::Command::PublishPrices { from: ahead(from), prices }))
        }
        Step::Grace(arrears_grace_ms) => {
            let policy = market::Policy { arrears_grace_ms, ..market::Policy::default() };
            Some(Command::Market(market::Command::SetPolicy(policy)))
        }
        Step::Mark(node, mark) => Some(Command::Fleet(fleet::Command::MarkNode { node: NodeId(node), mark })),
        Step::MarkDevice(device, offered) => {
            Some(Command::Fleet(fleet::Command::MarkDevice { device: DeviceId(device), offered }))
        }
        Step::Pass(_) | Step::Sleep(_) | Step::ReportAll { .. } | Step::Pay(..) | Step::AddNode(_) => None,
    }
}

fn take(world: &mut World, step: Step) {
    match step {
        Step::Pass(ms) => world.pass(ms),
        Step::Sleep(ms) => world.now = world.now.plus_ms(ms),
        Step::ReportAll { lease, phase, ago } => {
            let (lease, _) = pick(world, lease);
            world.report(lease, &phase, ago);
        }
        Step::Pay(tenant, cny) => world.pay(TenantId(tenant), cny),
        Step::AddNode(cards) => {
            let name = format!("more-{}", world.entries.len());
            world.add_node(&name, &["A100", "H100"][..cards.min(2)]);
        }
        step => {
            // A refusal changes nothing and writes nothing: there is nothing to audit.
            if let Some(command) = command(world, step) {
                let _ = world.attempt(command);
            }
        }
    }
}

fn walked(steps: Vec<Step>) -> World {
    let mut world = World::new();
    world.tenant(40);
    for step in steps {
        take(&mut world, step);
    }
    world.now = world.now.plus_ms(MINUTE);
    world.due();
    world
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_walk_through_the_core_is_found_sound(steps in proptest::collection::vec(step(), 0..120)) {
        let world = walked(steps);
        let report = world.report_of();
        let told: String = report.findings.iter().map(|f| format!("{f}\n")).collect();
        prop_assert!(report.sound(), "{}", told);
        for (tenant, book) in world.state.money.books() {
            let balances = report.balances[&tenant];
            prop_assert_eq!(balances.wallet, book.balance(billing::Account::Wallet));
            prop_assert_eq!(balances.held, book.balance(billing::Account::Held));
            prop_assert_eq!(balances.charged, book.totals().charged);
        }
    }

    #[test]
    fn every_lease_of_a_walk_is_worked_out_from_its_parts_alone(steps in proptest::collection::vec(step(), 0..120)) {
        let world = walked(steps);
        let bills = world.report_of().bills;
        for id in (1..=world.state.lease.last).map(LeaseId) {
            let (record, findings) = world.record_of(id);
            let told: String = findings.iter().map(|f| format!("{f}\n")).collect();
            prop_assert!(findings.is_empty(), "{}: {}", id, told);
            let record = record.unwrap();
            prop_assert_eq!(record.total, bills.get(&id).map_or(Ticks::ZERO, |bill| bill.ticks));
            let Some(lease) = world.state.lease.get(id) else {
                prop_assert_eq!(record.standing, auditor::Standing::Ended);
                continue;
            };
            prop_assert_eq!((record.since, record.requested, record.ready), (lease.since, lease.requested, lease.ready));
            prop_assert_eq!((&record.detail, record.attempt), (&lease.detail, lease.attempt));
            prop_assert_eq!(format!("{:?}", record.standing), format!("{:?}", lease.status));
            prop_assert_eq!(format!("{:?}", record.reason), format!("{:?}", lease.reason));
            prop_assert_eq!(record.grants.len(), lease.members.len());
        }
    }
}

#[test]
fn a_lease_of_which_a_part_is_left_out_is_found_out() {
    let mut world = World::new();
    world.publish(world::START + HOUR + 30 * MINUTE, &[("unit/cpu", 2)]);
    let lease = world.start(Size::Units(UnitKind::Cpu, 2_000));
    world.pass(3 * HOUR);
    world.stop(lease);
    world.report(lease, &Phase::Gone, 0);
    world.run(Command::Lease(lease::Command::Destroy { tenant: TenantId(1), lease }));
    let parts = world.parts_of(lease);
    assert!(parts.len() > 6, "{}", parts.len());
    let all: Vec<(u64, &[u8])> = parts.iter().map(|(seq, bytes)| (*seq, bytes.as_slice())).collect();
    let read = |parts: &[(u64, &[u8])]| auditor::Record::read(lease, units::Owner(1), parts);
    let (whole, findings) = read(&all);
    assert_eq!(findings, []);
    assert_eq!(whole.as_ref().unwrap().standing, auditor::Standing::Ended);
    for left_out in 0..all.len() {
        let mut rest = all.clone();
        rest.remove(left_out);
        let (record, findings) = read(&rest);
        // Without the last one it is an earlier state of the lease, and says so.
        assert!(!findings.is_empty() || record != whole, "part {left_out}");
        assert_eq!(findings.is_empty(), left_out + 1 == all.len(), "part {left_out}");
    }
}

#[test]
fn a_price_that_falls_to_nothing_a_millisecond_after_the_money_has_ended_is_followed() {
    // Found by a walk: forty yuan last 5,156,115 milliseconds, and grace runs on into a time without a price.
    let order = Step::Order { tenant: 2, size: Size::Units(UnitKind::Cpu, 27_928), end: None, wait: false, requeue: false };
    let ready = Step::Report { lease: 0, node: 3, phase: Phase::Ready, ago: 0 };
    let steps = vec![Step::Grace(514_045), order, Step::Pass(1), ready, Step::Prices(5_156_116, 1, 0), Step::Pass(5_620_160)];
    let world = walked(steps);
    let uncovered = |e: &Event| matches!(e, Event::Lease(_, lease::Event::Stopping(e)) if e.unfunded_from.is_some());
    assert!(world.entries.iter().any(|entry| entry.events().any(uncovered)));
    assert_eq!(world.report_of().findings, []);
}

#[test]
fn a_walk_meets_charges_refunds_losses_and_requeues() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = proptest::collection::vec(step(), 100..120);
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..60 {
        let steps = strategy.new_tree(&mut runner).unwrap().current();
        let world = walked(steps);
        kinds.extend(world.entries.iter().flat_map(|e| e.events()).map(|e| e.kind()));
        assert!(world.now > Time(world::START));
    }
    for kind in ["money.charged/1", "money.reversed/1", "money.lost/1", "lease.resized/1", "lease.queued/1", "lease.ended/1"] {
        assert!(kinds.contains(kind), "no walk meets {kind}: {kinds:?}");
    }
}
