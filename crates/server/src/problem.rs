//! The body of every answer that is not a success: RFC 9457, with a stable code and what the asker can do.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

/// A refusal or a failure on its way to the client.
#[derive(Debug, Clone)]
pub struct Problem(Box<Details>);

#[derive(Debug, Clone)]
struct Details {
    status: StatusCode,
    code: &'static str,
    detail: String,
    reasons: Vec<String>,
    alternatives: Vec<serde_json::Value>,
    errors: Vec<FieldError>,
    retryable: bool,
}

/// What is wrong with one field of the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer into the body, such as `/size/cards`; `?name` for a query parameter.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub detail: String,
}

/// An `application/problem+json` body.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody<'a> {
    /// Where the code is explained.
    r#type: String,
    /// One line for people, the same for every problem of this code.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What happened here.
    detail: &'a str,
    /// Stable code for programs.
    code: &'static str,
    /// Names this request in our logs.
    request_id: &'a str,
    /// Counted reasons, where something does not fit.
    reasons: &'a [String],
    /// What would fit instead: orders that can be sent as they are.
    #[schema(value_type = Vec<Object>)]
    alternatives: &'a [serde_json::Value],
    /// Whether the same request may succeed later.
    retryable: bool,
    /// Which fields are wrong.
    errors: &'a [FieldError],
}

impl Problem {
    /// A problem of this code; status and title follow from it.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Problem {
        let (status, ..) = look_up(code);
        let retryable = matches!(status.as_u16(), 429 | 503) || matches!(code, "no_capacity" | "queue_ahead");
        Problem(Box::new(Details {
            status,
            code,
            detail: detail.into(),
            reasons: Vec::new(),
            alternatives: Vec::new(),
            errors: Vec::new(),
            retryable,
        }))
    }

    /// There is no such object, or the asker may not know of it: one answer for both.
    pub fn not_found(what: impl std::fmt::Display) -> Problem {
        Problem::new("not_found", format!("there is no {what}"))
    }

    /// One field of the body is wrong.
    pub fn field(pointer: impl Into<String>, detail: impl Into<String>) -> Problem {
        let error = FieldError { pointer: pointer.into(), detail: detail.into() };
        let place = if error.pointer.is_empty() { String::new() } else { format!("{}: ", error.pointer) };
        let mut problem = Problem::new("invalid", format!("{place}{}", error.detail));
        problem.0.errors.push(error);
        problem
    }

    /// A query parameter is wrong.
    pub fn query(name: &str, detail: impl Into<String>) -> Problem {
        let mut problem = Problem::field(format!("?{name}"), detail);
        problem.0.status = StatusCode::BAD_REQUEST;
        problem
    }

    /// With counted reasons.
    pub fn with_reasons(mut self, reasons: Vec<String>) -> Problem {
        self.0.reasons = reasons;
        self
    }

    /// With what would fit instead.
    pub fn with_alternatives(mut self, alternatives: Vec<serde_json::Value>) -> Problem {
        self.0.alternatives = alternatives;
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// What happened.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Counted reasons.
    pub fn reasons(&self) -> &[String] {
        &self.0.reasons
    }

    /// What would fit instead.
    pub fn alternatives(&self) -> &[serde_json::Value] {
        &self.0.alternatives
    }

    /// Whether the same request may succeed later.
    pub fn retryable(&self) -> bool {
        self.0.retryable
    }

    /// The answer, under the request's id.
    pub(crate) fn render(&self, request_id: &str) -> Response {
        let details = &*self.0;
        let body = ProblemBody {
            r#type: format!("https://suanzu.dev/problems/{}", details.code),
            title: look_up(details.code).1,
            status: details.status.as_u16(),
            detail: &details.detail,
            code: details.code,
            request_id,
            reasons: &details.reasons,
            alternatives: &details.alternatives,
            retryable: details.retryable,
            errors: &details.errors,
        };
        let json = serde_json::to_vec(&body).expect("a problem is plain data");
        let mut response = (details.status, json).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if matches!(details.status.as_u16(), 429 | 503) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if details.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The body is written by the outermost layer, which knows the request's id.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.0.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Every code with its status and title.
const CODES: &[(&str, u16, &str)] = &[
    ("malformed", 400, "The body is not JSON"),
    ("unauthenticated", 401, "A valid key is needed"),
    ("insufficient_funds", 402, "Balance and credit do not cover it"),
    ("spend_limit_reached", 402, "The spending limit would be passed"),
    ("too_dear", 402, "The price is above what you accept"),
    ("forbidden", 403, "Your role does not allow it"),
    ("not_found", 404, "There is no such object"),
    ("method_not_allowed", 405, "This cannot be done here"),
    ("limit_reached", 409, "A limit would be passed"),
    ("no_capacity", 409, "Nothing fits now"),
    ("queue_ahead", 409, "Others wait longer and go first"),
    ("price_in_force", 409, "A price in force cannot be changed"),
    ("wrong_state", 409, "Not in this state"),
    ("exists", 409, "It exists already with other contents"),
    ("key_reused", 409, "The idempotency key came with another request before"),
    ("version_mismatch", 409, "Agent and server speak different versions"),
    ("precondition_failed", 412, "It was changed meanwhile"),
    ("body_too_large", 413, "The body is too large"),
    ("unsupported_media_type", 415, "Send application/json"),
    ("invalid", 422, "The request makes no sense"),
    ("never_fits", 422, "Nothing of this fleet could ever hold it"),
    ("not_priced", 422, "There is no price for it"),
    ("precondition_required", 428, "Say which version you are changing"),
    ("rate_limited", 429, "Too many requests"),
    ("internal", 500, "We failed"),
    ("writes_stopped", 503, "Nothing can be written now"),
    ("not_yet", 503, "Not yet up to date"),
    ("unreachable", 503, "The node does not answer"),
];

fn look_up(code: &str) -> (StatusCode, &'static str) {
    let found = CODES.iter().find(|(known, ..)| *known == code);
    let (_, status, title) = found.expect("every code that is used stands in the table");
    (StatusCode::from_u16(*status).expect("the table holds HTTP statuses"), title)
}

/// Every code with its status and title: for the documentation.
pub fn codes() -> impl Iterator<Item = (&'static str, u16, &'static str)> {
    CODES.iter().copied()
}
