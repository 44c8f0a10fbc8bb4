//! Tenants, their limits, projects and members.

use super::{Event, Limits, LimitsSet, MemberSet, ProjectCreated, Role, State, Tenant, TenantClosed, TenantCreated};
use crate::Refusal;
use units::{ProjectId, TenantId, Ticks, UserId};

pub(super) fn create(tenancy: &State) -> Vec<Event> {
    let tenant = TenantId(tenancy.tenants.keys().last().map_or(1, |last| last.0 + 1));
    vec![TenantCreated { tenant }.into(), ProjectCreated { tenant, project: next_project(tenancy) }.into()]
}

pub(super) fn close(tenancy: &State, tenant: TenantId, closed: bool) -> Result<Vec<Event>, Refusal> {
    let same = known(tenancy, tenant)?.closed == closed;
    Ok(if same { Vec::new() } else { vec![TenantClosed { tenant, closed }.into()] })
}

pub(super) fn set_limits(tenancy: &State, tenant: TenantId, limits: &Limits) -> Result<Vec<Event>, Refusal> {
    if limits.spend.is_some_and(|spend| spend < Ticks::ZERO) {
        return Err(Refusal::invalid("spend", "a limit is zero or more"));
    }
    let same = known(tenancy, tenant)?.limits == *limits;
    Ok(if same { Vec::new() } else { vec![LimitsSet { tenant, limits: limits.clone() }.into()] })
}

pub(super) fn create_project(tenancy: &State, tenant: TenantId) -> Result<Vec<Event>, Refusal> {
    known(tenancy, tenant)?;
    Ok(vec![ProjectCreated { tenant, project: next_project(tenancy) }.into()])
}

pub(super) fn set_member(
    tenancy: &State,
    tenant: TenantId,
    user: Option<UserId>,
    role: Option<Role>,
) -> Result<Vec<Event>, Refusal> {
    let members = &known(tenancy, tenant)?.members;
    if role.is_some_and(|role| role > Role::Admin) {
        return Err(Refusal::invalid("role", "a member is viewer, member or admin"));
    }
    // Only a person of this tenant may be named: another's number must not even be confirmed.
    if let Some(user) = user.filter(|user| !members.contains_key(user)) {
        return Err(Refusal::missing(user));
    }
    if user.is_none() && role.is_none() {
        return Err(Refusal::invalid("role", "a new member needs a role"));
    }
    let user = user.unwrap_or(UserId(tenancy.last_user + 1));
    let same = members.get(&user).copied() == role;
    Ok(if same { Vec::new() } else { vec![MemberSet { tenant, user, role }.into()] })
}

fn known(tenancy: &State, tenant: TenantId) -> Result<&Tenant, Refusal> {
    tenancy.tenants.get(&tenant).ok_or_else(|| Refusal::missing(tenant))
}

fn next_project(tenancy: &State) -> ProjectId {
    ProjectId(tenancy.projects.keys().last().map_or(1, |last| last.0 + 1))
}
