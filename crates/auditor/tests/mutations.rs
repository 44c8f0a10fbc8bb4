//! Journals in which one thing was changed: the auditor says what.

mod world;

use billing::{Account, Movement};
use rental::{Command, Event, fleet, lease, money};
use units::{Grant, LeaseId, NodeId, Owner, Phase, Size, TenantId, Ticks};
use world::{Entry, HOUR, MINUTE, QUARTER, START, World, audit};

/// One card from the first minute on, charged hour by hour at 10 and then 20 yuan, stopped, gone, cleared, and rented again.
fn journal() -> World {
    let mut world = World::new();
    world.publish(START + 90 * MINUTE, &[("card/A100", 20)]);
    let lease = world.start(Size::Cards(1));
    world.pass(2 * HOUR + 30 * MINUTE);
    world.stop(lease);
    world.report(lease, &Phase::Gone, 0);
    world.clear();
    world.start(Size::Cards(1));
    assert_eq!(world.report_of().findings, []);
    world
}

/// The first finding, which must be in the entry that was changed.
fn first(world: &World, seq: u64) -> String {
    let report = world.report_of();
    let finding = report.findings.first().expect("something is found");
    assert_eq!(finding.seq, seq, "{finding}");
    finding.what.clone()
}

fn charged(entry: &mut Entry) -> &mut money::Charged {
    match entry.money("money.charged/1") {
        money::Event::Charged(event) => event,
        _ => unreachable!("found by its kind"),
    }
}

fn stopping(entry: &mut Entry) -> &mut lease::Stopping {
    let found = entry.part(1).events.iter_mut().find_map(|event| match event {
        Event::Lease(_, lease::Event::Stopping(event)) => Some(event),
        _ => None,
    });
    found.expect("the entry stops a lease")
}

fn taken(entry: &mut Entry) -> &mut fleet::Taken {
    let found = entry.part(0).events.iter_mut().find_map(|event| match event {
        Event::Fleet(fleet::Event::Taken(event)) => Some(event),
        _ => None,
    });
    found.expect("the entry takes capacity")
}

/// The first entry of this kind of event.
fn first_of<'a>(world: &'a mut World, kind: &str) -> &'a mut Entry {
    world.entries.iter_mut().find(|e| e.events().any(|e| e.kind() == kind)).expect("such an event was written")
}

