//! Who asks: a key's secret, a lease's own key, or the console's cookie; and what that allows.

use crate::{App, Problem, secrets};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, Method, header, request::Parts},
};
use rental::tenancy::{Act, Role, may};
use std::{fmt, time::Duration};
use tokio::time::interval;
use units::{AgentId, KeyId, LeaseId, Owner, ProjectId, TenantId};

/// A stream outlives its key by at most so long; a look costs a read of the state, and there may be thousands of streams.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The asker, as far as the journal knows him.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// What he showed.
    pub who: Who,
    /// The operator or a tenant.
    pub owner: Owner,
    /// What he may do at most.
    pub role: Role,
    /// Only this project.
    pub project: Option<ProjectId>,
    /// The agent he speaks for.
    pub agent: Option<AgentId>,
}

/// What was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A key's secret.
    Key(KeyId),
    /// A lease's own key: it can only see and stop itself.
    Lease(LeaseId),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Key(key) => key.fmt(f),
            Who::Lease(lease) => lease.fmt(f),
        }
    }
}

impl Caller {
    /// Whoever these headers speak for; `None` where nothing that is shown is valid now.
    pub(crate) fn authenticate(app: &App, method: &Method, headers: &HeaderMap) -> Option<Caller> {
        if let Some(authorization) = headers.get(header::AUTHORIZATION) {
            let (scheme, secret) = authorization.to_str().ok()?.split_once(' ')?;
            let secret = Some(secret.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer"))?;
            return match secrets::lease_of(app.lease_key(), secret) {
                Some(lease) => Caller::of_lease(app, lease),
                None => Caller::of_key(app, app.handle().authenticate(&secrets::sha256(&[secret.as_bytes()]))?),
            };
        }
        // The console's cookie reads, it never writes: another site's form can do nothing with it.
        if method != Method::GET {
            return None;
        }
        Caller::of_key(app, app.signed_in().key_of(headers, app.handle().now())?)
    }

    fn of_key(app: &App, key: KeyId) -> Option<Caller> {
        let now = app.handle().now();
        app.handle().read(|state| {
            let role = state.tenancy.role_of(key, now)?;
            let known = state.tenancy.keys.get(&key)?;
            Some(Caller { who: Who::Key(key), owner: known.owner, role, project: known.project, agent: known.agent })
        })
    }

    fn of_lease(app: &App, lease: LeaseId) -> Option<Caller> {
        let tenant = app.handle().read(|state| state.lease.get(lease).map(|l| l.tenant))?;
        Some(Caller { who: Who::Lease(lease), owner: tenant.into(), role: Role::Member, project: None, agent: None })
    }

    /// Refuses what the role does not allow.
    pub fn may(&self, act: Act) -> Result<(), Problem> {
        match self.who {
            Who::Key(_) if may(self.role, act) => Ok(()),
            Who::Key(_) => Err(Problem::new("forbidden", format!("this needs more than the role {}", name(self.role)))),
            Who::Lease(_) => Err(Problem::new("forbidden", "a lease's own key can only see and stop that lease")),
        }
    }

    /// The same for the two things that a lease's own key may do with itself.
    pub fn may_with(&self, act: Act, lease: LeaseId) -> Result<(), Problem> {
        match self.who {
            Who::Lease(own) if own == lease => Ok(()),
            Who::Lease(_) => Err(Problem::not_found(lease)),
            Who::Key(_) => self.may(act),
        }
    }

    /// The same for what concerns the tenant as a whole: a key of one project neither sees nor manages that.
    pub fn may_for_all(&self, act: Act) -> Result<(), Problem> {
        self.may(act)?;
        match self.project {
            None => Ok(()),
            Some(project) => Err(Problem::new("forbidden", format!("this key is for {project} only"))),
        }
    }

    /// Resolves once he may not do this any more: his key is revoked or expired, or his role or project is another.
    pub(crate) async fn lapsed(self, app: App, act: Act) {
        let mut looks = interval(LOOK_AGAIN);
        loop {
            looks.tick().await;
            let now = match self.who {
                Who::Key(key) => Caller::of_key(&app, key),
                Who::Lease(lease) => Caller::of_lease(&app, lease),
            };
            if now.is_none_or(|now| now.project != self.project || !may(now.role, act)) {
                return;
            }
        }
    }

    /// Whether he is the operator.
    pub fn is_operator(&self) -> bool {
        self.owner == Owner::OPERATOR
    }

    /// Whether a tenant's objects are his to see.
    pub fn owns(&self, tenant: TenantId) -> bool {
        self.is_operator() || self.owner == tenant.into()
    }

    /// Whether objects of this project are his to see.
    pub fn owns_in(&self, tenant: TenantId, project: ProjectId) -> bool {
        self.owns(tenant) && self.project.is_none_or(|own| own == project)
    }

    /// The tenant that a request is about: his own, or the one that the operator names.
    pub fn tenant(&self, named: Option<TenantId>) -> Result<TenantId, Problem> {
        match (self.owner.tenant(), named) {
            (Some(own), Some(named)) if own != named => Err(Problem::not_found(named)),
            (Some(own), _) => Ok(own),
            (None, Some(named)) => Ok(named),
            (None, None) => Err(Problem::query("tenant", "the operator says for which tenant, such as ?tenant=tenant-1")),
        }
    }

    /// The agent that he speaks for.
    pub fn agent(&self) -> Result<AgentId, Problem> {
        self.may(Act::Serve)?;
        self.agent.ok_or_else(|| Problem::new("forbidden", "this key speaks for no agent"))
    }
}

/// A role as the API names it.
pub(crate) fn name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Member => "member",
        Role::Admin => "admin",
        Role::Operator => "operator",
        Role::Agent => "agent",
    }
}

/// The outermost layer has looked at the headers already.
impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Caller, Problem> {
        let caller = parts.extensions.get::<Caller>().copied();
        caller.ok_or_else(|| Problem::new("unauthenticated", "send 'Authorization: Bearer sz_…' with a key that is valid now"))
    }
}
