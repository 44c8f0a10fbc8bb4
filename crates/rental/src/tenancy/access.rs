//! Who may do what: one table of roles. Whose object it is, each command checks for itself.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// What a member or a key may do at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks.
    #[n(0)]
    Viewer,
    /// Looks, orders and stops.
    #[n(1)]
    Member,
    /// Does all of it for one tenant: projects, members, keys.
    #[n(2)]
    Admin,
    /// Owns the fleet.
    #[n(3)]
    Operator,
    /// Runs leases on its nodes, and nothing else.
    #[n(4)]
    Agent,
}

/// Kinds of deed that roles are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Reads what is the tenant's.
    Look,
    /// Orders, stops, changes leases.
    Rent,
    /// Projects, members, keys of the tenant.
    Manage,
    /// Fleet, prices, policy, money, tenants.
    Operate,
    /// Joins, polls and reports as an agent.
    Serve,
}

/// Whether a role allows a deed. The operator may do whatever a tenant's admin may.
pub fn may(role: Role, act: Act) -> bool {
    match act {
        Act::Look => role != Role::Agent,
        Act::Rent => matches!(role, Role::Member | Role::Admin | Role::Operator),
        Act::Manage => matches!(role, Role::Admin | Role::Operator),
        Act::Operate => role == Role::Operator,
        Act::Serve => role == Role::Agent,
    }
}
