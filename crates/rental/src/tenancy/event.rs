//! Facts about tenants and keys. Those of a tenant stand in his part; the operator's keys and agents' keys in the operator's.

use super::{Limits, Role};
use crate::event::events;
use minicbor::{Decode, Encode};
use serde::Serialize;
use units::{AgentId, KeyId, Owner, ProjectId, TenantId, Time, UserId};

events! {
    /// A fact about tenants and keys.
    TenantCreated = "tenancy.tenant_created/1"
    TenantClosed = "tenancy.tenant_closed/1"
    LimitsSet = "tenancy.limits_set/1"
    ProjectCreated = "tenancy.project_created/1"
    MemberSet = "tenancy.member_set/1"
    KeyIssued = "tenancy.key_issued/1"
    KeyRevoked = "tenancy.key_revoked/1"
}

impl Event {
    /// Whose part it stands in.
    pub fn owner(&self) -> Owner {
        match self {
            Event::TenantCreated(e) => e.tenant.into(),
            Event::TenantClosed(e) => e.tenant.into(),
            Event::LimitsSet(e) => e.tenant.into(),
            Event::ProjectCreated(e) => e.tenant.into(),
            Event::MemberSet(e) => e.tenant.into(),
            Event::KeyIssued(e) => e.owner,
            Event::KeyRevoked(e) => e.owner,
        }
    }
}

/// A tenant came into being.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct TenantCreated {
    /// The tenant.
    #[n(0)]
    pub tenant: TenantId,
}

/// A tenant was closed to new orders, or opened again.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct TenantClosed {
    /// The tenant.
    #[n(0)]
    pub tenant: TenantId,
    /// Whether he is closed from here on.
    #[n(1)]
    pub closed: bool,
}

/// A tenant's limits changed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct LimitsSet {
    /// The tenant.
    #[n(0)]
    pub tenant: TenantId,
    /// His limits from here on.
    #[n(1)]
    pub limits: Limits,
}

/// A project came into being.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct ProjectCreated {
    /// Whose.
    #[n(0)]
    pub tenant: TenantId,
    /// The project.
    #[n(1)]
    pub project: ProjectId,
}

/// A person's role in a tenant changed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct MemberSet {
    /// The tenant.
    #[n(0)]
    pub tenant: TenantId,
    /// The person.
    #[n(1)]
    pub user: UserId,
    /// The role from here on; `None`: no member any more.
    #[n(2)]
    pub role: Option<Role>,
}

/// A key was issued. Its secret is in the directory, hashed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct KeyIssued {
    /// The key.
    #[n(0)]
    pub key: KeyId,
    /// The operator or a tenant.
    #[n(1)]
    pub owner: Owner,
    /// On whose behalf.
    #[n(2)]
    pub user: Option<UserId>,
    /// Only this project.
    #[n(3)]
    pub project: Option<ProjectId>,
    /// What it may do at most.
    #[n(4)]
    pub role: Role,
    /// Void from this instant on.
    #[n(5)]
    pub expires: Option<Time>,
    /// The agent it speaks for.
    #[n(6)]
    pub agent: Option<AgentId>,
}

/// A key was ended.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct KeyRevoked {
    /// Whose key.
    #[n(0)]
    pub owner: Owner,
    /// The key.
    #[n(1)]
    pub key: KeyId,
}
