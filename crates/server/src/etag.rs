//! Versions of what is replaced as a whole: the `ETag` of a body, and `If-Match` where it is put.

use crate::{Problem, secrets::sha256};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Serialize;

/// The version of a body: a hash of what it says.
pub(crate) fn of<T: Serialize>(body: &T) -> String {
    let json = serde_json::to_vec(body).expect("a body is plain data");
    format!("\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(&sha256(&[&json])[..12]))
}

/// Refuses a change that was not made of the present version.
pub(crate) fn check(headers: &HeaderMap, present: &str) -> Result<(), Problem> {
    let given = headers
        .get(header::IF_MATCH)
        .ok_or_else(|| Problem::new("precondition_required", "read it first, and send its ETag in If-Match"))?;
    let matches =
        given.to_str().is_ok_and(|given| given.split(',').any(|one| matches!(one.trim(), any if any == "*" || any == present)));
    matches.then_some(()).ok_or_else(|| Problem::new("precondition_failed", "it was changed since you read it: read it again"))
}

/// A body with its version.
pub(crate) fn tagged<T: Serialize>(body: T) -> Response {
    let etag = of(&body);
    let mut response = Json(body).into_response();
    let value = HeaderValue::from_str(&etag).expect("base64 in quotes is a header value");
    response.headers_mut().insert(header::ETAG, value);
    response
}
