//! Request bodies: JSON of a known shape, at most 256 KiB, with the sender's idempotency key if there is one.

use crate::{App, Caller, Problem, secrets::sha256};
use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use engine::Idempotency;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;

/// More than any order needs; what is larger is a mistake or an attack.
pub(crate) const LIMIT: usize = 256 * 1024;

/// So long for so little: whoever is slower is not sending, but holding on.
const SLOWEST: Duration = Duration::from_secs(20);

/// A JSON body of this shape. Unknown fields are refused by the shape itself.
pub struct Body<T> {
    /// The body.
    pub value: T,
    repeat: Option<Repeat>,
}

/// Hashes of the idempotency key and of the request it came with.
#[derive(Debug, Clone, Copy)]
struct Repeat {
    key: [u8; 32],
    request: [u8; 32],
}

/// A body without fields: none at all, or `{}`.
#[derive(Debug, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

impl<T> Body<T> {
    /// The promise that came with the request, among the caller's own.
    pub fn idempotency(&self, caller: &Caller) -> Option<Idempotency> {
        self.repeat.map(|Repeat { key, request }| {
            // A key that is bound to a project has its promises to itself: the tenant's other projects are not its to see.
            let key = caller.project.map_or(key, |project| sha256(&[&project.0.to_be_bytes(), &key]));
            Idempotency { owner: caller.owner, key, request }
        })
    }

    /// The same where it must have been made.
    pub fn promised(&self, caller: &Caller) -> Result<Option<Idempotency>, Problem> {
        match self.idempotency(caller) {
            None => Err(Problem::field("Idempotency-Key", "an order that may cost money needs this header: send a new UUID")),
            some => Ok(some),
        }
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Body<T>, Problem> {
        let (parts, body) = request.into_parts();
        let target = parts.uri.path_and_query().map_or("", |target| target.as_str()).to_owned();
        let (method, headers) = (parts.method.clone(), parts.headers.clone());
        let read = Bytes::from_request(Request::from_parts(parts, body), app);
        let read = timeout(SLOWEST, read).await.map_err(|_| Problem::new("malformed", "the body did not come in time"))?;
        let bytes = read.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                Problem::new("body_too_large", "send less at once: 256 KiB are taken, from agents 16 MiB")
            } else {
                Problem::new("malformed", "the body ended before it was complete")
            }
        })?;
        if !bytes.is_empty() && !is_json(&headers) {
            return Err(Problem::new("unsupported_media_type", "send the body as application/json"));
        }
        let value = parse(if bytes.is_empty() { b"{}" } else { &bytes })?;
        let key = headers.get("idempotency-key").map(|key| key.as_bytes());
        if key.is_some_and(|key| key.is_empty() || key.len() > 255) {
            return Err(Problem::field("Idempotency-Key", "it has 1 to 255 bytes"));
        }
        let repeat = key.map(|key| Repeat {
            key: sha256(&[key]),
            request: sha256(&[method.as_str().as_bytes(), b" ", target.as_bytes(), b"\n", &bytes]),
        });
        Ok(Body { value, repeat })
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // The second reading, which knows where it is, costs only those who sent something wrong.
    serde_json::from_slice(bytes).or_else(|_| {
        {
            let mut json = serde_json::Deserializer::from_slice(bytes);
            let read = serde_path_to_error::deserialize(&mut json);
            read.map_err(|error| (pointer(error.path()), error.into_inner()))
                .and_then(|value| json.end().map_err(|error| (String::new(), error)).map(|()| value))
        }
        .map_err(|(pointer, error)| {
            if error.is_data() {
                Problem::field(pointer, placeless(&error))
            } else {
                Problem::new("malformed", error.to_string())
            }
        })
    })
}

/// A key as a pointer names it (RFC 6901).
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// RFC 6901.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => pointer.push_str(&format!("/{}", escaped(key))),
            // The name of a variant is the key of its object.
            Segment::Enum { variant } => pointer.push_str(&format!("/{variant}")),
            Segment::Unknown => {}
        }
    }
    pointer
}

/// What is wrong; where it is, the pointer says better than line and column.
fn placeless(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(default)]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[allow(dead_code)]
        n: u8,
    }

    fn problem(json: &str) -> (u16, String) {
        let problem = parse::<Outer>(json.as_bytes()).map(|outer| outer.inner.len()).unwrap_err();
        (problem.status().as_u16(), problem.detail().split(':').next().unwrap().to_owned())
    }

    #[test]
    fn a_wrong_field_is_named_by_its_pointer() {
        assert_eq!(problem(r#"{"inner":[{"n":1},{"n":"x"}]}"#), (422, "/inner/1/n".into()));
        assert_eq!(problem(r#"{"inner":[{"n":1,"m":2}]}"#), (422, "/inner/0/m".into()));
        assert_eq!(problem(r#"{"extra":1}"#), (422, "/extra".into()));
    }

    #[test]
    fn what_is_no_json_is_malformed() {
        for wrong in ["{", "", "{}{}", "nonsense"] {
            assert_eq!(problem(wrong).0, 400, "{wrong}");
        }
    }
}
