//! Cases of published faults that repeat themselves: many orders, many times, every sequence. What is not here and not
//! among the scripts stands, with its reason, in `scenarios.rs`.

mod support;

use rental::{Command, Refusal, lease, money, tenancy};
use support::{World, script::Script};
use units::{
    Accept, Ask, Beside, Interval, LeaseId, Micro, Observation, Phase, ProjectId, Share, Size, TenantId, Ticks, Time, UnitKind,
};

/// A fleet of one node, a price, and two tenants with money.
fn scene(cards: u32, price: &str, money: &str) -> Script {
    let mut script = Script::new();
    let text = format!(
        "2026-03-02 09:00 fleet of 1 nodes with {cards} A100
         09:00 price card/A100 {price}
         09:00 tenant ada
         09:00 tenant bob
         09:00 ada pays {money}
         09:00 bob pays {money}"
    );
    script.run("scene", &text);
    script
}

/// A dull sequence of numbers, the same in every run.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

#[test]
fn b02_totals_do_not_depend_on_the_order_or_the_number_of_deliveries() {
    let orders = (0..32u32).filter(|order| order.count_ones() == 2);
    for order in orders {
        let mut script = scene(1, "36", "100");
        script.run("order", "09:50 ada orders L: 1 A100\n10:00 L is ready\n10:00 L is ready");
        // Ten minutes later five messages: the stop, twice, and that nothing is left, three times.
        for message in 0..5 {
            let stop = order & (1 << message) != 0;
            let said = script.world.state.lease.get(LeaseId(1)).is_some();
            let line = match (stop, said) {
                (true, true) => "10:10 ada stops L",
                (true, false) => "10:10 ada stops L\n  refused not_found",
                (false, _) => "10:10 L is gone on n1 in attempt 1",
            };
            script.run("order", line);
            script.world.refold().expect("a restart at any point finds the same");
        }
        script.run("order", "11:00 time passes\n  then ada charged 6.00\n  then ada held 0\n  then ada uses 0 cards");
    }
}

#[test]
fn b12_a_thousand_leases_shorter_than_any_sampling_step_are_billed_to_the_second() {
    let mut script = scene(1, "36", "1000");
    script.run("first", "09:59 ada orders L0: 1 A100\n10:00:05 L0 is ready\n10:00:47 ada destroys L0\n  money.charged L0 0.42\n  money.hold_released\n  lease.stopping\n10:00:48 L0 is gone\n10:00:49 L0 is clean");
    for n in 1..1000 {
        let (h, m) = (11 + n / 60, n % 60);
        let date = format!("2026-03-{:02}", 2 + h / 24);
        let at = |s| format!("{date} {:02}:{m:02}:{s:02}", h % 24);
        script.run(
            "each",
            &format!(
                "{} ada orders L{n}: 1 A100\n{} L{n} is ready\n{} ada destroys L{n}\n{} L{n} is gone\n{} L{n} is clean",
                at(0),
                at(5),
                at(47),
                at(48),
                at(49)
            ),
        );
    }
    script.run("sum", "2026-03-04 00:00 time passes\n  then ada charged 420.00\n  then 1 cards are free");
}

#[test]
fn b19_fifty_orders_of_two_yuan_from_sixty_are_thirty() {
    // An order that holds 2.00: an hour of one card at 2.00.
    let mut script = scene(64, "2", "60");
    let mut answers = [0, 0];
    for n in 0..50 {
        let before = script.world.state.seq;
        let command = request(&script.world, TenantId(1), Size::Cards(1), false);
        match script.world.submit(&command) {
            Ok(events) => {
                assert!(!events.is_empty() && script.world.state.seq == before + 1, "a success is an entry: {n}");
                answers[0] += 1;
            }
            Err(refusal) => {
                assert_eq!(refusal.code(), "insufficient_funds");
                assert_eq!(script.world.state.money.book(TenantId(1)).available(), Ticks::ZERO, "never while there is money");
                answers[1] += 1;
            }
        }
    }
    assert_eq!(answers, [30, 20]);
    script.run("end", "10:00 time passes\n  then ada available 0.00\n  then ada held 60.00");
}

