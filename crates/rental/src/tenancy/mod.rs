//! Tenants, projects, members with roles, and keys. Names, addresses and secrets are in the directory, not here.

mod access;
mod command;
mod event;
mod keys;
mod state;
mod tenants;

pub use access::{Act, Role, may};
pub use command::{Command, IssueKey};
pub use event::*;
pub(crate) use state::apply;
pub use state::{Key, Limits, Project, State, Tenant};

use crate::{Refusal, State as Root};
use units::Time;

pub(crate) fn decide(root: &Root, now: Time, command: &Command) -> Result<Vec<crate::Event>, Refusal> {
    let tenancy = &root.tenancy;
    let events = match command {
        Command::CreateTenant => Ok(tenants::create(tenancy)),
        Command::CloseTenant { tenant, closed } => tenants::close(tenancy, *tenant, *closed),
        Command::SetLimits { tenant, limits } => tenants::set_limits(tenancy, *tenant, limits),
        Command::CreateProject { tenant } => tenants::create_project(tenancy, *tenant),
        Command::SetMember { tenant, user, role } => tenants::set_member(tenancy, *tenant, *user, *role),
        Command::IssueKey(issue) => keys::issue(tenancy, now, issue),
        Command::RevokeKey { owner, key } => keys::revoke(tenancy, *owner, *key),
    }?;
    Ok(events.into_iter().map(crate::Event::Tenancy).collect())
}
