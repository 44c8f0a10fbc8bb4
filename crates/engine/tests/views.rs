//! Views: folded from the journal alone, the same however often they are folded, and closed to other tenants.

mod support;

use engine::{Engine, Submission, views::*};
use jiff::{civil::date, tz::TimeZone};
use journal::{Batch, Bundle, Keys, Memory, Source, Store, verify};
use rental::{Command, lease, market, money, tenancy};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use support::{
    dump, furnish,
    mixed::{self, Seeded},
    order,
};
use units::{HOUR_MS, LeaseId, Micro, NodeId, Observation, Owner, Phase, ProjectId, TenantId, Ticks, Time};

/// 2026-03-01T00:00:00+08:00.
const START: Time = Time(1_772_294_400_000);
const MINUTE_MS: i64 = 60_000;
const TA: TenantId = TenantId(1);
const TB: TenantId = TenantId(2);

/// A writer in memory and views in a file of their own.
struct World {
    engine: Engine,
    views: Views,
    folder: tempfile::TempDir,
    now: Time,
}

impl World {
    /// One node of eight cores at 36 CNY an hour, two tenants with money.
    fn new() -> World {
        let mut engine = in_memory();
        furnish(&mut engine, START);
        let folder = tempfile::tempdir().unwrap();
        let views = Views::open(&folder.path().join("views.sqlite"), engine.keys().log()).unwrap();
        let mut world = World { engine, views, folder, now: START };
        world.submit(Command::Tenancy(tenancy::Command::CreateTenant));
        let (payment, ticks) = ("second".into(), Ticks::from_cny(1_000));
        world.submit(Command::Money(money::Command::TopUp { tenant: TB, payment, ticks }));
        world
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("views.sqlite")
    }

    fn submit(&mut self, command: Command) {
        self.engine.submit(self.now, Submission::plain("key-1", command)).unwrap();
        self.engine.commit().unwrap();
    }

    fn wait(&mut self, ms: i64) {
        self.now = self.now.plus_ms(ms);
        self.engine.liveness().heard(mixed::AGENT, self.now, None);
        self.engine.step(self.now).unwrap();
    }

    fn queries(&mut self) -> Queries {
        self.views.advance(self.engine.source()).unwrap();
        Queries::open(&self.path()).unwrap()
    }

    /// Orders one core and has it ready at once.
    fn run(&mut self, tenant: TenantId) -> LeaseId {
        let Command::Lease(lease::Command::Request(request)) = order() else { unreachable!("an order is a request") };
        let request = lease::Request { tenant, project: ProjectId(tenant.0), ..*request };
        self.submit(Command::Lease(lease::Command::Request(Box::new(request))));
        let lease = LeaseId(self.engine.state().lease.last);
        self.report(lease, Phase::Ready);
        lease
    }

    fn report(&mut self, lease: LeaseId, phase: Phase) {
        let seen = Observation { lease, attempt: 1, node: NodeId(1), phase, ago_ms: 0 };
        self.submit(Command::Lease(lease::Command::report(seen, self.now)));
    }

    fn end(&mut self, tenant: TenantId, lease: LeaseId) {
        self.submit(Command::Lease(lease::Command::Destroy { tenant, lease }));
        self.report(lease, Phase::Gone);
    }

    /// A lease of one core from now on for so long.
    fn use_for(&mut self, tenant: TenantId, ms: i64) -> LeaseId {
        let lease = self.run(tenant);
        self.wait(ms);
        self.end(tenant, lease);
        lease
    }
}

fn in_memory() -> Engine {
    Engine::with_state(Box::new(Memory::new(Keys::from_seed(1))), rental::State::default()).unwrap()
}

/// Three records of TA for 54 CNY, two of TB for 36 CNY, in turn.
fn two_tenants() -> (World, Vec<LeaseId>) {
    let mut world = World::new();
    let leases = [TA, TB, TA, TB, TA].map(|tenant| world.use_for(tenant, 30 * MINUTE_MS)).to_vec();
    (world, leases)
}

fn all(by: Vec<By>) -> UsageQuery {
    UsageQuery { from: Time(0), until: Time::MAX, by, lease: None, project: None }
}

fn page<T>(after: Option<T>, limit: u32) -> Page<T> {
    Page { after, limit, newest_first: false }
}

