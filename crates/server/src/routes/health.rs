//! `/healthz`, `/readyz`: for whoever watches the process.

use crate::{App, Problem};
use axum::extract::State;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz))
}

/// The process answers.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses((status = OK, body = str)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Orders can be taken.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()),
    responses((status = OK, body = str), (status = SERVICE_UNAVAILABLE, description = "Writes are stopped")))]
async fn readyz(State(app): State<App>) -> Result<&'static str, Problem> {
    match app.handle().stopped() {
        None => Ok("ready\n"),
        Some(_) => Err(Problem::new("writes_stopped", "the store failed; the operator must look")),
    }
}
