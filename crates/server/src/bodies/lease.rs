//! A lease as everybody sees it.

use super::{AskBody, GrantBody, Money};
use rental::{
    Event, State,
    lease::{self, Lease, OnFailure, Reason, Status, Then, cost_so_far},
};
use serde::Serialize;
use units::{HOUR_MS, LeaseId, ProjectId, Rate, TenantId, Ticks, Time};
use utoipa::ToSchema;

/// Where a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// Waits for room.
    Queued,
    /// Placed, not yet usable.
    Starting,
    /// Usable, and charged.
    Running,
    /// Charged no more, not yet gone from its nodes.
    Stopping,
    /// Has no place; may be started again.
    Stopped,
    /// Over.
    Ended,
}

/// The label of a node that exists on paper only.
pub(crate) const SIMULATED: &str = "simulated";

/// A lease.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Lease)]
pub struct LeaseBody {
    /// Its id.
    #[schema(value_type = String, example = "lease-1042")]
    pub id: LeaseId,
    /// A name for people.
    pub name: Option<String>,
    /// Whose.
    #[schema(value_type = String)]
    pub tenant: TenantId,
    /// Of which project.
    #[schema(value_type = String)]
    pub project: ProjectId,
    /// Where it is.
    pub state: LeaseState,
    /// Why it stopped, is stopping or ended.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
    /// More on why: of a wait, a stop, a failure.
    pub detail: String,
    /// Since when it is in this state.
    #[schema(value_type = String, format = DateTime)]
    pub since: Time,
    /// When it was ordered.
    #[schema(value_type = String, format = DateTime)]
    pub requested: Time,
    /// When the present run became usable.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ready: Option<Time>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended: Option<Time>,
    /// What was asked for.
    pub ask: AskBody,
    /// What it has, by node.
    pub grants: Vec<GrantBody>,
    /// Whether a node of it exists on paper only: nothing runs there. `null` while it has no place.
    pub simulated: Option<bool>,
    /// What becomes of it when its service fails.
    #[schema(value_type = String)]
    pub on_failure: OnFailure,
    /// What is charged for.
    #[schema(example = "card/A100-80GB")]
    pub sku: Option<String>,
    /// What an hour of it costs now.
    pub price_per_hour: Option<Money>,
    /// What it has cost until `as_of`, to the tick.
    pub cost_so_far: Money,
    /// The instant of this view.
    #[schema(value_type = String, format = DateTime)]
    pub as_of: Time,
    /// What is held pays until then.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub funded_until: Option<Time>,
    /// Its own end.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// How often it was placed.
    pub attempt: u32,
    /// The last proof that it served.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen: Option<Time>,
    /// What its start is at, such as `pulling image 43 %`.
    pub progress: Option<String>,
    /// Its place in the queue, from 1, up to 1000.
    pub place_in_queue: Option<u64>,
    /// What can be done with it now.
    pub actions: Vec<&'static str>,
    /// The entry that this view reflects at least.
    pub seq: u64,
}

/// What is known of a lease beside the state.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub name: Option<String>,
    pub last_seen: Option<Time>,
    pub progress: Option<String>,
}

impl LeaseBody {
    /// A lease that is not ended, as it is at `now`.
    pub(crate) fn live(state: &State, lease: &Lease, now: Time, beside: Live) -> LeaseBody {
        let prices = &state.market.prices;
        let price = lease.priced.and_then(|p| Some(prices.at(p.sku, now)?.micro.rate(p.milli)));
        let sku = lease.priced.and_then(|p| prices.skus().find(|(_, id)| *id == p.sku).map(|(sku, _)| sku.to_string()));
        let placed = !matches!(lease.status, Status::Queued | Status::Stopped);
        LeaseBody {
            id: lease.id,
            name: beside.name,
            tenant: lease.tenant,
            project: lease.project,
            state: lease.status.into(),
            reason: lease.reason,
            detail: lease.detail.clone(),
            since: lease.since,
            requested: lease.requested,
            ready: lease.ready,
            ended: None,
            ask: (&lease.ask).into(),
            grants: lease.members.iter().map(|member| (&member.grant).into()).collect(),
            simulated: simulated(state, lease),
            on_failure: lease.on_failure,
            sku,
            price_per_hour: price.map(hourly),
            cost_so_far: cost_so_far(state, lease, now).into(),
            as_of: now,
            funded_until: (placed && lease.status == Status::Running).then_some(lease.funded_until).filter(|t| *t < Time::MAX),
            until: lease.ask.interval.until,
            attempt: lease.attempt,
            last_seen: beside.last_seen,
            progress: beside.progress.filter(|_| lease.status == Status::Starting),
            place_in_queue: place_in_queue(state, lease),
            actions: actions(lease.status),
            seq: state.seq,
        }
    }
}