#[test]
fn filters_groupings_totals_and_pages_stay_inside_the_tenant() {
    let (mut world, leases) = two_tenants();
    let queries = world.queries();
    let tb = queries.within(TB);
    for by in [vec![], vec![By::Tenant], vec![By::Project]] {
        let usage = tb.usage(&all(by)).unwrap();
        assert_eq!((usage.total, usage.lines, usage.groups.len()), (Ticks::from_cny(36), 2, 1));
    }
    assert_eq!(tb.usage(&all(vec![By::Tenant])).unwrap().groups[0].keys, [Key::Tenant(TB)]);
    assert_eq!(queries.within(TA).usage(&all(vec![])).unwrap().total, Ticks::from_cny(54));
    assert_eq!(queries.within(Scope::All).usage(&all(vec![By::Tenant])).unwrap().total, Ticks::from_cny(90));

    let foreign = leases[0];
    let asked = UsageQuery { lease: Some(foreign), ..all(vec![]) };
    assert_eq!(tb.usage(&asked).unwrap(), Usage::default());
    let asked = UsageQuery { project: Some(ProjectId(1)), ..all(vec![]) };
    assert_eq!(tb.usage(&asked).unwrap(), Usage::default());
    assert_eq!(tb.lease(foreign).unwrap(), None);
    assert!(tb.lines_of(foreign).unwrap().is_empty() && tb.seqs_of(foreign).unwrap().is_empty());
    assert_eq!(queries.within(TA).lines_of(foreign).unwrap().len(), 1);

    let mine = tb.leases(&LeaseFilter::default(), page(Some(foreign), 10)).unwrap();
    assert!(mine.len() == 2 && mine.iter().all(|lease| lease.tenant == TB));
    let theirs = LeaseFilter { project: Some(ProjectId(1)), ..LeaseFilter::default() };
    assert!(tb.leases(&theirs, page(None, 10)).unwrap().is_empty());
    let after = queries.within(TA).statement(page(None, 3)).unwrap().last().map(|p| PostingId { seq: p.seq, number: p.number });
    assert!(tb.statement(page(after, 1000)).unwrap().iter().all(|posting| posting.tenant == TB));
    assert!(tb.parts(page(None, 1000)).unwrap().iter().all(|part| part.owner == Owner::from(TB)));
    let mut records = 0;
    tb.lines(&all(vec![]), &mut |line| records += u32::from(line.tenant == TB)).unwrap();
    assert_eq!(records, 2);
}

#[test]
fn usage_is_cut_exactly_at_its_bounds_at_price_changes_and_at_midnight() {
    let mut world = World::new();
    let day = 24 * HOUR_MS;
    let noon = START.plus_ms(day / 2);
    let prices = vec![market::Price { sku: billing::Sku::Cpu, micro: Micro::from_cny(18) }];
    world.submit(Command::Market(market::Command::PublishPrices { from: noon, prices }));
    let lease = world.run(TA);
    (0..40).for_each(|_| world.wait(HOUR_MS));
    world.end(TA, lease);
    let queries = world.queries();
    let ta = queries.within(TA);

    let usage = |from, until, by| ta.usage(&UsageQuery { from, until, ..all(by) }).unwrap();
    assert_eq!(usage(START, noon, vec![]).total, Ticks::from_cny(12 * 36));
    assert_eq!(usage(noon, Time::MAX, vec![]).total, Ticks::from_cny(28 * 18));
    let whole = usage(Time(0), Time::MAX, vec![]).total;
    for cut in [1, 3_661_007, day / 2 - 1, day / 2 + 1_234, day] {
        let (before, after) = (usage(Time(0), START.plus_ms(cut), vec![]), usage(START.plus_ms(cut), Time::MAX, vec![]));
        assert_eq!(before.total + after.total, whole, "cut at {cut}");
    }

    let shanghai = TimeZone::get("Asia/Shanghai").unwrap();
    let days: Vec<(String, Ticks)> = {
        let groups = usage(Time(0), Time::MAX, vec![By::Day(shanghai.clone()), By::Lease]).groups;
        groups.into_iter().map(|g| (format!("{} {}", g.keys[0], g.keys[1]), g.ticks)).collect()
    };
    let first_day = Ticks::from_cny(12 * 36 + 12 * 18);
    assert_eq!(days, [("2026-03-01 lease-1".into(), first_day), ("2026-03-02 lease-1".into(), Ticks::from_cny(16 * 18))]);
    let in_utc = usage(Time(0), Time::MAX, vec![By::Day(TimeZone::UTC)]).groups;
    assert_eq!((in_utc[0].ticks, in_utc[0].milli_ms), (Ticks::from_cny(8 * 36), i128::from(8 * HOUR_MS) * 1000));

    let revenue = queries.revenue(&shanghai, Time(0), world.now).unwrap();
    assert_eq!(
        revenue.iter().map(|r| (r.day, r.earned())).collect::<Vec<_>>(),
        [(date(2026, 3, 1), first_day), (date(2026, 3, 2), Ticks::from_cny(16 * 18))]
    );
}

