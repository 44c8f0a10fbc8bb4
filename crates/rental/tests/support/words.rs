//! The words of scenario scripts: commands, events as they are shown, and what can be asked of the state.

use super::script::Script;
use billing::Account;
use placement::{DeviceSpec, NodeSpec};
use rental::{
    Command, Event, fleet,
    lease::{self, OnFailure, Status},
    market, money, tenancy,
};
use std::fmt;
use units::{
    Accept, AgentId, Ask, Beside, DeviceId, Interval, LeaseId, Micro, NodeId, Observation, Owner, Phase, PoolId, Share, Size,
    TenantId, Ticks, Time, UnitKind,
};

type Words<'a> = &'a [&'a str];

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

struct Names<'a>(&'a Script);

impl Names<'_> {
    fn tenant(&self, name: &str) -> Result<TenantId, String> {
        self.0.tenants.get(name).copied().ok_or_else(|| format!("no tenant '{name}'"))
    }

    fn lease(&self, name: &str) -> Result<LeaseId, String> {
        self.0.leases.get(name).copied().ok_or_else(|| format!("no lease '{name}'"))
    }

    fn node(&self, name: &str) -> Result<NodeId, String> {
        self.0.nodes.get(name).copied().ok_or_else(|| format!("no node '{name}'"))
    }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("'{word}' is not a number"))
}

fn cny(word: &str) -> Result<Ticks, String> {
    Ticks::parse_cny(word).map_err(|e| e.to_string())
}

/// `1.5` as 1,500 thousandths.
fn thousandths(word: &str) -> Result<u64, String> {
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
    Ok(nodes.into_iter().map(|node| Command::Lease(lease::Command::Report { seen: seen(node), since })).collect())
}

/// An event as a script writes it: the kind without its version, whose it is, and fields.
pub struct Shown {
    kind: String,
    fields: Vec<Field>,
}

