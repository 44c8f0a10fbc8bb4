//! Leases by id or in lists, always together with who asks: live from the state, closed from the views.

use crate::{
    App, Caller, Problem,
    bodies::{LeaseBody, LeaseState, Live, hourly},
    params,
};
use engine::{
    Scope,
    views::{self, LeaseFilter, Page as Stretch, Standing},
};
use rental::{State, lease::Lease};
use units::{LeaseId, TenantId};

/// The lease if it is live and the caller's.
pub(super) fn owned<'a>(state: &'a State, caller: &Caller, id: LeaseId) -> Option<&'a Lease> {
    state.lease.get(id).filter(|lease| caller.owns_in(lease.tenant, lease.project))
}

/// Where a live lease of the caller's is.
pub(super) fn state_of(app: &App, caller: &Caller, id: LeaseId) -> Option<LeaseState> {
    app.handle().read(|state| owned(state, caller, id).map(|lease| lease.status.into()))
}

/// The lease, live or closed.
pub(super) async fn one(app: &App, caller: &Caller, id: LeaseId) -> Result<LeaseBody, Problem> {
    let now = app.handle().now();
    let live =
        app.handle().read(|state| owned(state, caller, id).map(|lease| LeaseBody::live(state, lease, now, Live::default())));
    match live {
        // One row that was written lately is at hand: a thread that may wait for the disk would cost more than the request.
        Some(body) => named(app, vec![body])?.pop().ok_or_else(|| Problem::not_found(id)),
        None => closed(app, caller, id).await?.ok_or_else(|| Problem::not_found(id)),
    }
}

/// The lease if it is over, or was when the views last looked, and the caller's.
pub(super) async fn closed(app: &App, caller: &Caller, id: LeaseId) -> Result<Option<LeaseBody>, Problem> {
    let found = recorded_one(app, caller, id).await?;
    named(app, found.iter().map(|lease| over(app, lease)).collect()).map(|mut all| all.pop())
}

/// The views' row of the caller's lease, once they have folded what is durable now.
pub(super) async fn recorded_one(app: &App, caller: &Caller, id: LeaseId) -> Result<Option<views::Lease>, Problem> {
    params::catch_up(app, app.handle().head().size).await?;
    let scope = scope(caller);
    let found = app.ask(scope, move |within| within.lease(id)).await?;
    Ok(found.filter(|lease| caller.owns_in(lease.tenant, lease.project)))
}

/// What of the views a caller may see.
pub(super) fn scope(caller: &Caller) -> Scope {
    if caller.is_operator() { Scope::All } else { Scope::Owner(caller.owner) }
}

/// Live leases after `after`, at most `most`, of one tenant or of all.
pub(super) async fn live(
    app: &App,
    tenant: Option<TenantId>,
    after: Option<LeaseId>,
    most: usize,
    which: impl Fn(&Lease) -> bool,
) -> Result<Vec<LeaseBody>, Problem> {
    let now = app.handle().now();
    let found = app.handle().read(|state| {
        let body = |lease: &Lease| LeaseBody::live(state, lease, now, Live::default());
        match tenant {
            Some(tenant) => state.lease.of_tenant(tenant, after).filter(|l| which(l)).take(most).map(body).collect(),
            None => {
                let rest = state.lease.all().filter(|lease| after.is_none_or(|after| lease.id > after));
                rest.filter(|l| which(l)).take(most).map(body).collect::<Vec<_>>()
            }
        }
    });
    app.blocking(move |app| named(app, found)).await
}

/// Leases from the views; those that are live as they are now.
pub(super) async fn recorded(
    app: &App,
    scope: Scope,
    filter: LeaseFilter,
    stretch: Stretch<LeaseId>,
) -> Result<Vec<LeaseBody>, Problem> {
    let rows = app.ask(scope, move |within| within.leases(&filter, stretch)).await?;
    let now = app.handle().now();
    let body = move |app: &App, row: &views::Lease| {
        let live = |state: &State| state.lease.get(row.id).map(|lease| LeaseBody::live(state, lease, now, Live::default()));
        app.handle().read(live).unwrap_or_else(|| over(app, row))
    };
    app.blocking(move |app| named(app, rows.iter().map(|row| body(app, row)).collect())).await
}

/// Adds what is not in the state: names, last proofs of service, progress.
fn named(app: &App, mut bodies: Vec<LeaseBody>) -> Result<Vec<LeaseBody>, Problem> {
    app.handle().directory(|directory| {
        bodies.iter_mut().try_for_each(|body| {
            body.name = directory.name(body.id)?;
            Ok::<(), engine::Failure>(())
        })
    })?;
    app.handle()
        .liveness(|liveness| bodies.iter_mut().for_each(|body| body.last_seen = liveness.last_served(body.id, body.attempt)));
    for body in bodies.iter_mut().filter(|body| body.state == LeaseState::Starting) {
        body.progress = app.agents().progress(body.id);
    }
    Ok(bodies)
}

/// A lease as the views tell it.
fn over(app: &App, lease: &views::Lease) -> LeaseBody {
    let ended = lease.ended.unwrap_or(lease.since);
    let price = app.handle().read(|state| {
        let prices = &state.market.prices;
        let sku = lease.sku.as_ref()?.parse().ok()?;
        Some(prices.at(prices.number(&sku)?, ended)?.micro.rate(lease.milli))
    });
    LeaseBody {
        id: lease.id,
        name: None,
        tenant: lease.tenant,
        project: lease.project,
        state: of_standing(lease.standing),
        reason: lease.reason,
        detail: lease.detail.clone(),
        since: lease.since,
        requested: lease.requested,
        ready: lease.ready,
        ended: lease.ended,
        ask: (&lease.ask).into(),
        grants: Vec::new(),
        simulated: None,
        on_failure: lease.on_failure,
        sku: lease.sku.clone(),
        price_per_hour: price.map(hourly),
        cost_so_far: lease.charged.into(),
        as_of: ended,
        funded_until: None,
        until: lease.ask.interval.until,
        attempt: lease.attempts,
        last_seen: None,
        progress: None,
        place_in_queue: None,
        actions: Vec::new(),
        seq: lease.seq,
    }
}

/// The state that a query parameter names.
pub(super) fn state_named(name: &str) -> Result<LeaseState, Problem> {
    let standing = name.parse().map_err(|error: String| Problem::query("state", error))?;
    Ok(of_standing(standing))
}

fn of_standing(standing: Standing) -> LeaseState {
    match standing {
        Standing::Queued => LeaseState::Queued,
        Standing::Starting => LeaseState::Starting,
        Standing::Running => LeaseState::Running,
        Standing::Stopping => LeaseState::Stopping,
        Standing::Stopped => LeaseState::Stopped,
        Standing::Ended => LeaseState::Ended,
    }
}
