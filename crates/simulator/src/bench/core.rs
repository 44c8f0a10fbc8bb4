//! How fast the core decides: decide, seal, encode, apply; no disk, no clock, no threads.

use super::BenchReport;
use placement::{DeviceSpec, NodeSpec};
use rental::{Command, State, apply, decide, fleet, lease, market, money, seal, tenancy};
use std::{hint::black_box, path::Path, time::Instant};
use units::{
    AgentId, Ask, Beside, DeviceId, HOUR_MS, Interval, LeaseId, Micro, NodeId, Observation, Phase, PoolId, ProjectId, Size,
    TenantId, Ticks, Time,
};

const NODES: u64 = 64;
const CARDS: u64 = 8;
const TENANT: TenantId = TenantId(1);

/// How much is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Lives of leases per round, each of six decisions.
    pub lives: u64,
    /// Rounds; the median counts.
    pub rounds: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { lives: 50_000, rounds: 5 }
    }
}

/// Measures `core.decisions_per_second` on 64 nodes of 8 cards, half of them taken: order, ready, renewal, stop, gone and
/// cleared of one lease after the other, in equal parts.
pub fn core(options: &Options) -> BenchReport {
    let mut report = BenchReport::new("core", Path::new("."));
    let mut house = House::half_full();
    let mut bytes = Vec::with_capacity(4096);
    let mut rates: Vec<f64> = Vec::new();
    let mut slowest: Vec<f64> = Vec::new();
    for _ in 0..options.rounds {
        let start = Instant::now();
        let mut longest = 0_f64;
        let mut decisions = 0;
        for _ in 0..options.lives {
            let began = Instant::now();
            decisions += house.live(&mut bytes);
            longest = longest.max(began.elapsed().as_secs_f64());
        }
        rates.push(f64::from(u32::try_from(decisions).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64());
        slowest.push(longest);
    }
    rates.sort_by(f64::total_cmp);
    slowest.sort_by(f64::total_cmp);
    let labels = [("nodes", "64"), ("cards", "512"), ("taken", "256")];
    report.add("core.decisions_per_second", &labels, rates[rates.len() / 2], "1/s");
    report.add("core.slowest_life_milliseconds", &labels, slowest[slowest.len() / 2] * 1000.0, "ms");
    report
}

/// The state and its clock.
struct House {
    state: State,
    now: Time,
}

impl House {
    fn half_full() -> House {
        let mut house = House { state: State::default(), now: Time(1_767_225_600_000) };
        let mut bytes = Vec::new();
        for command in furniture(house.now) {
            house.carry_out(&command, &mut bytes);
        }
        for _ in 0..NODES * CARDS / 2 {
            house.carry_out(&order(), &mut bytes);
            let lease = LeaseId(house.state.lease.last);
            house.report(lease, Phase::Ready, &mut bytes);
        }
        house
    }

    /// One decision on its whole way but for the disk.
    fn carry_out(&mut self, command: &Command, bytes: &mut Vec<u8>) {
        let events = decide(&self.state, self.now, command).expect("the benchmark asks for nothing that is refused");
        assert!(!events.is_empty(), "the benchmark asks for nothing that is the case already");
        let parts = seal(&self.state, self.now, events);
        bytes.clear();
        for part in &parts {
            minicbor::encode(part, &mut *bytes).expect("a Vec takes every byte");
        }
        black_box(&bytes);
        apply(&mut self.state, parts);
    }

    /// A lease from its order until its card is back in stock; says in how many decisions.
    fn live(&mut self, bytes: &mut Vec<u8>) -> u64 {
        self.carry_out(&order(), bytes);
        let lease = LeaseId(self.state.lease.last);
        self.report(lease, Phase::Ready, bytes);
        self.now = self.now.plus_ms(HOUR_MS);
        self.carry_out(&Command::Lease(lease::Command::Renew { leases: vec![lease] }), bytes);
        let device = self.state.lease.get(lease).and_then(|l| l.slices().next()).expect("it runs on a card").device;
        self.carry_out(&Command::Lease(lease::Command::Destroy { tenant: TENANT, lease }), bytes);
        self.report(lease, Phase::Gone, bytes);
        self.carry_out(&Command::Fleet(fleet::Command::Clear { devices: vec![device], heard: None }), bytes);
        6
    }

    fn report(&mut self, lease: LeaseId, phase: Phase, bytes: &mut Vec<u8>) {
        let known = self.state.lease.get(lease).expect("it was just ordered");
        let node = known.members.first().map_or(NodeId(0), |member| member.grant.node);
        let seen = Observation { lease, attempt: known.attempt, node, phase, ago_ms: 0 };
        self.carry_out(&Command::Lease(lease::Command::report(seen, self.now)), bytes);
    }
}

fn order() -> Command {
    let ask = Ask {
        size: Size::Cards(1),
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside { cpu_milli: 8_000, memory_mib: 65_536 },
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    };
    Command::Lease(lease::Command::Request(Box::new(lease::Request {
        tenant: TENANT,
        project: ProjectId(1),
        ask,
        wait: false,
        on_failure: lease::OnFailure::End,
        most: None,
    })))
}

fn furniture(now: Time) -> Vec<Command> {
    let card =
        DeviceSpec { id: DeviceId(0), model: "A100-80GB".into(), memory_mib: 81_920, tflops_milli: 312_000, max_shares: 8 };
    let spec = |_| NodeSpec {
        pool: PoolId(1),
        cpu_milli: 128_000,
        memory_mib: 1_048_576,
        labels: Vec::new(),
        devices: (0..CARDS).map(|_| card.clone()).collect(),
    };
    let node =
        |n| Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: format!("n{n}"), spec: spec(n) });
    let price = market::Price { sku: billing::Sku::Card("A100-80GB".into()), micro: Micro::from_cny(15) };
    let paid = Ticks::from_cny(1_000_000_000);
    let before = [
        Command::Fleet(fleet::Command::AddPool { name: "pool".into() }),
        Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }),
        Command::Market(market::Command::PublishPrices { from: now, prices: vec![price] }),
        Command::Tenancy(tenancy::Command::CreateTenant),
        Command::Money(money::Command::TopUp { tenant: TENANT, payment: "first".into(), ticks: paid }),
    ];
    before.into_iter().chain((0..NODES).map(node)).collect()
}
