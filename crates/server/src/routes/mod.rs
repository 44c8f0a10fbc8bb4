//! The routes, one file per resource. A handler authenticates, authorises, translates and submits; no rule is here.

mod agent;
mod console;
mod docs;
mod events;
mod fleet;
mod health;
mod keys;
mod leases;
mod members;
mod metrics;
mod offers;
mod policy;
mod prices;
mod proofs;
mod statement;
mod tenants;
mod usage;
mod wallet;
mod whoami;

use crate::{App, Problem, body, frame::frame, problem::ProblemBody};
use axum::{Router, extract::DefaultBodyLimit, middleware};
use utoipa::{
    OpenApi,
    openapi::{
        PathItem,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};
use utoipa_axum::router::OpenApiRouter;

#[derive(OpenApi)]
#[openapi(
    info(title = "Suanzu", description = "Rent computing power: offers, leases, money, fleet, proofs."),
    components(schemas(ProblemBody<'static>)),
    security(("key" = []))
)]
struct Described;

/// All routes on one router, with the layers around them.
pub fn router(app: App) -> Router {
    let (routes, document) = described();
    let document = document.to_json().expect("the description is plain data");
    routes
        .merge(docs::router(document))
        .fallback(async || Problem::not_found("such path"))
        .method_not_allowed_fallback(async || Problem::new("method_not_allowed", "see /openapi.json for what can be done here"))
        .layer(DefaultBodyLimit::max(body::LIMIT))
        .layer(middleware::from_fn_with_state(app.clone(), frame))
        .with_state(app)
}

/// The OpenAPI document of this build.
pub fn openapi() -> utoipa::openapi::OpenApi {
    described().1
}

fn described() -> (Router<App>, utoipa::openapi::OpenApi) {
    let (routes, mut document) = OpenApiRouter::with_openapi(Described::openapi())
        .merge(agent::router())
        .merge(events::router())
        .merge(fleet::router())
        .merge(console::router())
        .merge(health::router())
        .merge(keys::router())
        .merge(leases::router())
        .merge(members::router())
        .merge(metrics::router())
        .merge(offers::router())
        .merge(policy::router())
        .merge(prices::router())
        .merge(proofs::router())
        .merge(statement::router())
        .merge(tenants::router())
        .merge(usage::router())
        .merge(wallet::router())
        .merge(whoami::router())
        .split_for_parts();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    document.components.get_or_insert_default().add_security_scheme("key", bearer);
    document.paths.paths = std::mem::take(&mut document.paths.paths).into_iter().map(spoken).collect();
    (routes, document)
}

/// A path as OpenAPI writes it, and operations named after where they are: `post_v1_leases_id_stop`.
fn spoken((path, mut item): (String, PathItem)) -> (String, PathItem) {
    let path = path.replace("{*", "{");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let place: String = words.map(|word| format!("_{word}")).collect();
    let named = [(&mut item.get, "get"), (&mut item.post, "post"), (&mut item.put, "put"), (&mut item.delete, "delete")];
    for (operation, method) in named {
        if let Some(operation) = operation {
            operation.operation_id = Some(format!("{method}{place}"));
        }
    }
    (path, item)
}