#[test]
fn a_day_begins_where_the_zone_says_also_when_its_clock_is_set() {
    let mut world = World::new();
    // New York sets its clock forward at 2026-03-08T07:00:00Z: that day has 23 hours.
    world.now = "2026-03-08T04:00:00Z".parse().unwrap();
    let lease = world.run(TA);
    (0..26).for_each(|_| world.wait(HOUR_MS));
    world.end(TA, lease);
    let zone = TimeZone::get("America/New_York").unwrap();
    let usage = world.queries().within(TA).usage(&all(vec![By::Day(zone)])).unwrap();
    let hours: Vec<i128> = usage.groups.iter().map(|g| g.milli_ms / 1000 / i128::from(HOUR_MS)).collect();
    assert_eq!(hours, [1, 23, 2]);
}

/// Some hundred entries of every kind of event.
fn mixed_world(seed: u64) -> World {
    let mut world = World { engine: in_memory(), ..World::new() };
    let mut random = Seeded(seed);
    for command in mixed::furniture(START) {
        world.submit(command);
    }
    for _ in 0..150 {
        world.wait(random.below(40 * 60_000) as i64);
        let wish = mixed::wish(&mut random, &world.engine.state());
        // Some wishes are refused; that is what they are for.
        let _ = world.engine.submit(world.now, Submission::plain("key-1", wish));
        world.engine.commit().unwrap();
        if random.below(3) > 0 {
            let reports = mixed::agent_turn(&world.engine.state()).1;
            reports.into_iter().for_each(|report| world.submit(report));
        }
        if random.below(10) == 0 {
            fail_one(&mut world);
        }
        if random.below(4) == 0 {
            world.views.advance(world.engine.source()).unwrap();
        }
    }
    world
}

/// The first running lease fails, and has not served for its last minutes.
fn fail_one(world: &mut World) {
    let state = world.engine.state();
    let running = state.lease.all().find(|lease| lease.status == lease::Status::Running);
    let seen = running.map(|lease| (lease.id, lease.attempt, lease.members[0].grant.node));
    drop(state);
    if let Some((lease, attempt, node)) = seen {
        let seen = Observation { lease, attempt, node, phase: Phase::Failed("the card fell off".into()), ago_ms: 0 };
        world.submit(Command::Lease(lease::Command::report(seen, world.now.plus_ms(-40 * MINUTE_MS))));
    }
}

#[test]
fn views_that_are_deleted_or_rebuilt_hold_the_same_rows() {
    for seed in 1..4 {
        let mut world = mixed_world(seed);
        world.queries();
        let before = dump(&world.path());
        let anew = world.folder.path().join("anew.sqlite");
        let mut views = Views::open(&anew, world.engine.keys().log()).unwrap();
        assert_eq!(views.advance(world.engine.source()).unwrap(), world.engine.head().size);
        assert_eq!(dump(&anew), before, "folded at once, not bit by bit (seed {seed})");
        world.views.rebuild(world.engine.source()).unwrap();
        assert_eq!(dump(&world.path()), before, "emptied and folded again (seed {seed})");
    }
}