fn simulated(state: &State, lease: &Lease) -> Option<bool> {
    let labelled = |member: &lease::Member| {
        let node = state.fleet.devices().node(member.grant.node);
        node.is_some_and(|node| node.labels().any(|label| label == SIMULATED))
    };
    (!lease.members.is_empty()).then(|| lease.members.iter().any(labelled))
}

/// The lease that an order's entry made: a function of the entry, so that a repeated order gets the same answer.
pub(crate) fn ordered<'a>(
    events: impl Iterator<Item = &'a Event>,
    at: Time,
    seq: u64,
    name: Option<String>,
) -> Option<LeaseBody> {
    let mut body = None;
    for event in events {
        let Event::Lease(tenant, event) = event else { continue };
        match (event, &mut body) {
            (lease::Event::Requested(e), none) => *none = Some(requested(e, *tenant, at, seq)),
            (lease::Event::Placed(e), Some(body)) => place(body, e),
            (lease::Event::Queued(e), Some(body)) => body.detail.clone_from(&e.why),
            _ => {}
        }
    }
    body.map(|body| LeaseBody { name, ..body })
}

fn requested(e: &lease::Requested, tenant: TenantId, at: Time, seq: u64) -> LeaseBody {
    LeaseBody {
        id: e.lease,
        name: None,
        tenant,
        project: e.project,
        state: LeaseState::Queued,
        reason: None,
        detail: String::new(),
        since: at,
        requested: at,
        ready: None,
        ended: None,
        ask: (&e.ask).into(),
        grants: Vec::new(),
        simulated: None,
        on_failure: e.on_failure,
        sku: None,
        price_per_hour: None,
        cost_so_far: Ticks::ZERO.into(),
        as_of: at,
        funded_until: None,
        until: e.ask.interval.until,
        attempt: 0,
        last_seen: None,
        progress: None,
        place_in_queue: None,
        actions: actions(Status::Queued),
        seq,
    }
}

fn place(body: &mut LeaseBody, e: &lease::Placed) {
    body.state = LeaseState::Starting;
    body.grants = e.grants.iter().map(Into::into).collect();
    body.sku = Some(e.sku.to_string());
    body.price_per_hour = Some(hourly(e.micro.rate(e.milli)));
    body.attempt = e.attempt;
    body.actions = actions(Status::Starting);
}

/// What an hour at this rate costs.
pub(crate) fn hourly(rate: Rate) -> Money {
    rate.over(HOUR_MS).into()
}

/// Counted from the front, as far as anybody counts: a list of the waiting must not cost their square.
fn place_in_queue(state: &State, lease: &Lease) -> Option<u64> {
    const COUNTED: usize = 1000;
    if lease.status != Status::Queued {
        return None;
    }
    let before = state.lease.waiting(None).take(COUNTED).position(|waiting| waiting.id == lease.id)?;
    u64::try_from(before + 1).ok()
}

fn actions(status: Status) -> Vec<&'static str> {
    match status {
        Status::Queued => vec!["stop", "destroy", "extend", "resize"],
        Status::Starting => vec!["stop", "destroy", "extend", "logs"],
        Status::Running => vec!["stop", "destroy", "extend", "resize", "logs", "exec"],
        Status::Stopping(Then::End) => vec![],
        Status::Stopping(_) => vec!["destroy"],
        Status::Stopped => vec!["start", "destroy", "extend", "resize"],
    }
}

impl From<Status> for LeaseState {
    fn from(status: Status) -> LeaseState {
        match status {
            Status::Queued => LeaseState::Queued,
            Status::Starting => LeaseState::Starting,
            Status::Running => LeaseState::Running,
            Status::Stopping(_) => LeaseState::Stopping,
            Status::Stopped => LeaseState::Stopped,
        }
    }
}

/// A reason in words.
pub(crate) fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Stopped => "you stopped it",
        Reason::Destroyed => "you ended it for good",
        Reason::Cancelled => "you ended it before it was ready",
        Reason::Completed => "its workload ended by itself",
        Reason::BalanceExhausted => "balance, credit and grace had ended",
        Reason::EndReached => "its own end had come",
        Reason::StartFailed => "it could not be started",
        Reason::Failed => "the platform failed it",
        Reason::Lost => "its node was not seen for too long",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_offered_in_some_state() {
        let states = [Status::Queued, Status::Starting, Status::Running, Status::Stopping(Then::Stop), Status::Stopped];
        let offered: Vec<&str> = states.into_iter().flat_map(actions).collect();
        for (path, methods) in crate::openapi().paths.paths {
            let verb = path.strip_prefix("/v1/leases/{id}/").filter(|_| methods.post.is_some());
            assert!(verb.is_none_or(|verb| offered.contains(&verb)), "{path} is in no state's `actions`");
        }
    }
}
