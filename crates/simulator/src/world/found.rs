//! How a world begins: pools, agents, nodes, prices, tenants, all by the commands that an operator gives.

use super::{Line, Oracle, Plane, Sabotage, Site, Turn, World};
use crate::random::Random;
use drivers::simulated::{Behaviour, node};
use engine::{Attach, Submission};
use placement::{DeviceSpec, NodeSpec};
use protocol::{Join, Joined, JoinedDevice, JoinedNode, NodeReport};
use rental::{Command, Event, fleet, market, money, tenancy};
use std::collections::{BTreeMap, BTreeSet};
use units::{AgentId, Micro, NodeId, PoolId, TenantId, Ticks, Time};

/// When every world begins: 2026-01-01T00:00:00Z.
pub(crate) const START: Time = Time(1_767_225_600_000);

/// Models, with the price of a card-hour in CNY.
const MODELS: [(&str, i64); 4] = [("T4", 3), ("L40S", 9), ("A100-80GB", 15), ("H100-80GB", 40)];

/// What kind of world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub seed: u64,
    /// Lines and machines fail by themselves.
    pub faults: bool,
    pub sabotage: Option<Sabotage>,
}

/// Builds a world.
pub(crate) fn found(plan: Plan) -> Result<World, String> {
    let mut random = Random::of(plan.seed, u64::MAX);
    let plane = Plane::new(plan.seed, plan.sabotage, START)?;
    let mut world = World {
        now: START,
        plane,
        sites: Vec::new(),
        oracle: Oracle::default(),
        tenants: Vec::new(),
        counts: BTreeMap::new(),
        leases: BTreeSet::new(),
        sabotage: plan.sabotage,
        serial: 0,
        mail: BTreeMap::new(),
        posted: 0,
        random: Random::of(plan.seed, u64::MAX - 1),
        woken: 0,
    };
    publish_prices(&mut world)?;
    set_policy(&mut world, &mut random)?;
    furnish(&mut world, &mut random, plan)?;
    for _ in 0..random.within(2, 4) {
        add_tenant(&mut world, &mut random)?;
    }
    if world.turn()? == Turn::Done { Ok(world) } else { Err("the world cannot begin".into()) }
}

impl World {
    /// Carries out a command that nothing can refuse.
    fn must(&mut self, command: Command, attach: Attach) -> Result<Vec<Event>, String> {
        let submission = Submission { attach, ..Submission::plain("operator", command) };
        let answer = self.plane.submit(self.now, submission).map_err(|e| format!("the beginning is refused: {e}"))?;
        Ok(answer.events().cloned().collect())
    }
}

fn publish_prices(world: &mut World) -> Result<(), String> {
    let card =
        |(model, cny): &(&str, i64)| market::Price { sku: billing::Sku::Card((*model).into()), micro: Micro::from_cny(*cny) };
    let mut prices: Vec<market::Price> = MODELS.iter().map(card).collect();
    prices.push(market::Price { sku: billing::Sku::Cpu, micro: Micro(120_000) });
    prices.push(market::Price { sku: billing::Sku::Tflops, micro: Micro(51_234) });
    prices.push(market::Price { sku: billing::Sku::Server("T4".into()), micro: Micro::from_cny(11) });
    let from = world.now;
    world.must(Command::Market(market::Command::PublishPrices { from, prices }), Attach::Nothing).map(|_| ())
}

fn set_policy(world: &mut World, random: &mut Random) -> Result<(), String> {
    let policy = market::Policy {
        arrears_grace_ms: *random.pick(&[0, 0, 600_000, 7_200_000]).unwrap_or(&0),
        queue_bound_ms: *random.pick(&[600_000, 7_200_000, 86_400_000]).unwrap_or(&600_000),
        lost_after_ms: *random.pick(&[0, 300_000, 1_800_000]).unwrap_or(&0),
        ..market::Policy::default()
    };
    world.must(Command::Market(market::Command::SetPolicy(policy)), Attach::Nothing).map(|_| ())
}