#[test]
fn views_agree_with_the_state_and_with_the_books() {
    for seed in 1..4 {
        let mut world = mixed_world(seed);
        let queries = world.queries();
        let everybody = queries.within(Scope::All);
        let state = world.engine.state();
        let leases = everybody.leases(&LeaseFilter::default(), page(None, 10_000)).unwrap();
        assert_eq!(leases.len() as u64, state.lease.last);
        for lease in &leases {
            let known = state.lease.get(lease.id);
            assert_eq!(known.is_none(), lease.standing == Standing::Ended, "{lease:?}");
            if let Some(known) = known {
                let run = state.money.run(lease.id).map_or(Ticks::ZERO, |run| run.charged);
                assert_eq!(lease.charged, known.charged_before + run, "{}", lease.id);
                assert_eq!((&lease.ask, lease.since, lease.attempts), (&known.ask, known.since, known.attempt));
                assert_eq!((&lease.detail, lease.reason), (&known.detail, known.reason), "{}", lease.id);
            }
            let lines = everybody.lines_of(lease.id).unwrap();
            assert_eq!(lines.iter().map(Line::billed).sum::<Ticks>(), lease.charged, "{}", lease.id);
        }
        let usage = everybody.usage(&all(vec![])).unwrap();
        let revenue = queries.revenue(&TimeZone::UTC, Time(0), Time::MAX).unwrap();
        let earned: Ticks = revenue.iter().map(DayRevenue::earned).sum();
        let booked: Ticks = state.money.books().iter().map(|(_, book)| book.totals().charged).sum();
        assert!(booked.is_positive() && revenue.iter().any(|day| day.reversed.is_positive()), "seed {seed}");
        assert_eq!((usage.total, earned), (booked, booked), "seed {seed}");
        let milli_ms: i128 = revenue.iter().map(|day| day.milli_ms).sum();
        assert_eq!(usage.groups.iter().map(|group| group.milli_ms).sum::<i128>(), milli_ms);
    }
}

fn each_event(world: &World, mut see: impl FnMut(rental::Event)) {
    let visit = &mut |stored: journal::Stored<'_>| {
        for part in &stored.parts {
            rental::Part::decode(part.bytes, part.owner).unwrap().events.into_iter().for_each(&mut see);
        }
        std::ops::ControlFlow::Continue(())
    };
    world.engine.source().read(1, visit).unwrap();
}

#[test]
fn an_ended_lease_cost_what_its_last_event_says() {
    let mut world = mixed_world(7);
    let queries = world.queries();
    let mut ended = BTreeMap::new();
    each_event(&world, |event| {
        if let rental::Event::Lease(tenant, lease::Event::Ended(e)) = event {
            ended.insert(e.lease, (tenant, e.charged, e.reason));
        }
    });
    assert!(ended.len() > 5);
    for (id, (tenant, charged, reason)) in ended {
        let lease = queries.within(tenant).lease(id).unwrap().unwrap();
        assert_eq!((lease.charged, lease.reason, lease.standing), (charged, Some(reason), Standing::Ended), "{id}");
    }
}

#[test]
fn pages_in_both_directions_show_every_row_once() {
    let mut world = mixed_world(5);
    let queries = world.queries();
    let tenant = queries.within(TA);
    for newest_first in [false, true] {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let some = tenant.leases(&LeaseFilter::default(), Page { after, limit: 7, newest_first }).unwrap();
            let Some(last) = some.last() else { break };
            after = Some(last.id);
            ids.extend(some.iter().map(|lease| lease.id.0));
        }
        ids.sort_by_key(|id| if newest_first { u64::MAX - id } else { *id });
        assert_eq!(ids, sorted(1..=world.engine.state().lease.last, newest_first));

        let (mut postings, mut after) = (Vec::new(), None);
        loop {
            let some = tenant.statement(Page { after, limit: 11, newest_first }).unwrap();
            let Some(last) = some.last() else { break };
            after = Some(PostingId { seq: last.seq, number: last.number });
            postings.extend(some.iter().map(|p| (p.seq, p.number)));
        }
        let in_order = if newest_first { postings.is_sorted_by(|a, b| a > b) } else { postings.is_sorted_by(|a, b| a < b) };
        assert!(in_order);
        let (mut money, mut of_money) = (0, BTreeSet::new());
        each_event(&world, |event| money += usize::from(matches!(event, rental::Event::Money(TA, _))));
        assert_eq!(postings.len(), money);
        let parts = tenant.parts(Page { after: None, limit: 10_000, newest_first: false }).unwrap();
        for part in parts.iter().filter(|part| part.kinds.iter().any(|kind| kind.starts_with("money."))) {
            of_money.insert(part.seq);
            assert_eq!(part.kinds.iter().collect::<BTreeSet<_>>().len(), part.kinds.len(), "each kind once");
        }
        assert_eq!(of_money, postings.iter().map(|(seq, _)| *seq).collect());
    }
    let live = LeaseFilter { standings: vec![Standing::Running, Standing::Queued], project: None };
    let live = tenant.leases(&live, page(None, 10_000)).unwrap();
    let state = world.engine.state();
    let count = state.lease.all().filter(|l| matches!(l.status, lease::Status::Running | lease::Status::Queued)).count();
    assert_eq!(live.len(), count);
}

