//! Mixed orders from a seed, and an agent that does what it is told; for tests that break things under them.

use super::TENANT;
use engine::{Idempotency, Submission};
use placement::{DeviceSpec, NodeSpec};
use rental::{Command, State, assignments, fleet, lease, market, money, tenancy};
use units::{
    AgentId, Ask, Beside, DeviceId, Interval, LeaseId, Micro, Observation, Phase, PoolId, Share, Size, Ticks, Time, UnitKind,
    Wanted,
};

/// SplitMix64 (Steele, Lea, Flood 2014): the same orders for the same seed everywhere.
pub struct Seeded(pub u64);

impl Seeded {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// The only agent.
pub const AGENT: AgentId = AgentId(1);

/// Commands that furnish the world: four nodes of four cards, prices, a tenant with money.
pub fn furniture(now: Time) -> Vec<Command> {
    let device =
        DeviceSpec { id: DeviceId(0), model: "A100-80GB".into(), memory_mib: 81_920, tflops_milli: 312_000, max_shares: 8 };
    let spec = NodeSpec { pool: PoolId(1), cpu_milli: 64_000, memory_mib: 262_144, labels: Vec::new(), devices: vec![device; 4] };
    let price = |sku, cny| market::Price { sku, micro: Micro::from_cny(cny) };
    let prices =
        vec![price(billing::Sku::Card("A100-80GB".into()), 15), price(billing::Sku::Cpu, 1), price(billing::Sku::Tflops, 1)];
    let node = |name: &str| {
        let (pool, agent, name, spec) = (PoolId(1), AGENT, name.into(), spec.clone());
        Command::Fleet(fleet::Command::AddNode { pool, agent, name, spec })
    };
    vec![
        Command::Fleet(fleet::Command::AddPool { name: "cards".into() }),
        Command::Fleet(fleet::Command::JoinAgent { name: "agent".into() }),
        node("a"),
        node("b"),
        node("c"),
        node("d"),
        Command::Market(market::Command::PublishPrices { from: now, prices }),
        Command::Tenancy(tenancy::Command::CreateTenant),
        top_up("first", 1_000_000),
    ]
}

fn top_up(payment: &str, cny: i64) -> Command {
    Command::Money(money::Command::TopUp { tenant: TENANT, payment: payment.into(), ticks: Ticks::from_cny(cny) })
}

/// What a tenant wishes next.
pub fn wish(random: &mut Seeded, state: &State) -> Command {
    let lease = LeaseId(1 + random.below(state.lease.last + 1));
    let tenant = TENANT;
    Command::Lease(match random.below(10) {
        0..5 => lease::Command::Request(Box::new(request(random))),
        5 | 6 => lease::Command::Stop { tenant, lease },
        7 => lease::Command::Start { tenant, lease, wait: true },
        8 => lease::Command::Destroy { tenant, lease },
        _ => return top_up(&format!("more-{}", random.below(1_000)), 10),
    })
}

fn request(random: &mut Seeded) -> lease::Request {
    let size = match random.below(4) {
        0 => Size::Servers(1),
        1 => Size::Cards(1 + random.below(6) as u32),
        2 => Size::Share(Share { compute: 250, memory_mib: 20_480 }),
        _ => Size::Units(UnitKind::Cpu, 1_000 + random.below(8_000)),
    };
    let ask = Ask {
        size,
        models: Vec::new(),
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: Vec::new(),
        interval: Interval { from: Time(0), until: None },
    };
    let (project, on_failure) = (super::PROJECT, lease::OnFailure::Requeue);
    lease::Request { tenant: TENANT, project, ask, wait: random.below(2) == 0, on_failure, most: None }
}

/// A wish under an idempotency key of its own.
pub fn keyed(command: Command, key: u64) -> Submission {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&key.to_be_bytes());
    let idempotency = Some(Idempotency { owner: TENANT.into(), key: hash, request: [1; 32] });
    Submission { idempotency, ..Submission::plain("key-1", command) }
}

/// What the agent does about the published state: the starts it carries out, and what it then says.
pub fn agent_turn(state: &State) -> (Vec<(LeaseId, u32)>, Vec<Command>) {
    let (mut starts, mut sightings) = (Vec::new(), Vec::new());
    for wish in assignments(state, AGENT) {
        let starting = state.lease.get(wish.lease).is_some_and(|l| l.status == lease::Status::Starting);
        let phase = match wish.wanted {
            Wanted::Run if starting => {
                starts.push((wish.lease, wish.attempt));
                Phase::Ready
            }
            Wanted::Run => continue,
            Wanted::End => Phase::Gone,
        };
        let seen = Observation { lease: wish.lease, attempt: wish.attempt, node: wish.grant.node, phase, ago_ms: 0 };
        sightings.push(lease::Sighting { seen, since: Time::MAX });
    }
    let mut reports: Vec<_> = lease::Command::reports(sightings).into_iter().map(Command::Lease).collect();
    let devices = state.fleet.unclean_of(AGENT);
    if !devices.is_empty() {
        reports.push(Command::Fleet(fleet::Command::Clear { devices, heard: None }));
    }
    (starts, reports)
}