fn furnish(world: &mut World, random: &mut Random, plan: Plan) -> Result<(), String> {
    let pools = random.within(1, 2);
    for pool in 1..=pools {
        world.must(Command::Fleet(fleet::Command::AddPool { name: format!("pool{pool}") }), Attach::Nothing)?;
    }
    for agent in 1..=random.within(2, 4) {
        let agent = AgentId(agent.unsigned_abs());
        world.must(Command::Fleet(fleet::Command::JoinAgent { name: agent.to_string() }), Attach::Nothing)?;
        let reports: Vec<NodeReport> = (0..random.within(1, 2)).map(|n| machine(random, agent, n)).collect();
        let pool = PoolId(random.within(1, pools).unsigned_abs());
        let mut joined = Vec::new();
        for report in &reports {
            joined.push(add_node(world, agent, pool, report)?);
        }
        let join = Join { version: protocol::VERSION, hostname: agent.to_string(), nodes: reports, capabilities: Vec::new() };
        let log = world.plane.engine().map_or_else(String::new, |engine| engine.keys().log().to_string());
        let (behaviour, line) = temper(random, plan.faults);
        let stream = Random::of(plan.seed, 1_000_000 + agent.0);
        let mut site = Site::new(join, Joined { agent, log, nodes: joined }, behaviour, stream, world.now);
        site.line = line;
        world.sites.push(site);
    }
    Ok(())
}

fn machine(random: &mut Random, agent: AgentId, n: i64) -> NodeReport {
    let (model, _) = *random.pick(&MODELS).unwrap_or(&MODELS[0]);
    let cards = *random.pick(&[0, 1, 2, 4]).unwrap_or(&1);
    node(&format!("{agent}-n{n}"), model, cards)
}

/// How a site's machines and line behave.
fn temper(random: &mut Random, faults: bool) -> (Behaviour, Line) {
    if !faults {
        return (Behaviour::default(), Line::default());
    }
    let slow = random.happens(300);
    let behaviour = Behaviour {
        start_ms: if slow { (1_000, 900_000) } else { (200, 5_000) },
        end_ms: if slow { (100, 120_000) } else { (50, 2_000) },
        scrub_ms: if slow { (0, 300_000) } else { (0, 2_000) },
        start_fails_permille: 40,
        crash_permille: 60,
        crash_ms: (1_000, 4 * 3_600_000),
    };
    let most = *random.pick(&[0, 20, 100]).unwrap_or(&0);
    let mut some = || u32::try_from(random.within(0, most)).unwrap_or(0);
    (behaviour, Line { lost: some(), unanswered: some(), late: some() })
}

fn add_node(world: &mut World, agent: AgentId, pool: PoolId, report: &NodeReport) -> Result<JoinedNode, String> {
    let device = |d: &protocol::DeviceReport| DeviceSpec {
        id: units::DeviceId(0),
        model: d.model.clone(),
        memory_mib: d.memory_mib,
        tflops_milli: u32::try_from(d.tflops_milli).unwrap_or(u32::MAX),
        max_shares: u8::try_from(d.max_shares).unwrap_or(u8::MAX),
    };
    let spec = NodeSpec {
        pool,
        cpu_milli: report.cpu_milli,
        memory_mib: report.memory_mib,
        labels: report.labels.clone(),
        devices: report.devices.iter().map(device).collect(),
    };
    let uuids: Vec<String> = report.devices.iter().map(|d| d.uuid.clone()).collect();
    let command = Command::Fleet(fleet::Command::AddNode { pool, agent, name: report.name.clone(), spec });
    let events = world.must(command, Attach::Devices(uuids.clone()))?;
    let added = events.iter().find_map(|event| match event {
        Event::Fleet(fleet::Event::NodeAdded(e)) => Some(e),
        _ => None,
    });
    let added = added.ok_or("a new node is added")?;
    let device = |(uuid, d): (String, &DeviceSpec)| JoinedDevice { uuid, device: d.id };
    let devices = uuids.into_iter().zip(&added.spec.devices).map(device).collect();
    Ok(JoinedNode { name: report.name.clone(), node: NodeId(added.node.0), devices })
}

fn add_tenant(world: &mut World, random: &mut Random) -> Result<(), String> {
    let events = world.must(Command::Tenancy(tenancy::Command::CreateTenant), Attach::Nothing)?;
    let created = events.iter().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::TenantCreated(e)) => Some(e.tenant),
        _ => None,
    });
    let tenant: TenantId = created.ok_or("a new tenant is created")?;
    world.tenants.push(tenant);
    let ticks = Ticks::from_cny(random.within(1, 400));
    let command = money::Command::TopUp { tenant, payment: "first".into(), ticks };
    world.must(Command::Money(command), Attach::Nothing)?;
    Ok(())
}
