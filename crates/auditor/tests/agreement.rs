//! Journals of the real core are found sound, and their bills and balances are the same when recomputed.

mod world;

use rental::{Command, fleet, lease, market, money};
use units::{LeaseId, NodeId, Phase, Size, TenantId, Ticks, Time, UnitKind};
use world::{HOUR, MINUTE, QUARTER, START, World};

fn assert_sound(world: &World) -> auditor::Report {
    let report = world.report_of();
    assert!(report.sound(), "{}", report.findings.iter().map(|f| format!("{f}\n")).collect::<String>());
    world.state.check(world.now).expect("the core keeps its invariants");
    for (tenant, book) in world.state.money.books() {
        let balances = report.balances[&tenant];
        assert_eq!(balances.wallet, book.balance(billing::Account::Wallet), "{tenant}");
        assert_eq!(balances.held, book.balance(billing::Account::Held), "{tenant}");
        assert_eq!(balances.receivable, book.balance(billing::Account::Receivable), "{tenant}");
        assert_eq!((balances.charged, balances.paid), (book.totals().charged, book.totals().paid), "{tenant}");
    }
    report
}

#[test]
fn a_lease_from_order_to_end_is_billed_for_its_service_and_nothing_else() {
    let mut world = World::new();
    let lease = world.order(Size::Cards(2));
    world.pass(3 * MINUTE);
    world.report(lease, &Phase::Ready, 0);
    world.pass(2 * HOUR + 17 * MINUTE);
    world.stop(lease);
    world.pass(MINUTE);
    world.report(lease, &Phase::Gone, 0);
    world.clear();
    let report = assert_sound(&world);
    let bill = &report.bills[&lease];
    assert_eq!(bill.ticks, Ticks(20 * Ticks::PER_CNY * 137 / 60));
    let (from, until) = (Time(START + 3 * MINUTE), Time(START + 2 * HOUR + 20 * MINUTE));
    assert_eq!(bill.intervals, [auditor::Use { from, until, sku: 0, milli: 2000, micro: 10_000_000 }]);
    assert_eq!(report.balances[&TenantId(1)].held, Ticks::ZERO);
}

#[test]
fn a_price_change_splits_the_bill_at_its_instant() {
    let mut world = World::new();
    world.publish(START + 90 * MINUTE, &[("card/A100", 20)]);
    let lease = world.start(Size::Cards(1));
    world.pass(2 * HOUR);
    world.stop(lease);
    let report = assert_sound(&world);
    assert_eq!(report.bills[&lease].ticks, Ticks::from_cny(15 + 10));
    assert_eq!(report.bills[&lease].intervals.len(), 2);
}

#[test]
fn every_size_is_priced_by_what_it_is() {
    let mut world = World::new();
    let sizes = [QUARTER, Size::Units(UnitKind::Cpu, 2_500), Size::Units(UnitKind::Tflops, 400), Size::Servers(1)];
    world.pay(TenantId(1), 10_000);
    for size in sizes {
        let lease = world.start(size);
        world.pass(HOUR + 1);
        world.stop(lease);
        world.report(lease, &Phase::Gone, 0);
        world.clear();
    }
    let report = assert_sound(&world);
    let each: Vec<String> =
        report.bills.values().map(|bill| Ticks(bill.ticks.0 * HOUR as i128 / (HOUR + 1) as i128).yuan()).collect();
    assert_eq!(each, ["2.50", "2.50", "0.40", "20.00"]);
}

#[test]
fn a_failed_service_is_given_back_from_its_last_proof_on_at_the_sizes_it_was_charged_at() {
    let mut world = World::new();
    let lease = world.start(QUARTER);
    world.pass(2 * HOUR);
    let larger = Size::Share(units::Share { compute: 500, memory_mib: 20_480 });
    world.run(Command::Lease(lease::Command::Resize { tenant: TenantId(1), lease, size: larger }));
    world.pass(2 * HOUR);
    world.report(lease, &Phase::Failed("device lost".into()), 3 * HOUR);
    let report = assert_sound(&world);
    assert_eq!(report.bills[&lease].ticks, Ticks::from_fen(250));
    assert_eq!(report.bills[&lease].intervals.len(), 1);
}

#[test]
fn what_ran_on_uncovered_is_the_operators_loss() {
    let mut world = World::new();
    let lease = world.start(Size::Cards(4));
    // 100 yuan last two and a half hours; the control plane is away for a day.
    world.now = world.now.plus_ms(24 * HOUR);
    world.due();
    world.report(lease, &Phase::Gone, 20 * HOUR);
    let report = assert_sound(&world);
    assert_eq!(report.bills[&lease].ticks, Ticks::from_cny(100));
    assert_eq!(report.balances[&TenantId(1)].loss, Ticks::from_cny(-60));
}

#[test]
fn credit_and_grace_make_debt_and_payment_ends_it() {
    let mut world = World::new();
    let policy = market::Policy { arrears_grace_ms: 2 * HOUR, ..market::Policy::default() };
    world.run(Command::Market(market::Command::SetPolicy(policy)));
    world.run(Command::Money(money::Command::SetCredit { tenant: TenantId(1), limit: Ticks::from_cny(20) }));
    let lease = world.start(Size::Cards(4));
    world.pass(4 * HOUR);
    assert!(world.state.lease.get(lease).is_some_and(|l| l.arrears_since.is_some()));
    world.pass(6 * HOUR);
    let report = assert_sound(&world);
    assert_eq!(report.bills[&lease].ticks, Ticks::from_cny(200));
    assert_eq!(report.balances[&TenantId(1)].receivable, Ticks::from_cny(-100));
    world.pay(TenantId(1), 150);
    world.report(lease, &Phase::Gone, 0);
    let report = assert_sound(&world);
    assert_eq!(report.balances[&TenantId(1)].wallet, Ticks::from_cny(50));
}

#[test]
fn a_lost_node_and_a_requeue_and_an_end_of_its_own_are_followed() {
    let mut world = World::new();
    world.pay(TenantId(1), 100);
    let mut ask = World::ask(Size::Cards(3));
    ask.interval.until = Some(Time(START + 5 * HOUR));
    world.run(Command::Lease(lease::Command::Request(Box::new(World::request(TenantId(1), ask)))));
    let lease = LeaseId(1);
    world.report(lease, &Phase::Ready, 0);
    world.pass(HOUR + 10 * MINUTE);
    world.run(Command::Fleet(fleet::Command::MarkNode { node: NodeId(1), mark: fleet::Mark::Lost }));
    world.run(Command::Lease(lease::Command::GiveUp { leases: vec![(lease, world.now.plus_ms(-30 * MINUTE))] }));
    world.report(lease, &Phase::Gone, 0);
    world.clear();
    world.run(Command::Fleet(fleet::Command::MarkNode { node: NodeId(1), mark: fleet::Mark::Offered }));
    world.due();
    world.report(lease, &Phase::Ready, 0);
    world.pass(4 * HOUR);
    world.report(lease, &Phase::Gone, 0);
    world.clear();
    let report = assert_sound(&world);
    let minutes = 40 + 5 * 60 - 70;
    assert_eq!(report.bills[&lease].ticks, Ticks(30 * Ticks::PER_CNY * minutes / 60));
    assert_eq!(world.state.lease.len(), 0);
}
