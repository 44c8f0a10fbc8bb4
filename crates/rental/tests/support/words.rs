//! The words of scenario scripts, as commands.

use super::script::Script;
use placement::{DeviceSpec, NodeSpec};
use rental::{
    Command, fleet,
    lease::{self, OnFailure},
    market, money, tenancy,
};
use units::{
    Accept, AgentId, Ask, Beside, DeviceId, Interval, LeaseId, Micro, NodeId, Observation, Phase, PoolId, Share, Size, TenantId,
    Ticks, Time, UnitKind,
};

pub type Words<'a> = &'a [&'a str];

/// Memory of a card where a script says nothing: an A100-80GB's.
const CARD_MIB: u32 = 81_920;

/// Reads a command. Setting the scene may take several.
pub fn commands(script: &Script, words: Words<'_>) -> Result<Vec<Command>, String> {
    let names = Names(script);
    Ok(match *words {
        ["time", "passes"] => vec![],
        ["fleet", "of", n, "nodes", "with", k, model, ref rest @ ..] => fleet(script, (number(n)?, number(k)?), model, rest)?,
        ["node", name, "is", "removed"] => vec![Command::Fleet(fleet::Command::RemoveNode { node: names.node(name)? })],
        ["node", name, "is", mark] => {
            vec![Command::Fleet(fleet::Command::MarkNode { node: names.node(name)?, mark: read_mark(mark)? })]
        }
        ["device", n, "is", offered @ ("offered" | "withheld")] => {
            let device = DeviceId(number(n)?);
            vec![Command::Fleet(fleet::Command::MarkDevice { device, offered: offered == "offered" })]
        }
        [lease, "is", "clean"] => vec![clean(script, names.lease(lease)?)],
        ["price", sku, price] => vec![publish(sku, price, script.world.now)?],
        ["price", sku, price, "from", from] => vec![publish(sku, price, script.time(from)?)?],
        ["policy", field, value] => vec![policy(script, field, value)?],
        ["tenant", _] => vec![Command::Tenancy(tenancy::Command::CreateTenant)],
        [who, "is", state @ ("closed" | "opened")] => {
            let tenant = names.tenant(who)?;
            vec![Command::Tenancy(tenancy::Command::CloseTenant { tenant, closed: state == "closed" })]
        }
        [who, "may", "use", amount, what] => vec![limit(script, names.tenant(who)?, amount, what)?],
        [who, "may", "owe", amount] => {
            vec![Command::Money(money::Command::SetCredit { tenant: names.tenant(who)?, limit: cny(amount)? })]
        }
        [who, "pays", amount] => vec![top_up(names.tenant(who)?, amount, &format!("cash-{}", script.world.state.seq))?],
        [who, "pays", amount, "as", payment] => vec![top_up(names.tenant(who)?, amount, payment)?],
        [who, "opens", payment, "of", amount] => {
            let (tenant, ticks) = (names.tenant(who)?, cny(amount)?);
            vec![Command::Money(money::Command::OpenPayment { tenant, payment: payment.into(), ticks })]
        }
        ["provider", "says", payment, "of", who, "is", end @ ("paid" | "failed")] => {
            let tenant = names.tenant(who)?;
            vec![Command::Money(money::Command::SettlePayment { tenant, payment: payment.into(), paid: end == "paid" })]
        }
        [who, "is", "corrected", "by", amount] => {
            let (tenant, ticks) = (names.tenant(who)?, cny(amount)?);
            vec![Command::Money(money::Command::Adjust { tenant, ticks, reason: "a correction".into() })]
        }
        [who, "orders", _, ref rest @ ..] => vec![order(script, names.tenant(who)?, rest)?],
        [who, verb @ ("stops" | "destroys" | "starts" | "extends" | "resizes"), lease, ref rest @ ..] => {
            vec![change(script, names.tenant(who)?, (verb, names.lease(lease)?), rest)?]
        }
        [lease, "is", "given", "up", "served", "until", time] => {
            let leases = vec![(names.lease(lease)?, script.time(time)?)];
            vec![Command::Lease(lease::Command::GiveUp { leases })]
        }
        [lease, "is", phase, ref rest @ ..] => reports(script, names.lease(lease)?, phase, rest)?,
        _ => return Err("no such command".into()),
    })
}

/// Names of the script and what they stand for.
pub struct Names<'a>(pub &'a Script);

