//! The house that a trace is replayed in: fleet, prices, policy, tenants, set up by commands.

use super::{
    ReplayError,
    trace::{MODELS, Node, Trace},
};
use engine::{Engine, Submission};
use placement::{DeviceSpec, NodeSpec};
use rental::{Command, fleet, market, money, tenancy};
use std::collections::BTreeMap;
use units::{AgentId, DeviceId, Micro, PoolId, ProjectId, TenantId, Ticks, Time};

/// The one agent that speaks for all nodes.
pub(super) const AGENT: AgentId = AgentId(1);
/// A core costs 0.12 CNY an hour.
const CORE: i64 = 120_000;
/// Soft shares on one card: as many as the journal's byte counts, for the traces have shares of a few permille.
const SHARES: u8 = u8::MAX;

/// Tenants by the trace's owners.
pub(super) type Tenants = BTreeMap<String, (TenantId, ProjectId)>;

pub(super) fn set_up(engine: &mut Engine, now: Time, trace: &Trace, factor: i64) -> Result<Tenants, ReplayError> {
    let mut commands = vec![
        Command::Fleet(fleet::Command::AddPool { name: "trace".into() }),
        Command::Fleet(fleet::Command::JoinAgent { name: "trace".into() }),
        Command::Market(market::Command::SetPolicy(policy())),
        Command::Market(market::Command::PublishPrices { from: now, prices: prices(factor) }),
    ];
    commands.extend(trace.nodes.iter().map(add_node));
    let mut tenants = Tenants::new();
    for job in &trace.jobs {
        let next = tenants.len() as u64 + 1;
        tenants.entry(job.owner.clone()).or_insert((TenantId(next), ProjectId(next)));
    }
    for number in 1..=tenants.len() as u64 {
        let (tenant, ticks) = (TenantId(number), Ticks::from_cny(10_000_000_000));
        commands.push(Command::Tenancy(tenancy::Command::CreateTenant));
        commands.push(Command::Money(money::Command::TopUp { tenant, payment: "trace".into(), ticks }));
    }
    for command in commands {
        let kind = command.kind();
        engine.submit(now, Submission::plain("operator", command)).map_err(|e| ReplayError::Setup(format!("{kind}: {e}")))?;
    }
    Ok(tenants)
}

/// Shares of any size; agents are never silent; nobody is kept out for the sake of one who waits longer.
fn policy() -> market::Policy {
    market::Policy { share_compute: 1, share_memory_mib: 1, queue_bound_ms: i64::MAX / 8, ..market::Policy::default() }
}

fn prices(factor: i64) -> Vec<market::Price> {
    let card = |(model, _, cny, _): &(&str, u32, i64, u32)| market::Price {
        sku: billing::Sku::Card((*model).into()),
        micro: Micro::from_cny(cny * factor),
    };
    let core = market::Price { sku: billing::Sku::Cpu, micro: Micro(CORE * factor) };
    MODELS.iter().map(card).chain([core]).collect()
}

fn add_node(node: &Node) -> Command {
    let devices = node.cards.iter().flat_map(|(model, count)| (0..*count).map(|_| device(model))).collect();
    let spec = NodeSpec { pool: PoolId(1), cpu_milli: node.cpu_milli, memory_mib: node.memory_mib, labels: Vec::new(), devices };
    Command::Fleet(fleet::Command::AddNode { pool: PoolId(1), agent: AGENT, name: node.name.clone(), spec })
}

fn device(model: &str) -> DeviceSpec {
    let known = MODELS.iter().find(|(name, ..)| *name == model);
    let (memory_mib, tflops_milli) = known.map_or((15_360, 0), |(_, memory, _, tflops)| (*memory, *tflops));
    DeviceSpec { id: DeviceId(0), model: model.into(), memory_mib, tflops_milli, max_shares: SHARES }
}