enum Field {
    Word(String),
    Money(&'static str, Ticks),
    At(&'static str, Option<Time>),
}

impl Shown {
    /// Whether it is what a line wants: the same kind, and each field that is named.
    pub fn meets(&self, script: &Script, line: &str) -> bool {
        let mut words = line.split_whitespace();
        words.next() == Some(&self.kind) && words.all(|word| self.fields.iter().any(|field| field.is(script, word)))
    }
}

impl Field {
    fn is(&self, script: &Script, word: &str) -> bool {
        let of = |key: &str| if key.is_empty() { Some(word) } else { word.strip_prefix(key)?.strip_prefix('=') };
        match self {
            Field::Word(same) => same == word,
            Field::Money(key, ticks) => of(key).is_some_and(|amount| cny(amount) == Ok(*ticks)),
            Field::At(key, time) => of(key).is_some_and(|at| match time {
                Some(Time::MAX) => at == "never",
                Some(time) => script.time(at) == Ok(*time),
                None => at == "none",
            }),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        self.fields.iter().try_for_each(|field| match field {
            Field::Word(word) => write!(f, " {word}"),
            Field::Money(key, ticks) => write!(f, " {key}{}{}", if key.is_empty() { "" } else { "=" }, ticks.amount()),
            Field::At(key, Some(time)) => write!(f, " {key}={time}"),
            Field::At(key, None) => write!(f, " {key}=none"),
        })
    }
}

/// Shows an event.
pub fn show(script: &Script, event: &Event) -> Shown {
    let kind = event.kind().split('/').next().unwrap_or_default().to_owned();
    let fields = match event {
        Event::Lease(_, event) => of_lease(script, event),
        Event::Money(tenant, event) => of_money(script, *tenant, event),
        Event::Fleet(event) => of_fleet(script, event),
        Event::Market(_) | Event::Tenancy(_) => vec![],
    };
    Shown { kind, fields }
}

fn of_lease(script: &Script, event: &lease::Event) -> Vec<Field> {
    use lease::Event::*;
    let name = |lease| Field::Word(lease_name(script, lease));
    match event {
        Requested(e) => vec![name(e.lease)],
        Queued(e) => vec![name(e.lease)],
        Placed(e) => {
            let cards = e.grants.iter().map(|g| g.slices.len()).sum::<usize>();
            let of =
                [format!("attempt={}", e.attempt), format!("devices={cards}"), e.sku.to_string(), format!("milli={}", e.milli)];
            let nodes = e.grants.iter().map(|g| Field::Word(format!("on={}", node_name(script, g.node))));
            [name(e.lease)].into_iter().chain(of.map(Field::Word)).chain(nodes).collect()
        }
        MemberReady(e) => vec![name(e.lease), Field::Word(node_name(script, e.node))],
        Started(e) => vec![name(e.lease), Field::At("covered", Some(e.funded_until))],
        Renewed(e) => vec![name(e.lease), Field::At("covered", Some(e.funded_until)), Field::At("arrears", e.arrears_since)],
        Extended(e) => vec![name(e.lease), Field::At("until", e.until)],
        Resized(e) => vec![name(e.lease), Field::Word(format!("milli={}", e.milli)), Field::At("covered", Some(e.funded_until))],
        Stopping(e) => {
            let then = Field::Word(format!("then={}", snake(&e.then)));
            let uncovered = Field::At("uncovered", e.unfunded_from);
            vec![name(e.lease), Field::Word(snake(&e.reason)), then, Field::Money("charged", e.charged), uncovered]
        }
        ServiceEnded(e) => vec![name(e.lease)],
        MemberGone(e) => vec![name(e.lease), Field::Word(node_name(script, e.node))],
        Stopped(e) => vec![name(e.lease)],
        Ended(e) => vec![name(e.lease), Field::Word(snake(&e.reason)), Field::Money("charged", e.charged)],
    }
}

fn of_money(script: &Script, tenant: TenantId, event: &money::Event) -> Vec<Field> {
    use money::Event::*;
    let moved = |moves: &[billing::Movement]| Field::Money("", moves.iter().map(|m| m.ticks).sum());
    let span = |from, until| [Field::At("from", Some(from)), Field::At("until", Some(until))];
    let name = |lease| Field::Word(lease_name(script, lease));
    match event {
        PaymentOpened(e) => vec![whose(script, tenant), Field::Word(e.payment.clone()), Field::Money("", e.ticks)],
        Paid(e) => vec![whose(script, tenant), Field::Word(e.payment.clone()), Field::Money("", e.ticks)],
        PaymentFailed(e) => {
            let late = if e.after_settlement { "after-settlement" } else { "before-settlement" };
            vec![whose(script, tenant), Field::Word(e.payment.clone()), Field::Word(late.into())]
        }
        CreditSet(e) => vec![whose(script, tenant), Field::Money("", e.limit)],
        Adjusted(e) => vec![whose(script, tenant), moved(&e.moves)],
        Held(e) => vec![name(e.lease), moved(&e.moves)],
        Charged(e) => [name(e.lease), Field::Money("", e.ticks)].into_iter().chain(span(e.from, e.until)).collect(),
        Reversed(e) => [name(e.lease), Field::Money("", e.ticks)].into_iter().chain(span(e.from, e.until)).collect(),
        Released(e) => vec![name(e.lease), moved(&e.moves)],
        Lost(e) => [name(e.lease), Field::Money("", e.ticks)].into_iter().chain(span(e.from, e.until)).collect(),
    }
}

fn of_fleet(script: &Script, event: &fleet::Event) -> Vec<Field> {
    let name = |lease: &LeaseId| Field::Word(lease_name(script, *lease));
    match event {
        fleet::Event::Taken(e) => vec![name(&e.lease)],
        fleet::Event::Freed(e) => vec![name(&e.lease)],
        fleet::Event::Cleared(e) => e.leases.iter().map(name).collect(),
        fleet::Event::NodeMarked(e) => vec![Field::Word(node_name(script, e.node)), Field::Word(snake(&e.mark))],
        _ => vec![],
    }
}

fn whose(script: &Script, tenant: TenantId) -> Field {
    let named = script.tenants.iter().find(|(_, id)| **id == tenant);
    Field::Word(named.map_or_else(|| tenant.to_string(), |(name, _)| name.clone()))
}

fn lease_name(script: &Script, lease: LeaseId) -> String {
    let named = script.leases.iter().find(|(_, id)| **id == lease);
    named.map_or_else(|| lease.to_string(), |(name, _)| name.clone())
}

fn node_name(script: &Script, node: NodeId) -> String {
    script.world.state.fleet.nodes.get(&node).map_or_else(|| node.to_string(), |known| known.name.clone())
}

/// A variant's name as scripts write it.
fn snake(variant: &impl fmt::Debug) -> String {
    let mut text = String::new();
    for c in format!("{variant:?}").chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// Holds one `then` line against the state.
pub fn check(script: &Script, words: Words<'_>) -> Result<(), String> {
    let (state, names) = (&script.world.state, Names(script));
    match *words {
        ["queue", ref waiting @ ..] => {
            let now: Vec<String> = state.lease.waiting(None).map(|lease| lease_name(script, lease.id)).collect();
            let now = if now.is_empty() { vec!["empty".to_owned()] } else { now };
            same(&now.join(" "), &waiting.join(" "))
        }
        [cards, "cards", "are", "free"] => {
            let free: u32 = state.fleet.devices().occupancy().iter().map(|o| o.free_cards).sum();
            same(&free.to_string(), cards)
        }
        ["an", "empty", "node", name] => {
            let empty = state.fleet.devices().node(names.node(name)?).is_some_and(|node| node.is_empty());
            same(&empty.to_string(), "true")
        }
        [who, "stops", "by", time] => {
            let at = rental::stop_by(state, names.tenant(who)?, script.world.now);
            if at == Some(script.time(time)?) { Ok(()) } else { Err(format!("it is {at:?}")) }
        }
        [who, "uses", cards, "cards"] => {
            same(&state.lease.cards_milli_of(names.tenant(who)?).to_string(), &thousandths(cards)?.to_string())
        }
        [who, what, amount] if script.tenants.contains_key(who) => {
            let book = state.money.book(names.tenant(who)?);
            let is = match what {
                "wallet" => book.balance(Account::Wallet),
                "held" => book.balance(Account::Held),
                "available" => book.available(),
                "owes" => book.debt(),
                "charged" => book.totals().charged,
                "paid" => book.totals().paid,
                "lost" => -book.balance(Account::Loss),
                _ => return Err(format!("what is '{what}'?")),
            };
            if is == cny(amount)? { Ok(()) } else { Err(format!("it is {}", is.amount())) }
        }
        [who, "has", parts, "parts"] => same(&state.part_seq(Owner::from(names.tenant(who)?)).to_string(), parts),
        [lease, ref is @ ..] => check_lease(script, names.lease(lease)?, is),
        _ => Err("no such question".into()),
    }
}

fn check_lease(script: &Script, lease: LeaseId, words: Words<'_>) -> Result<(), String> {
    let lease = script.world.state.lease.get(lease);
    match *words {
        ["is", "ended"] => same(if lease.is_none() { "ended" } else { "alive" }, "ended"),
        ["is", status] => {
            let is = lease.map_or("ended".into(), |l| match l.status {
                Status::Stopping(_) => "stopping".into(),
                status => snake(&status),
            });
            same(&is, status)
        }
        ["is", status, "because", reason] => {
            check_lease(script, lease.map_or(LeaseId(0), |l| l.id), &["is", status])?;
            same(&lease.and_then(|l| l.reason).map_or("none".into(), |r| snake(&r)), reason)
        }
        ["is", "covered", "until", time] => {
            let at = lease.map(|l| l.funded_until);
            if at == Some(script.time(time)?) { Ok(()) } else { Err(format!("it is {at:?}")) }
        }
        ["shares", "a", "card", "with", n, "others"] => {
            let device = lease.and_then(|l| l.slices().next()).map(|s| s.device);
            let all = script.world.state.lease.all().filter(|l| l.slices().any(|s| Some(s.device) == device)).count();
            same(&(all - 1).to_string(), n)
        }
        _ => Err("no such question".into()),
    }
}

fn same(is: &str, wanted: &str) -> Result<(), String> {
    if is == wanted { Ok(()) } else { Err(format!("it is {is}")) }
}
