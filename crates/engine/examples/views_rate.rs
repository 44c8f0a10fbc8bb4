//! Measures how fast views are folded, and what asking them costs.
//!
//! ```text
//! cargo run --release -p engine --example views_rate [ENTRIES]
//! ```
//!
//! Leases of a thousand tenants live through order, start, stop and end: four entries each, of 1 to 4 events.

use engine::{Engine, Submission, views::*};
use jiff::tz::TimeZone;
use journal::{Failure, Options, Sqlite, Synchronous};
use placement::NodeSpec;
use rental::{Command, fleet, lease, market, money, tenancy};
use std::{env, hint::black_box, time::Instant};
use units::{
    AgentId, Ask, Beside, Interval, LeaseId, Micro, NodeId, Observation, Phase, PoolId, ProjectId, Size, TenantId, Ticks, Time,
    UnitKind,
};

const TENANTS: u64 = 1000;
/// Leases that live at once.
const LIVE: u64 = 256;
/// Entries between two that are written durably together.
const BATCH: u64 = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entries: u64 = env::args().nth(1).map_or(400_000, |n| n.parse().expect("ENTRIES is a number"));
    let folder = tempfile::tempdir()?;
    let store = Sqlite::open(folder.path(), &Options { synchronous: Synchronous::Off, ..Options::default() })?;
    let reader = store.reader()?;
    let mut engine = Engine::with_state(Box::new(store), rental::State::default())?;
    let mut world = World { engine: &mut engine, now: Time(1_780_000_000_000), entries: 0 };
    world.furnish();
    while world.entries < entries {
        world.lives();
    }
    let (written, end) = (world.entries, world.now);

    let path = folder.path().join("views.sqlite");
    let mut views = Views::open(&path, engine.keys().log())?;
    let (start, computing) = (Instant::now(), computed());
    let applied = views.advance(&reader)?;
    for (name, seconds) in [("by the clock", start.elapsed().as_secs_f64()), ("of a core", computed() - computing)] {
        println!("fold, {name:<16} {:>8.0} entries/s  {:>6.2} us each", applied as f64 / seconds, seconds * 1e6 / applied as f64);
    }
    println!("{applied} entries of {written}, {} MiB of views", std::fs::metadata(&path)?.len() >> 20);

    let queries = Queries::open(&path)?;
    let tenant = queries.within(TenantId(7));
    let page = Page { after: None, limit: 50, newest_first: true };
    ask("50 leases of a tenant", || tenant.leases(&LeaseFilter::default(), page).map(|l| l.len()))?;
    ask("50 leases of everybody", || queries.within(Scope::All).leases(&LeaseFilter::default(), page).map(|l| l.len()))?;
    ask("lines of a lease", || tenant.lines_of(LeaseId(7)).map(|l| l.len()))?;
    let statement = Page { after: None, limit: 50, newest_first: true };
    ask("50 postings of a tenant", || tenant.statement(statement).map(|p| p.len()))?;
    let zone = TimeZone::get("Asia/Shanghai")?;
    let (from, until) = (Time(1_780_000_000_000), end);
    let by = |by| UsageQuery { from, until, by: vec![by], lease: None, project: None };
    ask("usage of a tenant by day", || tenant.usage(&by(By::Day(zone.clone()))).map(|u| u.lines as usize))?;
    ask("usage of everybody by tenant", || queries.within(Scope::All).usage(&by(By::Tenant)).map(|u| u.lines as usize))?;
    ask("revenue by day", || queries.revenue(&zone, from, until).map(|r| r.len()))?;
    Ok(())
}

/// Seconds that this thread has computed: other work on the machine does not count. Linux only; elsewhere 0.
fn computed() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    statistics.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0) / 1e9
}

fn ask(name: &str, mut run: impl FnMut() -> Result<usize, Failure>) -> Result<(), Failure> {
    let found = run()?;
    let start = Instant::now();
    for _ in 0..10 {
        black_box(run()?);
    }
    println!("{name:<32} {:>10.3} ms  {found} found", start.elapsed().as_secs_f64() * 100.0);
    Ok(())
}

struct World<'a> {
    engine: &'a mut Engine,
    now: Time,
    entries: u64,
}

impl World<'_> {
    fn furnish(&mut self) {
        let (cpu_milli, memory_mib) = (4_000_000, 16_777_216);
        let spec = NodeSpec { pool: PoolId(1), cpu_milli, memory_mib, labels: Vec::new(), devices: Vec::new() };
        let price = market::Price { sku: billing::Sku::Cpu, micro: Micro::from_cny(1) };
        self.submit(Command::Fleet(fleet::Command::AddPool { name: "pool".into() }));
        self.submit(Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }));
        let (pool, agent, name) = (PoolId(1), AgentId(1), "node".into());
        self.submit(Command::Fleet(fleet::Command::AddNode { pool, agent, name, spec }));
        self.submit(Command::Market(market::Command::PublishPrices { from: self.now, prices: vec![price] }));
        for tenant in 1..=TENANTS {
            self.submit(Command::Tenancy(tenancy::Command::CreateTenant));
            let (tenant, payment, ticks) = (TenantId(tenant), "first".into(), Ticks::from_cny(1_000_000));
            self.submit(Command::Money(money::Command::TopUp { tenant, payment, ticks }));
        }
    }

    /// As many leases as live at once, from order to end.
    fn lives(&mut self) {
        let first = self.engine.state().lease.last + 1;
        let leases = first..first + LIVE;
        let tenant = |lease: u64| TenantId(1 + lease % TENANTS);
        leases.clone().for_each(|n| self.submit(order(tenant(n))));
        self.commit();
        leases.clone().for_each(|n| self.report(n, Phase::Ready));
        self.now = self.now.plus_ms(600_000);
        for lease in leases.clone().map(LeaseId) {
            self.submit(Command::Lease(lease::Command::Destroy { tenant: tenant(lease.0), lease }));
        }
        leases.for_each(|n| self.report(n, Phase::Gone));
        self.commit();
    }

    fn report(&mut self, lease: u64, phase: Phase) {
        let seen = Observation { lease: LeaseId(lease), attempt: 1, node: NodeId(1), phase, ago_ms: 0 };
        self.submit(Command::Lease(lease::Command::report(seen, self.now)));
    }

    fn submit(&mut self, command: Command) {
        let answer = self.engine.submit(self.now, Submission::plain("key-1", command));
        answer.expect("everything in this world is allowed").seq.expect("and changes something");
        self.now = self.now.plus_ms(1);
        self.entries += 1;
        if self.entries.is_multiple_of(BATCH) {
            self.commit();
        }
    }

    fn commit(&mut self) {
        self.engine.commit().expect("the disk works");
    }
}

fn order(tenant: TenantId) -> Command {
    let ask = Ask {
        size: Size::Units(UnitKind::Cpu, 1_000),
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    };
    let (project, wait, on_failure, most) = (ProjectId(tenant.0), false, lease::OnFailure::End, None);
    Command::Lease(lease::Command::Request(Box::new(lease::Request { tenant, project, ask, wait, on_failure, most })))
}
