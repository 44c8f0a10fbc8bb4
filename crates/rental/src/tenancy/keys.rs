//! Keys are issued within bounds, and ended.

use super::{Event, IssueKey, KeyIssued, KeyRevoked, Role, State};
use crate::Refusal;
use units::{KeyId, Owner, Time};

pub(super) fn issue(tenancy: &State, now: Time, issue: &IssueKey) -> Result<Vec<Event>, Refusal> {
    check_bounds(tenancy, issue)?;
    if issue.expires.is_some_and(|end| end <= now) {
        return Err(Refusal::invalid("expires", format!("it must lie after {now}")));
    }
    let event = KeyIssued {
        key: KeyId(tenancy.keys.keys().last().map_or(1, |last| last.0 + 1)),
        owner: issue.owner,
        user: issue.user,
        project: issue.project,
        role: issue.role,
        expires: issue.expires,
        agent: issue.agent,
    };
    Ok(vec![event.into()])
}

fn check_bounds(tenancy: &State, issue: &IssueKey) -> Result<(), Refusal> {
    let Some(tenant) = issue.owner.tenant() else {
        let fits = issue.user.is_none() && issue.project.is_none() && (issue.role == Role::Agent) == issue.agent.is_some();
        return if fits && issue.role >= Role::Operator {
            Ok(())
        } else {
            Err(Refusal::invalid("role", "the operator's keys are for the operator or for one agent"))
        };
    };
    let known = tenancy.tenants.get(&tenant).ok_or_else(|| Refusal::missing(tenant))?;
    if issue.role > Role::Admin || issue.agent.is_some() {
        return Err(Refusal::invalid("role", "a tenant's key is viewer, member or admin"));
    }
    if let Some(user) = issue.user.filter(|user| !known.members.contains_key(user)) {
        return Err(Refusal::missing(user));
    }
    let foreign = |project: &units::ProjectId| tenancy.projects.get(project).is_none_or(|p| p.tenant != tenant);
    issue.project.filter(foreign).map_or(Ok(()), |project| Err(Refusal::missing(project)))
}

pub(super) fn revoke(tenancy: &State, owner: Owner, key: KeyId) -> Result<Vec<Event>, Refusal> {
    let known = tenancy.keys.get(&key).filter(|k| k.owner == owner).ok_or_else(|| Refusal::missing(key))?;
    Ok(if known.revoked { Vec::new() } else { vec![KeyRevoked { owner, key }.into()] })
}
