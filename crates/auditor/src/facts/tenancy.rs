//! Facts about tenants. Of keys, members and limits the audit only reads whose they are.

use super::facts;
use minicbor::Decode;

facts! {
    "tenancy.tenant_created/1" => TenantCreated
    "tenancy.tenant_closed/1" => TenantClosed
    "tenancy.limits_set/1" => LimitsSet
    "tenancy.project_created/1" => ProjectCreated
    "tenancy.member_set/1" => MemberSet
    "tenancy.key_issued/1" => KeyIssued
    "tenancy.key_revoked/1" => KeyRevoked
}

#[derive(Decode)]
pub struct TenantCreated {
    #[n(0)]
    pub tenant: u64,
}

#[derive(Decode)]
pub struct TenantClosed {
    #[n(0)]
    pub tenant: u64,
}

#[derive(Decode)]
pub struct LimitsSet {
    #[n(0)]
    pub tenant: u64,
}

#[derive(Decode)]
pub struct ProjectCreated {
    #[n(0)]
    pub tenant: u64,
    #[n(1)]
    pub project: u64,
}

#[derive(Decode)]
pub struct MemberSet {
    #[n(0)]
    pub tenant: u64,
}

#[derive(Decode)]
pub struct KeyIssued {
    #[n(1)]
    pub owner: u64,
}

#[derive(Decode)]
pub struct KeyRevoked {
    #[n(0)]
    pub owner: u64,
}
