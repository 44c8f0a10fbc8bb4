//! Who there is.

use super::{Event, Role};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{AgentId, KeyId, Owner, ProjectId, TenantId, Ticks, Time, UserId};

/// Tenants, projects, members and keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Tenants by id.
    pub tenants: BTreeMap<TenantId, Tenant>,
    /// Projects by id.
    pub projects: BTreeMap<ProjectId, Project>,
    /// Keys by id, the revoked ones included.
    pub keys: BTreeMap<KeyId, Key>,
    /// Number of the last person ever known.
    pub last_user: u64,
}

/// A tenant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tenant {
    /// Closed to new orders.
    pub closed: bool,
    /// His limits.
    pub limits: Limits,
    /// Roles by person.
    pub members: BTreeMap<UserId, Role>,
}

/// What a tenant may use at most; `None`: no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct Limits {
    /// Cards in thousandths, whole cards and shares alike, until they are freed.
    #[n(0)]
    pub cards_milli: Option<u64>,
    /// Leases that are not ended.
    #[n(1)]
    pub leases: Option<u32>,
    /// Money: charged over the tenant's life and held, together. It gates what is ordered; what runs is ended by the balance.
    #[n(2)]
    pub spend: Option<Ticks>,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// Whose.
    pub tenant: TenantId,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// The operator or a tenant.
    pub owner: Owner,
    /// On whose behalf.
    pub user: Option<UserId>,
    /// Only this project.
    pub project: Option<ProjectId>,
    /// What it may do at most.
    pub role: Role,
    /// Void from this instant on.
    pub expires: Option<Time>,
    /// The agent it speaks for.
    pub agent: Option<AgentId>,
    /// Ended before its time.
    pub revoked: bool,
}

impl State {
    /// The role that a key gives at `now`: none when it is void; never more than the person behind it has.
    pub fn role_of(&self, key: KeyId, now: Time) -> Option<Role> {
        let key = self.keys.get(&key)?;
        if key.revoked || key.expires.is_some_and(|end| end <= now) {
            return None;
        }
        let Some((user, tenant)) = key.user.zip(key.owner.tenant()) else { return Some(key.role) };
        let person = self.tenants.get(&tenant)?.members.get(&user)?;
        Some(key.role.min(*person))
    }

    /// The projects of a tenant, ascending.
    pub fn projects_of(&self, tenant: TenantId) -> impl Iterator<Item = ProjectId> + '_ {
        self.projects.iter().filter(move |(_, p)| p.tenant == tenant).map(|(id, _)| *id)
    }
}

pub(crate) fn apply(tenancy: &mut State, event: &Event, room: &mut u64) {
    match event {
        Event::TenantCreated(e) => {
            tenancy.tenants.insert(e.tenant, Tenant::default());
        }
        Event::TenantClosed(e) => {
            tenant(tenancy, e.tenant).closed = e.closed;
            *room += 1;
        }
        Event::LimitsSet(e) => {
            tenant(tenancy, e.tenant).limits = e.limits.clone();
            *room += 1;
        }
        Event::ProjectCreated(e) => {
            tenancy.projects.insert(e.project, Project { tenant: e.tenant });
        }
        Event::MemberSet(e) => {
            tenancy.last_user = tenancy.last_user.max(e.user.0);
            let members = &mut tenant(tenancy, e.tenant).members;
            match e.role {
                Some(role) => members.insert(e.user, role),
                None => members.remove(&e.user),
            };
        }
        Event::KeyIssued(e) => {
            let key = Key {
                owner: e.owner,
                user: e.user,
                project: e.project,
                role: e.role,
                expires: e.expires,
                agent: e.agent,
                revoked: false,
            };
            tenancy.keys.insert(e.key, key);
        }
        Event::KeyRevoked(e) => tenancy.keys.get_mut(&e.key).expect("only a known key is revoked").revoked = true,
    }
}

fn tenant(tenancy: &mut State, id: TenantId) -> &mut Tenant {
    tenancy.tenants.get_mut(&id).expect("events name known tenants")
}
