//! Around every request: its id, who asks, the problem's body, the line in the access log.

use crate::{App, Caller, Problem};
use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::Response,
};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The outermost layer.
pub(crate) async fn frame(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let caller = Caller::authenticate(&app, &method, request.headers());
    if let Some(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    let mut response = next.run(request).await;
    let problem = response.extensions_mut().remove::<Problem>();
    if let Some(problem) = &problem {
        response = problem.render(&id);
    }
    let code = problem.as_ref().map_or("", Problem::code);
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert("x-request-id", value);
    }
    // Answers may hold secrets that are shown once, and what a tenant wrote must not be taken for a page.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let line = Line { method, route, caller, status: response.status().as_u16(), code, took: started.elapsed(), id };
    app.counters().count(line.status, line.took);
    line.log();
    response
}

/// One line of the access log. Never a secret: the route is the pattern, not the path.
struct Line {
    method: Method,
    route: Option<MatchedPath>,
    caller: Option<Caller>,
    status: u16,
    code: &'static str,
    took: Duration,
    id: String,
}

impl Line {
    fn log(&self) {
        let Line { method, status, code, id, .. } = self;
        let route = self.route.as_ref().map_or("-", MatchedPath::as_str);
        let micros = u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX);
        let actor = self.caller.map(|caller| caller.who);
        let actor = actor.as_ref().map(tracing::field::display);
        // Who may not, and who knocks at what is not his, must be found without reading everything.
        match status {
            401 | 403 | 404 => tracing::warn!(target: "access", actor, %method, route, status, code, micros, request_id = id),
            500.. => tracing::error!(target: "access", actor, %method, route, status, code, micros, request_id = id),
            _ => tracing::info!(target: "access", actor, %method, route, status, micros, request_id = id),
        }
    }
}

/// The client's own id if it is fit to be repeated, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let given = headers.get("x-request-id").and_then(|id| id.to_str().ok());
    let fit =
        |id: &&str| !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    given.filter(fit).map_or_else(|| format!("{}-{:x}", process(), NEXT.fetch_add(1, Relaxed)), str::to_owned)
}

/// Tells one run of the process from the next in the logs.
fn process() -> &'static str {
    static PROCESS: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    PROCESS.get_or_init(|| crate::secrets::generate("")[..6].to_owned())
}