impl Names<'_> {
    pub fn tenant(&self, name: &str) -> Result<TenantId, String> {
        self.0.tenants.get(name).copied().ok_or_else(|| format!("no tenant '{name}'"))
    }

    pub fn lease(&self, name: &str) -> Result<LeaseId, String> {
        self.0.leases.get(name).copied().ok_or_else(|| format!("no lease '{name}'"))
    }

    pub fn node(&self, name: &str) -> Result<NodeId, String> {
        self.0.nodes.get(name).copied().ok_or_else(|| format!("no node '{name}'"))
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("'{word}' is not a number"))
}

pub fn cny(word: &str) -> Result<Ticks, String> {
    Ticks::parse_cny(word).map_err(|e| e.to_string())
}

/// `1.5` as 1,500 thousandths.
pub fn thousandths(word: &str) -> Result<u64, String> {
    Ok(u64::try_from(cny(word)?.0 / (Ticks::PER_CNY / 1000)).unwrap_or(0))
}

/// Milliseconds of `90s`, `10m`, `2h`.
fn duration(word: &str) -> Result<i64, String> {
    let (n, unit) = word.split_at(word.len() - 1);
    let ms = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(format!("'{word}' is not a duration such as 10m")),
    };
    number::<i64>(n).map(|n| n * ms)
}

/// `fleet of 2 nodes with 8 A100 [of 49152 MiB] [and 64 cores] [worth 312 tflops] [in PREFIX]`
fn fleet(script: &Script, (n, k): (u64, u64), model: &str, mut rest: Words<'_>) -> Result<Vec<Command>, String> {
    let (mut memory_mib, mut cores, mut tflops, mut prefix) = (CARD_MIB, 64, 312, "n");
    while !rest.is_empty() {
        rest = match *rest {
            ["of", mib, "MiB", ref rest @ ..] => {
                memory_mib = number(mib)?;
                rest
            }
            ["and", c, "cores", ref rest @ ..] => {
                cores = number(c)?;
                rest
            }
            ["worth", t, "tflops", ref rest @ ..] => {
                tflops = number(t)?;
                rest
            }
            ["named", name, ref rest @ ..] => {
                prefix = name;
                rest
            }
            _ => return Err(format!("what is {rest:?}?")),
        };
    }
    let device = DeviceSpec { id: DeviceId(0), model: model.into(), memory_mib, tflops_milli: tflops * 1000, max_shares: 8 };
    let devices = vec![device; k as usize];
    let spec = NodeSpec { pool: PoolId(1), cpu_milli: cores * 1000, memory_mib: 524_288, labels: vec![], devices };
    let known = script.nodes.keys().filter(|name| name.starts_with(prefix)).count() as u64;
    let node =
        |i: u64| fleet::Command::AddNode { pool: PoolId(1), agent: AgentId(1), name: format!("{prefix}{i}"), spec: spec.clone() };
    let first = [fleet::Command::AddPool { name: "pool".into() }, fleet::Command::JoinAgent { name: "agent".into() }];
    Ok(first.into_iter().chain((1..=n).map(|i| node(known + i))).map(Command::Fleet).collect())
}

fn read_mark(word: &str) -> Result<fleet::Mark, String> {
    match word {
        "offered" => Ok(fleet::Mark::Offered),
        "draining" => Ok(fleet::Mark::Draining),
        "lost" => Ok(fleet::Mark::Lost),
        _ => Err(format!("'{word}' is no standing of a node")),
    }
}

