//! What can be done to tenants, projects, members and keys.

use super::{Limits, Role};
use units::{AgentId, KeyId, Owner, ProjectId, TenantId, Time, UserId};

/// A wish about tenants and keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A new tenant, with a first project.
    CreateTenant,
    /// Closes a tenant to new orders, or opens him again.
    CloseTenant {
        /// The tenant.
        tenant: TenantId,
        /// Whether he is closed from now on.
        closed: bool,
    },
    /// Limits of a tenant.
    SetLimits {
        /// The tenant.
        tenant: TenantId,
        /// His limits from now on.
        limits: Limits,
    },
    /// A new project.
    CreateProject {
        /// Whose.
        tenant: TenantId,
    },
    /// Gives a person a role, or takes it away.
    SetMember {
        /// Of which tenant.
        tenant: TenantId,
        /// The person; `None` makes a new one.
        user: Option<UserId>,
        /// The role; `None` removes the member, and his keys are void.
        role: Option<Role>,
    },
    /// A new key.
    IssueKey(IssueKey),
    /// Ends a key.
    RevokeKey {
        /// Whose key.
        owner: Owner,
        /// The key.
        key: KeyId,
    },
}

/// The bounds of a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueKey {
    /// The operator or a tenant.
    pub owner: Owner,
    /// On whose behalf; `None` for a machine's key. A person's key never outranks the person.
    pub user: Option<UserId>,
    /// Only this project; `None`: all of the tenant's.
    pub project: Option<ProjectId>,
    /// What it may do at most.
    pub role: Role,
    /// Void from this instant on.
    pub expires: Option<Time>,
    /// The agent it speaks for.
    pub agent: Option<AgentId>,
}

impl Command {
    /// The kind in the entry's header.
    pub fn kind(&self) -> &'static str {
        match self {
            Command::CreateTenant => "tenancy.create_tenant",
            Command::CloseTenant { .. } => "tenancy.close_tenant",
            Command::SetLimits { .. } => "tenancy.set_limits",
            Command::CreateProject { .. } => "tenancy.create_project",
            Command::SetMember { .. } => "tenancy.set_member",
            Command::IssueKey(_) => "tenancy.issue_key",
            Command::RevokeKey { .. } => "tenancy.revoke_key",
        }
    }
}
