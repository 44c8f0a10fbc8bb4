//! `/openapi.json` and `/docs`: the description of this API, and a page to try it.

use crate::App;
use axum::{
    Router,
    http::header,
    response::{Html, IntoResponse},
    routing::get,
};

const PAGE: &str = include_str!("docs.html");

/// The document is written once, when the router is made.
pub(super) fn router(document: String) -> Router<App> {
    let document = bytes::Bytes::from(document);
    let openapi = move || {
        let document = document.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], document).into_response() }
    };
    Router::new().route("/openapi.json", get(openapi)).route("/docs", get(async || Html(PAGE)))
}