#[test]
fn b27_a_burst_of_shares_is_packed_as_a_sequence_is() {
    for seed in 0..50 {
        let mut random = numbers(seed);
        let mut script = scene(4, "24", "10000");
        let quarter = Size::Share(Share { compute: 250, memory_mib: 20_480 });
        for n in 0..17 {
            let tenant = TenantId(1 + random(2));
            let command = request(&script.world, tenant, quarter, random(2) == 0);
            let answer = script.world.submit(&command);
            let waits = script.world.state.lease.queue_len();
            assert!(n < 16 || waits == 1 || matches!(answer, Err(Refusal::NoCapacity { .. })), "{answer:?}");
            assert!(n == 16 || (answer.is_ok() && waits == 0));
        }
        let devices = script.world.state.fleet.devices().nodes().flat_map(|node| node.devices());
        assert_eq!(devices.map(|d| (d.shares(), d.taken().compute)).collect::<Vec<_>>(), [(4, 1000); 4]);
    }
}

#[test]
fn b30_of_a_whole_and_a_share_of_one_card_exactly_one_wins() {
    for seed in 0..100 {
        let whole_first = numbers(seed)(2) == 0;
        let mut script = scene(1, "4", "100");
        let sizes = [Size::Cards(1), Size::Share(Share { compute: 250, memory_mib: 20_480 })];
        let order = if whole_first { [0, 1] } else { [1, 0] };
        let answers = order.map(|which| {
            let command = request(&script.world, TenantId(1 + which as u64), sizes[which], false);
            script.world.submit(&command).map_err(|refusal| refusal.code())
        });
        assert!(answers[0].is_ok());
        assert_eq!(answers[1], Err("no_capacity"));
    }
}

#[test]
fn b44_a_cancel_at_any_moment_leaves_no_machine_without_an_owner() {
    for seed in 0..200 {
        let mut random = numbers(seed);
        let mut script = scene(1, "36", "100");
        let (cancel, verb) = (random(120), if random(2) == 0 { "stops" } else { "destroys" });
        let (minute, second) = (cancel / 60, cancel % 60);
        let mut text = format!("10:00:00 ada orders L: 1 A100\n10:{minute:02}:{second:02} ada {verb} L\n");
        if random(2) == 0 {
            text += &format!("10:{minute:02}:{second:02}.500 ada {verb} L\n  nothing\n");
        }
        text += "10:02:00 L is ready\n  nothing\n  then L is stopping because cancelled\n  then 0 cards are free\n";
        text += "10:02:05 L is gone\n  then L is ended\n10:02:06 L is clean\n  then 1 cards are free\n  then ada charged 0\n";
        text += "10:02:07 node n1 is removed\n";
        script.run("cancel", &text);
    }
}

#[test]
fn b45_a_hundred_orders_that_fail_after_the_quota_was_asked_leave_it_as_it_was() {
    let mut script = scene(8, "20", "1000");
    script.run("two", "10:00 ada orders L: 2 A100\n10:00 ada may use 4 cards");
    for n in 0..100u32 {
        // Too many for the limit; a model without a price; for a project of another; at once, of too many.
        let mut command = request(&script.world, TenantId(1), Size::Cards(if n % 2 == 0 { 3 } else { 2 }), n % 3 == 0);
        if let Command::Lease(lease::Command::Request(request)) = &mut command {
            match n % 4 {
                1 => request.project = ProjectId(2),
                3 => request.ask.models = vec![Accept { model: "B300".into(), rank: 0 }],
                _ => {}
            }
        }
        assert!(script.world.submit(&command).is_err());
        script.run("same", "10:01 time passes\n  then ada uses 2 cards\n  then 6 cards are free\n  then ada held 40");
    }
}