/// All that the lease gave back is measured clean.
fn clean(script: &Script, lease: LeaseId) -> Command {
    let fleet = &script.world.state.fleet;
    let left = fleet.waiting().filter(|(had, _)| *had == lease).map(|(_, grant)| grant);
    let devices = left.flat_map(|grant| grant.slices.iter().map(|s| s.device)).collect();
    Command::Fleet(fleet::Command::Clear { devices, heard: None })
}

fn publish(sku: &str, price: &str, from: Time) -> Result<Command, String> {
    let micro: Micro = price.parse().map_err(|e: units::ParseMoneyError| e.to_string())?;
    Ok(Command::Market(market::Command::PublishPrices { from, prices: vec![market::Price { sku: sku.parse()?, micro }] }))
}

fn policy(script: &Script, field: &str, value: &str) -> Result<Command, String> {
    let mut policy = script.world.state.market.policy.clone();
    match field {
        "grace" => policy.arrears_grace_ms = duration(value)?,
        "queue-bound" => policy.queue_bound_ms = duration(value)?,
        "least-memory" => policy.share_memory_mib = number(value)?,
        _ => return Err(format!("'{field}' is no policy")),
    }
    Ok(Command::Market(market::Command::SetPolicy(policy)))
}

fn limit(script: &Script, tenant: TenantId, amount: &str, what: &str) -> Result<Command, String> {
    let mut limits = script.world.state.tenancy.tenants[&tenant].limits.clone();
    match what {
        "cards" => limits.cards_milli = Some(thousandths(amount)?),
        "leases" => limits.leases = Some(number(amount)?),
        "CNY" => limits.spend = Some(cny(amount)?),
        _ => return Err(format!("'{what}' has no limit")),
    }
    Ok(Command::Tenancy(tenancy::Command::SetLimits { tenant, limits }))
}

fn top_up(tenant: TenantId, amount: &str, payment: &str) -> Result<Command, String> {
    Ok(Command::Money(money::Command::TopUp { tenant, payment: payment.into(), ticks: cny(amount)? }))
}

/// `2 A100`, `1 server of A100`, `0.25 A100 with 4096 MiB`, `100 tflops`, `4 cores`; returns what follows.
fn size<'a>(words: Words<'a>) -> Result<(Size, Option<&'a str>, Words<'a>), String> {
    Ok(match *words {
        [n, "server" | "servers", "of", model, ref rest @ ..] => (Size::Servers(number(n)?), Some(model), rest),
        [n, "tflops", ref rest @ ..] => (Size::Units(UnitKind::Tflops, thousandths(n)?), None, rest),
        [n, "cores", ref rest @ ..] => (Size::Units(UnitKind::Cpu, thousandths(n)?), None, rest),
        [share, model, "with", mib, "MiB", ref rest @ ..] => {
            let compute = u32::try_from(thousandths(share)?).unwrap_or(u32::MAX);
            (Size::Share(Share { compute, memory_mib: number(mib)? }), Some(model), rest)
        }
        [n, model, ref rest @ ..] => (Size::Cards(number(n)?), Some(model), rest),
        _ => return Err("how much?".into()),
    })
}

