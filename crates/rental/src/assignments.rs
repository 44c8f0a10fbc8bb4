//! What should be running where: a function of the state, read by agents.

use crate::{State, lease};
use billing::Account;
use units::{AgentId, Assignment, Grant, LeaseId, NodeId, Rate, TenantId, Ticks, Time, Wanted};

/// Everything that should be on the agent's nodes, by node.
pub fn assignments(state: &State, agent: AgentId) -> Vec<Assignment> {
    changed_since(state, agent, None)
}

/// What changed on the agent's nodes in entries after `seq`; with `None`, everything.
pub fn changed_since(state: &State, agent: AgentId, seq: Option<u64>) -> Vec<Assignment> {
    let fresh = move |changed: u64| seq.is_none_or(|seq| changed > seq);
    let nodes = state.fleet.nodes_of(agent).filter(|node| fresh(state.lease.node_changed(*node)));
    nodes.flat_map(|node| placed(state, node, fresh)).map(|(lease, grant)| assignment(lease, grant)).collect()
}

/// Everything that should be on the agent's nodes, without what it may use there: lease, attempt, node, wish.
pub fn wanted(state: &State, agent: AgentId) -> impl Iterator<Item = (LeaseId, u32, NodeId, Wanted)> + '_ {
    let on_node = move |node| placed(state, node, |_| true).map(move |(lease, _)| (lease.id, lease.attempt, node, wish(lease)));
    state.fleet.nodes_of(agent).flat_map(on_node)
}

fn assignment(lease: &lease::Lease, grant: &Grant) -> Assignment {
    let (attempt, changed) = (lease.attempt, lease.changed);
    Assignment { lease: lease.id, attempt, changed, wanted: wish(lease), grant: grant.clone() }
}

/// What is on the node and was changed by an entry that counts.
fn placed(state: &State, node: NodeId, counts: impl Fn(u64) -> bool) -> impl Iterator<Item = (&lease::Lease, &Grant)> {
    let changed = state.lease.on_node(node).filter(move |lease| counts(lease.changed));
    changed.filter_map(move |lease| Some((lease, &lease.member(node)?.grant)))
}

fn wish(lease: &lease::Lease) -> Wanted {
    match lease.status {
        lease::Status::Stopping(_) => Wanted::End,
        lease::Status::Queued | lease::Status::Starting | lease::Status::Running | lease::Status::Stopped => Wanted::Run,
    }
}

/// When a tenant's running leases must stop if nothing is heard from here: balance, credit and grace end at the present
/// burn of all of them. `None` where that never happens. Costs a walk over the tenant's leases: ask once per poll.
pub fn stop_by(state: &State, tenant: TenantId, now: Time) -> Option<Time> {
    let running = || state.lease.of_tenant(tenant, None).filter(|l| l.status == lease::Status::Running);
    let rate = |lease: &lease::Lease| {
        let priced = lease.priced?;
        Some(state.market.prices.at(priced.sku, now)?.micro.rate(priced.milli))
    };
    let burn: Rate = running().filter_map(rate).sum();
    let used: Ticks = running()
        .filter_map(|lease| {
            let from = state.money.run(lease.id).and_then(|run| run.charged_until).or(lease.ready)?;
            Some(rate(lease)?.over(now.since(from)))
        })
        .sum();
    let book = state.money.book(tenant);
    let left = book.available() + book.balance(Account::Held) - used;
    let lasts = match burn.affords(left) {
        // Where it ended already, grace runs from then, not from each time that somebody asks.
        Some(_) if left < Ticks::ZERO => -burn.affords(Ticks(burn.0 - 1 - left.0)).unwrap_or(0),
        lasts => lasts?,
    };
    Some(now.plus_ms(lasts).plus_ms(state.market.policy.arrears_grace_ms))
}