#[test]
fn no_number_that_a_tenant_can_write_makes_the_core_panic() {
    let sizes = [
        Size::Cards(u32::MAX),
        Size::Servers(u32::MAX),
        Size::Servers(1_000_000),
        Size::Share(Share { compute: u32::MAX, memory_mib: u32::MAX }),
        Size::Share(Share { compute: 1000, memory_mib: u32::MAX }),
        Size::Units(UnitKind::Cpu, u64::MAX),
        Size::Units(UnitKind::Cpu, 1_000_000_000),
        Size::Units(UnitKind::Tflops, u64::MAX),
        Size::Units(UnitKind::Tflops, 1_000_000_000),
        Size::Cards(0),
        Size::Cards(1),
    ];
    let mut script = scene(2, "10000000", "100000000");
    script.run("prices", "09:30 price unit/cpu 10000000\n09:30 price unit/tflops 10000000\n09:30 price server/A100 10000000");
    let ends = [None, Some(Time(i64::MIN)), Some(Time(i64::MAX)), Some(script.world.now)];
    for (size, until) in sizes.into_iter().flat_map(|size| ends.map(|end| (size, end))) {
        for most in [None, Some(Micro(i64::MIN)), Some(Micro(i64::MAX))] {
            let mut command = request(&script.world, TenantId(1), size, true);
            if let Command::Lease(lease::Command::Request(request)) = &mut command {
                request.ask.interval.until = until;
                request.ask.beside = Beside { cpu_milli: u32::MAX * u32::from(most.is_some()), memory_mib: 0 };
                request.most = most;
            }
            let _ = script.world.submit(&command);
            script.world.settle().unwrap();
        }
    }
    let (tenant, lease) = (TenantId(1), LeaseId(1));
    let last = LeaseId(u64::MAX);
    assert_eq!(script.world.state.lease.of_tenant(tenant, Some(last)).count(), 0);
    let seen = Observation { lease, attempt: u32::MAX, node: units::NodeId(u64::MAX), phase: Phase::Gone, ago_ms: u64::MAX };
    for command in [
        lease::Command::Extend { tenant, lease, until: Some(Time(i64::MAX)) },
        lease::Command::Extend { tenant, lease: last, until: Some(Time(i64::MIN)) },
        lease::Command::Resize { tenant, lease, size: Size::Share(Share { compute: u32::MAX, memory_mib: u32::MAX }) },
        lease::Command::Resize { tenant, lease, size: Size::Units(UnitKind::Cpu, u64::MAX) },
        lease::Command::report(seen, Time(i64::MIN)),
        lease::Command::GiveUp { leases: vec![(lease, Time(i64::MIN)), (last, Time(i64::MAX))] },
    ] {
        let _ = script.world.submit(&Command::Lease(command));
    }
    for ticks in [Ticks(i128::MIN), Ticks(i128::MAX)] {
        let adjust = money::Command::Adjust { tenant, ticks, reason: "x".into() };
        assert!(script.world.submit(&Command::Money(adjust)).is_err());
        assert!(script.world.submit(&Command::Money(money::Command::SetCredit { tenant, limit: ticks })).is_err());
        let limits = tenancy::Limits { cards_milli: Some(u64::MAX), leases: Some(u32::MAX), spend: Some(ticks) };
        let _ = script.world.submit(&Command::Tenancy(tenancy::Command::SetLimits { tenant, limits }));
        let order = request(&script.world, tenant, Size::Cards(1), true);
        let _ = script.world.submit(&order);
    }
    script.world.settle().unwrap();
    script.world.refold().unwrap();
}

