//! `/v1/whoami`: what the shown key is good for.

use crate::{App, AtLeast, Caller, NoParams, Params, Problem, caller};
use axum::Json;
use serde::Serialize;
use units::{AgentId, ProjectId, TenantId};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show))
}

/// Who the caller is.
#[derive(Serialize, ToSchema)]
struct WhoAmI {
    /// The key, or the lease whose own key it is.
    #[schema(example = "key-3")]
    key: String,
    /// `null` for the operator.
    #[schema(value_type = Option<String>)]
    tenant: Option<TenantId>,
    /// Only this project.
    #[schema(value_type = Option<String>)]
    project: Option<ProjectId>,
    /// The agent it speaks for.
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// What it may do at most.
    role: &'static str,
}

/// What the shown key is good for.
#[utoipa::path(get, path = "/v1/whoami", tag = "keys", params(AtLeast), responses((status = OK, body = WhoAmI)))]
async fn show(caller: Caller, _: Params<NoParams>) -> Result<Json<WhoAmI>, Problem> {
    Ok(Json(WhoAmI {
        key: caller.who.to_string(),
        tenant: caller.owner.tenant(),
        project: caller.project,
        agent: caller.agent,
        role: caller::name(caller.role),
    }))
}
