//! `/`, `/sign-in/{link}`, `/v1/sign-in-links`: the plain page, and how a browser comes to see it.

use crate::{
    App, Body, Caller, Nothing, Problem, Written,
    path::Id,
    signed_in::{COOKIE, SESSION_MS},
};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use rental::{State as Core, lease::cost_so_far, tenancy::Act};
use serde::Serialize;
use std::fmt::Write;
use units::Time;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(index)).routes(routes!(sign_in)).routes(routes!(sign_out)).routes(routes!(link))
}

/// A link that signs a browser in.
#[derive(Serialize, ToSchema)]
struct Link {
    /// Works once, within ten minutes.
    url: String,
}

/// Makes a link that signs a browser in once, with the rights of the shown key.
#[utoipa::path(post, path = "/v1/sign-in-links", tag = "console", request_body = Nothing,
    responses((status = CREATED, body = Link)))]
async fn link(State(app): State<App>, caller: Caller, _: Body<Nothing>) -> Result<Written<Link>, Problem> {
    caller.may(Act::Look)?;
    let crate::Who::Key(key) = caller.who else { return Err(Problem::new("forbidden", "a lease signs nobody in")) };
    Ok(Written::created(app.handle().head().size, Link { url: app.sign_in_link(key) }))
}

/// Follows a sign-in link: sets the session's cookie.
#[utoipa::path(get, path = "/sign-in/{link}", tag = "console", security(()), params(("link" = String, Path)),
    responses((status = SEE_OTHER, description = "To the page, signed in")))]
async fn sign_in(State(app): State<App>, Id(link): Id<String>) -> Result<Response, Problem> {
    let session = app.signed_in().follow(&link, app.handle().now());
    let session = session
        .ok_or_else(|| Problem::new("unauthenticated", "this link was used, or is older than ten minutes: ask for a new one"))?;
    let secure = if app.config().public_url.starts_with("https:") { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{secure}", SESSION_MS / 1000);
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response())
}

/// Ends the browser's session.
#[utoipa::path(post, path = "/sign-out", tag = "console", security(()), responses((status = SEE_OTHER)))]
async fn sign_out(State(app): State<App>, headers: HeaderMap) -> Response {
    app.signed_in().leave(&headers);
    ([(header::SET_COOKIE, format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"))], Redirect::to("/"))
        .into_response()
}

/// Fleet and leases on one plain page.
#[utoipa::path(get, path = "/", tag = "console", security(()), responses((status = OK, content_type = "text/html")))]
async fn index(State(app): State<App>, caller: Result<Caller, Problem>) -> Response {
    match caller.ok().filter(|caller| caller.may(Act::Look).is_ok()) {
        None => (
            StatusCode::UNAUTHORIZED,
            page("<p>Open the sign-in link that <code>suanzu</code> printed, or ask for one: <code>suanzu console</code>.</p>"),
        )
            .into_response(),
        Some(caller) => {
            let now = app.handle().now();
            page(&app.handle().read(|state| overview(state, &caller, now))).into_response()
        }
    }
}

/// A page runs no script and shows itself in nobody's frame.
const CONTENT: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
);

fn page(body: &str) -> impl IntoResponse {
    let html = Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Suanzu</title><style>{STYLE}</style><h1>Suanzu</h1>{body}"
    ));
    ([CONTENT], html)
}

const STYLE: &str = "body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
                     table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8884}\
                     td.n{text-align:right;font-variant-numeric:tabular-nums}";

/// A page shows so many leases; the CLI lists them all.
const SHOWN: usize = 200;

fn overview(state: &Core, caller: &Caller, now: Time) -> String {
    let mut html = String::from("<form method=\"post\" action=\"/sign-out\"><button>Sign out</button></form>");
    html.push_str("<h2>Cards</h2><table><tr><th>Model<th>Total<th>Free<th>In use</tr>");
    for model in state.fleet.devices().occupancy() {
        let name = escaped(&model.model);
        row(
            &mut html,
            format_args!("<td>{name}<td class=n>{}<td class=n>{}<td class=n>{}", model.cards, model.free_cards, model.used_cards),
        );
    }
    html.push_str("</table><h2>Leases</h2><table><tr><th>Lease<th>State<th>Since<th>Cost so far (CNY)<th></tr>");
    let own = state.lease.all().filter(|lease| caller.owns_in(lease.tenant, lease.project));
    for lease in own.take(SHOWN) {
        let (id, cost) = (lease.id, cost_so_far(state, lease, now));
        let status = format!("{:?}", crate::bodies::LeaseState::from(lease.status)).to_lowercase();
        let links = format!("<a href=\"/v1/leases/{id}/why\">why</a> <a href=\"/v1/leases/{id}/receipt\">receipt</a>");
        row(&mut html, format_args!("<td>{id}<td>{status}<td>{}<td class=n>{cost}<td>{links}", lease.since));
    }
    html.push_str("</table><p><a href=\"/docs\">API</a></p>");
    html
}

fn row(html: &mut String, cells: std::fmt::Arguments<'_>) {
    write!(html, "<tr>{cells}</tr>").expect("a String takes every text");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