fn request(world: &World, tenant: TenantId, size: Size, wait: bool) -> Command {
    let ask = Ask {
        size,
        models: vec![Accept { model: "A100".into(), rank: 0 }],
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: vec![],
        interval: Interval { from: world.now, until: None },
    };
    let project = world.state.tenancy.projects_of(tenant).next().expect("a tenant has a project");
    let on_failure = lease::OnFailure::End;
    Command::Lease(lease::Command::Request(Box::new(lease::Request { tenant, project, ask, wait, on_failure, most: None })))
}

#[test]
fn a_verdict_that_names_a_lease_twice_is_given_once() {
    let mut script = scene(1, "36", "100");
    script.run("start", "09:50 ada orders L: 1 A100\n10:00 L is ready\n11:00 time passes");
    let served = script.world.now.plus_ms(-1_800_000);
    let twice = Command::Lease(lease::Command::GiveUp { leases: vec![(LeaseId(1), served); 2] });
    script.world.submit(&twice).unwrap();
    script.run("end", "11:01 time passes\n  then ada charged 18.00\n  then ada held 0");
}

#[test]
fn a_vanished_run_that_nothing_covered_is_settled_even_if_the_report_comes_before_the_timer() {
    let mut script = scene(1, "10", "10");
    script.run("start", "09:50 ada orders L: 1 A100\n10:00 L is ready\n10:30 time passes");
    // The core slept from 10:30 to 12:00; the balance ended at 11:00, and at 11:30 the workload was gone.
    script.world.now = script.world.now.plus_ms(90 * 60_000);
    let since = script.world.now.plus_ms(-30 * 60_000);
    let seen = Observation { lease: LeaseId(1), attempt: 1, node: units::NodeId(1), phase: Phase::Gone, ago_ms: 0 };
    script.world.submit(&Command::Lease(lease::Command::report(seen, since))).unwrap();
    let end = "12:00 time passes\n  then ada charged 10.00\n  then ada lost 5.00\n  then ada owes 0\n  then L is ended";
    script.run("end", end);
}

#[test]
fn a_run_whose_money_has_ended_is_not_resized_into_debt() {
    let mut script = scene(1, "40", "20");
    // From eleven on it costs nothing: what it costs from then on could be paid.
    script.run(
        "start",
        "09:30 ada orders L: 0.5 A100 with 8192 MiB\n09:31 price card/A100 0 from 11:00\n09:45 L is ready\n10:30 time passes",
    );
    // The balance ended at 10:45, and the core slept from 10:30 to 11:30.
    script.world.now = script.world.now.plus_ms(60 * 60_000);
    let size = Size::Share(Share { compute: 600, memory_mib: 8192 });
    let resize = lease::Command::Resize { tenant: TenantId(1), lease: LeaseId(1), size };
    let refusal = script.world.submit(&Command::Lease(resize)).unwrap_err();
    assert_eq!(refusal.code(), "insufficient_funds");
    script.run(
        "end",
        "11:30 time passes\n  then ada charged 20.00\n  then ada owes 0\n  then L is stopping because balance_exhausted",
    );
}

#[test]
fn who_is_past_a_limit_in_the_cheapest_place_goes_to_another_once_that_one_is_taken() {
    let mut script = scene(4, "1", "1000");
    // A server of four cards, cheap; one of two cards, dear.
    script.run(
        "servers",
        "09:30 price server/A100 1
         09:30 fleet of 1 nodes with 2 L4 named m
         09:30 price server/L4 20
         09:31 bob orders B1: 1 server of A100
         09:31 bob orders B2: 1 server of L4
         09:32 ada orders W: 1 server of any or waits
         09:33 ada may use 3 cards
         09:34 bob destroys B1
         09:34 B1 is gone
         09:34 B1 is clean
           fleet.cleared B1
         09:35 bob destroys B2
         09:35 B2 is gone
         09:35 B2 is clean
           fleet.cleared B2
           then queue W
         09:36 bob orders B3: 1 server of A100
           lease.requested B3
           lease.placed B3
           fleet.taken B3
           money.held B3
           lease.placed W devices=2
           fleet.taken W
           money.held W 20.00",
    );
}