/// `SIZE [until TIME] [for at most PRICE] [or waits] [and comes back]`
fn order(script: &Script, tenant: TenantId, words: Words<'_>) -> Result<Command, String> {
    let (size, model, mut rest) = size(words)?;
    let (mut until, mut most, mut wait, mut on_failure) = (None, None, false, OnFailure::End);
    while !rest.is_empty() {
        rest = match *rest {
            ["until", time, ref rest @ ..] => {
                until = Some(script.time(time)?);
                rest
            }
            ["for", "at", "most", price, ref rest @ ..] => {
                most = Some(price.parse().map_err(|e: units::ParseMoneyError| e.to_string())?);
                rest
            }
            ["or", "waits", ref rest @ ..] => {
                wait = true;
                rest
            }
            ["and", "comes", "back", ref rest @ ..] => {
                on_failure = OnFailure::Requeue;
                rest
            }
            _ => return Err(format!("what is {rest:?}?")),
        };
    }
    let ask = Ask {
        size,
        // `any` accepts every model that has a price.
        models: model.filter(|m| *m != "any").map(|model| Accept { model: model.into(), rank: 0 }).into_iter().collect(),
        card_memory_mib: 0,
        beside: Beside::default(),
        pool: None,
        labels: vec![],
        interval: Interval { from: script.world.now, until },
    };
    let project = script.world.state.tenancy.projects_of(tenant).next().expect("a tenant has a project");
    Ok(Command::Lease(lease::Command::Request(Box::new(lease::Request { tenant, project, ask, wait, on_failure, most }))))
}

fn change(script: &Script, tenant: TenantId, (verb, lease): (&str, LeaseId), rest: Words<'_>) -> Result<Command, String> {
    Ok(Command::Lease(match (verb, rest) {
        ("stops", []) => lease::Command::Stop { tenant, lease },
        ("destroys", []) => lease::Command::Destroy { tenant, lease },
        ("starts", []) => lease::Command::Start { tenant, lease, wait: false },
        ("starts", ["or", "waits"]) => lease::Command::Start { tenant, lease, wait: true },
        ("extends", ["for", "ever"]) => lease::Command::Extend { tenant, lease, until: None },
        ("extends", ["until", time]) => lease::Command::Extend { tenant, lease, until: Some(script.time(time)?) },
        ("resizes", ["to", words @ ..]) => lease::Command::Resize { tenant, lease, size: size(words)?.0 },
        _ => return Err(format!("{verb} {rest:?}?")),
    }))
}

/// `PHASE [on NODE] [since TIME] [in attempt N]`: from every node that the lease is on, unless one is named.
fn reports(script: &Script, lease: LeaseId, phase: &str, mut rest: Words<'_>) -> Result<Vec<Command>, String> {
    let phase = match phase {
        "starting" => Phase::Starting("pulling its image".into()),
        "ready" => Phase::Ready,
        "exited" => Phase::Exited(0),
        "failed" => Phase::Failed("device lost".into()),
        "gone" => Phase::Gone,
        "out-of-funds" => Phase::OutOfFunds,
        _ => return Err(format!("'{phase}' is no phase")),
    };
    let known = script.world.state.lease.get(lease);
    let mut nodes: Vec<NodeId> = known.map(|l| l.members.iter().map(|m| m.grant.node).collect()).unwrap_or_default();
    let (mut since, mut attempt) = (script.world.now, known.map_or(1, |l| l.attempt));
    while !rest.is_empty() {
        rest = match *rest {
            ["on", node, ref rest @ ..] => {
                nodes = vec![Names(script).node(node)?];
                rest
            }
            ["since", time, ref rest @ ..] => {
                since = script.time(time)?;
                rest
            }
            ["in", "attempt", n, ref rest @ ..] => {
                attempt = number(n)?;
                rest
            }
            _ => return Err(format!("what is {rest:?}?")),
        };
    }
    let seen = |node| Observation { lease, attempt, node, phase: phase.clone(), ago_ms: 0 };
    Ok(nodes.into_iter().map(|node| Command::Lease(lease::Command::report(seen(node), since))).collect())
}

/// A lease's name in the script.
pub fn lease_name(script: &Script, lease: LeaseId) -> String {
    let named = script.leases.iter().find(|(_, id)| **id == lease);
    named.map_or_else(|| lease.to_string(), |(name, _)| name.clone())
}

/// A node's name.
pub fn node_name(script: &Script, node: NodeId) -> String {
    script.world.state.fleet.nodes.get(&node).map_or_else(|| node.to_string(), |known| known.name.clone())
}