fn sorted(ids: std::ops::RangeInclusive<u64>, newest_first: bool) -> Vec<u64> {
    if newest_first { ids.rev().collect() } else { ids.collect() }
}

#[test]
fn an_owners_parts_are_listed_without_a_gap_and_a_leases_parts_make_a_bundle_that_holds() {
    let (mut world, leases) = two_tenants();
    let queries = world.queries();
    for owner in [Owner::OPERATOR, TA.into(), TB.into()] {
        let parts = queries.within(Scope::Owner(owner)).parts(page(None, 1000)).unwrap();
        let numbers: Vec<u64> = parts.iter().map(|part| part.part_seq).collect();
        assert_eq!(numbers, (1..=parts.len() as u64).collect::<Vec<_>>());
        assert_eq!(world.engine.state().part_seq(owner), parts.len() as u64);
    }
    let seqs = queries.within(TB).seqs_of(leases[1]).unwrap();
    // Requested, started, stopping, ended.
    assert_eq!(seqs.len(), 4);
    let checkpoint = world.engine.checkpoint().unwrap();
    let keys = world.engine.keys();
    let bundle = Bundle::make(world.engine.source(), keys, TB.into(), &seqs, &checkpoint).unwrap();
    let report = verify::bundle(bundle.to_json().as_bytes(), Some(keys.verifier())).unwrap();
    assert!(report.sound(), "{report:?}");
    assert_eq!(bundle.parts.len(), 4);
}

#[test]
fn a_file_of_another_log_or_another_version_or_of_noise_is_folded_anew() {
    let (mut world, _) = two_tenants();
    world.queries();
    let before = dump(&world.path());
    let log = world.engine.keys().log();
    let spoil: [&dyn Fn(&Path); 3] = [
        &|path| drop(Views::open(path, Keys::from_seed(9).log()).unwrap()),
        &|path| rusqlite::Connection::open(path).unwrap().pragma_update(None, "user_version", 999).unwrap(),
        &|path| std::fs::write(path, vec![7; 9000]).unwrap(),
    ];
    for (n, spoil) in spoil.into_iter().enumerate() {
        let path = world.folder.path().join(format!("{n}.sqlite"));
        Views::open(&path, log).unwrap().advance(world.engine.source()).unwrap();
        assert_eq!(dump(&path), before);
        spoil(&path);
        let mut views = Views::open(&path, log).unwrap();
        assert_eq!(views.applied(), 0, "case {n}");
        views.advance(world.engine.source()).unwrap();
        assert_eq!(dump(&path), before, "case {n}");
    }
}

#[test]
fn views_of_entries_that_the_journal_lost_are_folded_anew() {
    let (mut world, _) = two_tenants();
    world.queries();
    for kept in [world.engine.head().size - 3, 0] {
        let mut restored = Memory::new(Keys::from_seed(1));
        copy(world.engine.source(), &mut restored, kept);
        let mut views = Views::open(&world.path(), restored.keys().log()).unwrap();
        assert_eq!(views.advance(&restored).unwrap(), kept);
        let queries = Queries::open(&world.path()).unwrap();
        assert_eq!(queries.applied().unwrap(), kept);
        let parts = queries.within(Scope::All).parts(Page { after: None, limit: 1, newest_first: true }).unwrap();
        assert_eq!(parts.first().map_or(0, |part| part.seq), kept);
    }
}

/// The first `count` entries of one log into another of the same keys.
fn copy(from: &dyn Source, to: &mut Memory, count: u64) {
    let mut entries = Vec::new();
    from.read(1, &mut |stored| {
        if stored.seq > count {
            return std::ops::ControlFlow::Break(());
        }
        let parts = stored.parts.iter().map(|part| journal::Part { owner: part.owner, bytes: part.bytes.to_vec() }).collect();
        entries.push(journal::Entry::new(stored.header().unwrap(), parts));
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    to.append(&Batch { entries, ..Batch::default() }).unwrap();
}