#[test]
fn an_amount_that_is_wrong_by_one_tick() {
    let mut world = journal();
    let entry = first_of(&mut world, "money.charged/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.ticks += Ticks(1);
    event.moves[0].ticks += Ticks(1);
    let right = 10_000_000_i128 * 1000 * 3_600_000 * 90;
    let expected = format!("lease-1 is charged {} ticks; 10000000 × 1000 × 3600000 × 90 is Some({right})", right + 1);
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn a_posting_that_moves_one_tick_more_than_the_amount() {
    let mut world = journal();
    let entry = first_of(&mut world, "money.charged/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.moves[0].ticks += Ticks(1);
    let n = event.ticks.0;
    let expected = format!("the posting moves {} from Held to Revenue where it must move {n} from Held to Revenue", n + 1);
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn a_posting_from_the_wallet_where_money_is_held() {
    let mut world = journal();
    let entry = first_of(&mut world, "money.charged/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.moves = vec![Movement { from: Account::Wallet, to: Account::Revenue, ticks: event.ticks }];
    assert!(first(&world, seq).contains("from Wallet to Revenue where it must move"));
}

#[test]
fn a_charge_cut_short() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.until = event.until.plus_ms(-1);
    let ticks = Ticks(20_000_000 * 1000 * 90);
    event.ticks -= ticks;
    event.moves[0].ticks -= ticks;
    let findings: Vec<String> = world.report_of().findings.iter().filter(|f| f.seq == seq).map(|f| f.what.clone()).collect();
    let expected = "lease-1 is to be charged up to 2026-01-01T02:30:00.000Z and is charged up to 2026-01-01T02:29:59.999Z";
    assert!(findings.iter().any(|what| what == expected), "{findings:?}");
}

#[test]
fn a_charge_left_out() {
    let mut world = journal();
    let entry = first_of(&mut world, "money.charged/1");
    let seq = entry.seq();
    entry.drop_events("money.charged/1");
    let findings = world.report_of().findings;
    assert_eq!(findings[0].seq, seq);
    let gap = "lease-1 is charged from 2026-01-01T01:00:00.000Z on, and from 2026-01-01T00:00:00.000Z it is not";
    assert!(findings.iter().any(|f| f.what == gap), "{findings:?}");
}

#[test]
fn overlapping_charges() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.from = event.from.plus_ms(-MINUTE);
    event.ticks += Ticks(20_000_000 * 1000 * 60_000 * 90);
    event.moves[0].ticks = event.ticks;
    let expected =
        "lease-1 is charged from 2026-01-01T01:59:00.000Z on, and up to 2026-01-01T02:00:00.000Z it is charged or did not run";
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn a_price_from_the_wrong_list() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.micro = units::Micro::from_cny(10);
    event.ticks = Ticks(event.ticks.0 / 2);
    event.moves[0].ticks = event.ticks;
    let expected = "lease-1 is charged at 10000000 from 2026-01-01T02:00:00.000Z to 2026-01-01T02:30:00.000Z; \
                    at 2026-01-01T02:00:00.000Z the price is Some(20000000)";
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn a_quantity_that_is_not_what_the_lease_has() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let (seq, event) = (entry.seq(), charged(entry));
    event.milli = 2000;
    event.ticks += event.ticks;
    event.moves = vec![Movement { from: Account::Held, to: Account::Revenue, ticks: event.ticks }];
    assert_eq!(first(&world, seq), "lease-1 is charged for 2000 thousandths and had Some(1000)");
}

#[test]
fn a_hold_that_is_not_released() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let seq = entry.seq();
    entry.drop_events("money.hold_released/1");
    let expected = format!("lease-1 stops and the {} ticks held for it are not released", Ticks::from_cny(10).0);
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn service_that_ended_at_another_time_than_the_stop() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let (seq, event) = (entry.seq(), stopping(entry));
    event.served_until = event.served_until.map(|t| t.plus_ms(-MINUTE));
    let expected = "lease-1 ends by Stopped and was served until 2026-01-01T02:30:00.000Z, not 2026-01-01T02:29:00.000Z";
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn a_part_left_out() {
    let mut world = journal();
    let entry = first_of(&mut world, "money.charged/1");
    let seq = entry.seq();
    entry.parts.clear();
    let report = world.report_of();
    let finding = report.findings.iter().find(|f| f.what.contains("is next")).expect("the gap shows");
    assert!(finding.seq > seq && finding.owner == Some(Owner(1)), "{finding}");
    assert_eq!(finding.what, "it is part 6 of tenant-1 where 5 is next");
}

#[test]
fn a_part_that_stands_twice() {
    let mut world = journal();
    let entry = first_of(&mut world, "money.charged/1");
    let (seq, part) = (entry.seq(), entry.part(1).clone());
    entry.parts.push(part);
    assert_eq!(first(&world, seq), "it is a second part of this owner in the entry, or one out of order");
    let report = world.report_of();
    assert_eq!(report.findings.len(), 1, "the second is not folded");
}

#[test]
fn an_entry_left_out() {
    let mut world = journal();
    let at = world.entries.iter().position(|e| e.events().any(|e| e.kind() == "lease.started/1")).unwrap();
    world.entries.remove(at);
    assert_eq!(first(&world, at as u64 + 2), format!("it follows entry {at}"));
}

#[test]
fn time_that_goes_back() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let seq = entry.seq();
    entry.header.time = entry.header.time.plus_ms(-3 * HOUR);
    let expected = "its time 2025-12-31T23:30:00.000Z is before 2026-01-01T02:01:00.000Z of the entry before";
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn totals_that_are_not_the_sum() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let seq = entry.seq();
    entry.part(1).totals.as_mut().unwrap().paid += Ticks(1);
    assert!(first(&world, seq).starts_with("the totals say"));
}

#[test]
fn a_card_taken_twice() {
    let mut world = World::new();
    world.start(Size::Cards(1));
    world.start(Size::Cards(1));
    let first_grants = taken(first_of(&mut world, "fleet.taken/1")).grants.clone();
    let entry = world.last("fleet.taken/1");
    let seq = entry.seq();
    regrant(entry, &first_grants);
    assert_eq!(first(&world, seq), "with lease-2, node-1 has 2000 of 1000 permille of device-1 given out");
}

#[test]
fn a_card_taken_before_it_is_cleared() {
    let mut world = journal();
    let at = world.entries.iter().position(|e| e.events().any(|e| e.kind() == "fleet.cleared/1")).unwrap();
    // As if the measurement had come after the second order: the entries keep their numbers and times.
    let cleared = world.entries[at].parts[0].events.clone();
    world.entries[at].parts[0].events.clear();
    let placed = &mut world.entries[at + 1];
    let seq = placed.seq();
    placed.part(0).events.extend(cleared);
    let expected = "with lease-2, node-1 has 2000 of 1000 permille of device-1 given out, because what was freed is not cleared";
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn capacity_given_back_by_a_lease_that_does_not_have_it() {
    let mut world = journal();
    let entry = first_of(&mut world, "fleet.freed/1");
    let seq = entry.seq();
    for event in &mut entry.part(0).events {
        if let Event::Fleet(fleet::Event::Freed(event)) = event {
            event.lease = LeaseId(9);
        }
    }
    assert_eq!(first(&world, seq), "lease-9 gives back what it does not have on node-1");
}

#[test]
fn capacity_that_is_placed_and_not_taken() {
    let mut world = World::new();
    world.start(QUARTER);
    let entry = first_of(&mut world, "fleet.taken/1");
    let seq = entry.seq();
    entry.part(0).events.clear();
    assert_eq!(first(&world, seq), "lease-1 does not have what the fleet counts as taken by it");
}

#[test]
fn a_server_taken_whole_with_something_on_it() {
    let mut world = World::new();
    world.start(QUARTER);
    world.start(Size::Servers(1));
    let entry = world.last("fleet.taken/1");
    let seq = entry.seq();
    let mut grants = taken(entry).grants.clone();
    grants[0].node = NodeId(1);
    for (slice, device) in grants[0].slices.iter_mut().zip(1..) {
        slice.device = units::DeviceId(device);
    }
    regrant(entry, &grants);
    assert_eq!(first(&world, seq), "with lease-2, node-1 is taken whole and has something else on it");
}

/// Gives the newest lease other grants, in the operator's part and in the tenant's.
fn regrant(entry: &mut Entry, grants: &[Grant]) {
    taken(entry).grants = grants.to_vec();
    for event in &mut entry.part(1).events {
        if let Event::Lease(_, lease::Event::Placed(event)) = event {
            event.grants = grants.to_vec();
        }
    }
}

#[test]
fn a_lease_that_starts_twice() {
    let mut world = journal();
    let entry = world.last("lease.stopping/1");
    let seq = entry.seq();
    let funded_until = entry.header.time;
    entry.part(1).events.insert(0, Event::Lease(TenantId(1), lease::Started { lease: LeaseId(1), funded_until }.into()));
    assert_eq!(first(&world, seq), "lease-1 starts while it is Running");
}

#[test]
fn a_charge_of_a_lease_that_is_stopped() {
    let mut world = journal();
    let line = charged(world.last("lease.stopping/1")).clone();
    let entry = world.entries.last_mut().unwrap();
    let seq = entry.seq();
    entry.part(1).events.insert(0, Event::Money(TenantId(1), line.into()));
    assert_eq!(first(&world, seq), "lease-1 is charged while it is Stopped");
}

#[test]
fn another_tenants_lease() {
    let mut world = World::new();
    world.tenant(100);
    world.start(Size::Cards(1));
    world.pass(HOUR + MINUTE);
    let entry = first_of(&mut world, "money.charged/1");
    let seq = entry.seq();
    entry.part(1).owner = Owner(2);
    assert!(
        world.report_of().findings.iter().any(|f| f.seq == seq && f.what == "lease-1 is no lease of tenant-2 that has not ended")
    );
}

#[test]
fn a_reversal_of_what_was_not_charged() {
    let mut world = World::new();
    let lease = world.start(Size::Cards(1));
    world.pass(2 * HOUR);
    world.report(lease, &Phase::Failed("device lost".into()), 90 * MINUTE);
    let entry = world.last("money.reversed/1");
    let seq = entry.seq();
    if let money::Event::Reversed(event) = entry.money("money.reversed/1") {
        event.milli = 500;
        event.ticks = Ticks(event.ticks.0 / 2);
        event.moves[0].ticks = event.ticks;
    }
    let expected = "lease-1 is given back what was not charged so from 2026-01-01T00:30:00.000Z to 2026-01-01T01:00:00.000Z";
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn money_taken_as_held_that_is_not_there() {
    let mut world = World::new();
    world.start(Size::Cards(1));
    let entry = first_of(&mut world, "money.held/1");
    let seq = entry.seq();
    if let money::Event::Held(event) = entry.money("money.held/1") {
        event.moves[0].ticks = Ticks::from_cny(101);
    }
    let cny = |n| Ticks::from_cny(n).0;
    assert_eq!(first(&world, seq), format!("{} ticks are held for lease-1 of {} available", cny(101), cny(100)));
    assert!(world.report_of().findings.iter().any(|f| f.what == format!("the wallet falls to {} ticks", cny(-1))));
}

#[test]
fn a_payment_that_is_paid_twice() {
    let mut world = World::new();
    let paid = first_of(&mut world, "money.paid/1").part(1).events.clone();
    world.start(Size::Cards(1));
    let entry = world.entries.last_mut().unwrap();
    let seq = entry.seq();
    let again = paid.into_iter().find(|e| e.kind() == "money.paid/1").unwrap();
    entry.part(1).events.push(again);
    assert!(first(&world, seq).ends_with("is paid twice"));
}

#[test]
fn debt_beyond_credit_and_grace() {
    let mut world = World::new();
    let lease = world.start(Size::Cards(4));
    world.now = world.now.plus_ms(3 * HOUR);
    world.due();
    // Charged to the stop, where only two and a half hours were covered.
    let entry = world.last("lease.stopping/1");
    let seq = entry.seq();
    let event = charged(entry);
    event.until = event.until.plus_ms(30 * MINUTE);
    event.ticks = Ticks::from_cny(120);
    event.moves.push(Movement { from: Account::Receivable, to: Account::Revenue, ticks: Ticks::from_cny(20) });
    let expected = format!(
        "{lease} is charged up to 2026-01-01T03:00:00.000Z as debt; its cover ended at 2026-01-01T02:30:00.000Z and the grace is 0 ms"
    );
    assert_eq!(first(&world, seq), expected);
}

#[test]
fn prices_changed_after_the_fact() {
    let mut world = journal();
    let entry = world.last("market.prices_published/1");
    let seq = entry.seq();
    for event in &mut entry.part(0).events {
        if let Event::Market(rental::market::Event::PricesPublished(event)) = event {
            event.from = event.from.plus_ms(-2 * HOUR);
        }
    }
    assert_eq!(first(&world, seq), "a price list changes prices from 2025-12-31T23:30:00.000Z on, before it was published");
}

#[test]
fn bytes_that_are_no_entry() {
    let world = journal();
    let mut auditor = auditor::Auditor::new();
    world.entries[0].feed(&mut auditor).unwrap();
    let finding = auditor.feed(2, b"\xff", &[(0, b"\x85\x02"), (1, b"")]).unwrap_err();
    assert!(finding.to_string().starts_with("entry 2: the header cannot be read"), "{finding}");
    let report = auditor.finish();
    assert_eq!(report.findings.len(), 3);
    assert!(report.findings[1].to_string().starts_with("entry 2, operator: the part cannot be read"));
}

#[test]
fn an_event_of_a_kind_that_the_format_does_not_have() {
    let mut world = World::empty();
    world.run(Command::Fleet(fleet::Command::AddPool { name: "p".into() }));
    let entry = &world.entries[0];
    let mut bytes = minicbor::to_vec(&entry.parts[0]).unwrap();
    let at = bytes.windows(2).position(|w| w == b"/1").unwrap();
    bytes[at + 1] = b'9';
    let mut auditor = auditor::Auditor::new();
    let finding = auditor.feed(1, &entry.header.encode(), &[(0, &bytes)]).unwrap_err();
    assert!(finding.what.contains("'fleet.pool_added/9' is no event kind of this format"), "{finding}");
}

#[test]
fn bytes_flipped_or_cut_off_anywhere_never_make_the_auditor_panic() {
    let world = journal();
    for entry in world.entries.iter().skip(5) {
        let part = entry.parts.last().unwrap();
        let bytes = minicbor::to_vec(part).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x80;
            for bytes in [&flipped[..], &bytes[..at]] {
                let mut auditor = auditor::Auditor::new();
                for before in &world.entries[..entry.seq() as usize - 1] {
                    before.feed(&mut auditor).unwrap();
                }
                // Names, texts and reasons may change unseen here: that they do not is what the hashes are for.
                let _ = auditor.feed(entry.seq(), &entry.header.encode(), &[(part.owner.0, bytes)]);
                auditor.finish();
                for lease in [1, 2, 1 << 63].map(units::LeaseId) {
                    let mut parts = world.parts_of(lease);
                    parts.retain(|(seq, _)| *seq < entry.seq());
                    parts.push((entry.seq(), bytes.to_vec()));
                    let parts: Vec<(u64, &[u8])> = parts.iter().map(|(seq, bytes)| (*seq, bytes.as_slice())).collect();
                    let (record, _) = auditor::Record::read(lease, part.owner, &parts);
                    record.and_then(|record| record.per_hour());
                }
            }
        }
    }
    assert!(audit(&world.entries).sound());
}
