//! Why a command did not do what was asked, and the exit code that says so to scripts.

use crate::{
    language::{Language, Told, phrases},
    output::{Show, shown, text_of},
};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The same, said in either language.
    #[error("{0}")]
    Misused(Told),
    /// It cannot be done, said in either language.
    #[error("{0}")]
    Said(Told),
    /// The server says no.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// It did not happen in the time that was given.
    #[error("{0}")]
    TimedOut(String),
    /// It will not pass by itself: an exit code, and what to do.
    #[error("{1}")]
    Final(u8, String),
    /// Whoever was asked did not say yes.
    #[error("nothing was done")]
    Declined,
    /// Nothing was sent: the call was to be shown only.
    #[error("nothing was sent")]
    ShownOnly,
    /// Everything else.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Other(error.into())
    }
}

/// The server's `application/problem+json` (RFC 9457).
#[derive(Debug, Clone, Default, PartialEq, Deserialize, thiserror::Error)]
#[error("{title}")]
#[serde(default)]
pub struct Problem {
    /// Stable code, such as `no_capacity`.
    pub code: String,
    /// The HTTP status.
    pub status: u16,
    /// One line for people.
    pub title: String,
    /// What of this request is wrong.
    pub detail: String,
    /// To find it in the server's log.
    pub request_id: String,
    /// Why, in the order of their weight.
    pub reasons: Vec<Value>,
    /// What would be possible instead.
    pub alternatives: Vec<Value>,
    /// Which field is wrong, by JSON pointer.
    pub errors: Vec<Value>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
}

/// Exit codes, beside 0 and the child's own in `run` and `exec`. They are documented in docs/operations.md.
pub mod exit {
    /// Everything that has no code of its own.
    pub const OTHER: u8 = 1;
    /// The command line or the order makes no sense.
    pub const USAGE: u8 = 2;
    /// There is no such thing.
    pub const NOT_FOUND: u8 = 3;
    /// The key is none, or may not do it.
    pub const NOT_ALLOWED: u8 = 4;
    /// There is no room.
    pub const NO_CAPACITY: u8 = 5;
    /// Money or a limit does not allow it.
    pub const MONEY: u8 = 6;
    /// It did not happen in the time that was given.
    pub const TIMED_OUT: u8 = 7;
    /// Something else is in the way, such as its state.
    pub const CONFLICT: u8 = 8;
    /// `run` came to the end that `--for` or `--until` set: what timeout(1) says.
    pub const END_REACHED: u8 = 124;
    /// `run` was interrupted: 128 + SIGINT, as shells say it.
    pub const INTERRUPTED: u8 = 130;
}

impl Failure {
    /// What the process ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::ShownOnly => 0,
            Failure::Usage(_) | Failure::Misused(_) => exit::USAGE,
            Failure::TimedOut(_) => exit::TIMED_OUT,
            Failure::Final(code, _) => *code,
            Failure::Refused(problem) => problem.exit_code(),
            Failure::Declined | Failure::Said(_) | Failure::Other(_) => exit::OTHER,
        }
    }

    /// One line (code, detail, what to do), reasons and alternatives beneath.
    pub fn explained(&self, language: Language) -> String {
        match self {
            Failure::ShownOnly => String::new(),
            Failure::Declined => language.say(&phrases::NOTHING_DONE).into(),
            Failure::Usage(why) => format!("{}: {why}", language.say(&phrases::ERROR_USAGE)),
            Failure::Misused(why) => format!("{}: {}", language.say(&phrases::ERROR_USAGE), why.said(language)),
            Failure::Said(why) => format!("{}: {}", language.say(&phrases::ERROR), why.said(language)),
            Failure::TimedOut(why) => format!("{}: {why}", language.say(&phrases::ERROR_TIMEOUT)),
            Failure::Final(_, why) => format!("{}: {why}", language.say(&phrases::ERROR)),
            Failure::Other(error) => format!("{}: {error:#}", language.say(&phrases::ERROR)),
            Failure::Refused(problem) => problem.explained(language),
        }
    }
}

impl Problem {
    fn exit_code(&self) -> u8 {
        match (self.code.as_str(), self.status) {
            ("not_found", _) | (_, 404) => exit::NOT_FOUND,
            ("unauthenticated" | "forbidden", _) | (_, 401 | 403) => exit::NOT_ALLOWED,
            ("no_capacity" | "queue_ahead" | "never_fits", _) => exit::NO_CAPACITY,
            ("insufficient_funds" | "limit_reached" | "spend_limit_reached" | "too_dear", _) | (_, 402) => exit::MONEY,
            ("invalid", _) | (_, 405 | 413 | 415 | 422) => exit::USAGE,
            (_, 409 | 412 | 428) => exit::CONFLICT,
            _ => exit::OTHER,
        }
    }

    fn explained(&self, language: Language) -> String {
        let mut text = format!("{}: {}", self.code, self.said(language));
        if let Some(advice) = self.advice() {
            let _ = write!(text, " → {}", language.say(advice));
        }
        // One field is told of in the line itself.
        for error in self.errors.iter().filter(|_| self.errors.len() > 1) {
            let _ = write!(text, "\n  {}", of_field(error));
        }
        for reason in &self.reasons {
            let _ = write!(text, "\n  · {}", sentence(reason, language));
        }
        for alternative in &self.alternatives {
            let _ = write!(text, "\n  {} {}", language.say(&phrases::ALTERNATIVE), sentence(alternative, language));
        }
        if self.status >= 500 && !self.request_id.is_empty() {
            let _ = write!(text, "\n  {} {}", language.say(&phrases::REQUEST_ID), self.request_id);
        }
        text
    }

    fn said(&self, language: Language) -> String {
        match self.errors.as_slice() {
            [error] => of_field(error),
            _ if self.needs_operator() => language.say(&phrases::NEEDS_OPERATOR).into(),
            _ if self.detail.is_empty() => self.title.clone(),
            _ => self.detail.clone(),
        }
    }

    /// Above an admin there is the operator alone.
    fn needs_operator(&self) -> bool {
        self.code == "forbidden" && self.detail.ends_with("the role admin")
    }

    fn advice(&self) -> Option<&'static crate::language::Phrase> {
        Some(match self.code.as_str() {
            "unauthenticated" => &phrases::DO_KEY,
            "forbidden" if self.needs_operator() => &phrases::DO_OPERATOR,
            "forbidden" => &phrases::DO_ROLE,
            "not_found" => &phrases::DO_LIST,
            "no_capacity" | "queue_ahead" => &phrases::DO_WAIT,
            "never_fits" => &phrases::DO_OFFERS,
            "insufficient_funds" => &phrases::DO_TOP_UP,
            "limit_reached" | "spend_limit_reached" => &phrases::DO_LIMIT,
            "too_dear" => &phrases::DO_MAX_PRICE,
            "not_priced" => &phrases::DO_PUBLISH,
            "key_reused" => &phrases::DO_NEW_KEY,
            "wrong_state" => &phrases::DO_ACTIONS,
            "precondition_failed" => &phrases::DO_READ_AGAIN,
            _ if self.retryable => &phrases::DO_RETRY,
            _ => return None,
        })
    }
}

/// What is wrong with one field, by the option that sets it.
fn of_field(error: &Value) -> String {
    format!("{}: {}", option_of(&text_of(&error["pointer"])), text_of(&error["detail"]).replace("?tenant=", "--tenant "))
        .trim_start_matches(": ")
        .into()
}

/// The option or argument that sets this field of the API, or the field where none does.
fn option_of(pointer: &str) -> String {
    let named = match pointer {
        "/size/cards" | "/size/share" | "/models" | "/card_memory_mib" => "--gpu",
        "/size/share/compute" | "/size/share/memory_mib" => "--gpu",
        "/size/servers" => "--server",
        "/size" | "/size/units" | "/size/units/kind" | "/size/units/amount" => "--units, --cpu",
        "/memory_mib" => "--memory",
        "/labels" => "--label",
        "/wait" => "--queue",
        "/workload/runtime" | "/workload/runtime/container" => "--image",
        "/workload/argv" => "COMMAND",
        "/workload/env" => "--env",
        "/workload/grace_ms" => "--grace",
        "/until" | "/interval/until" => "--until, --for",
        "/amount" => "AMOUNT",
        "/limit" => "LIMIT",
        "?limit" | "?page_token" => return pointer.trim_start_matches('?').into(),
        "/cpu" | "/pool" | "/on_failure" | "/max_price" | "/name" | "/reason" | "/payment" | "/expires" | "/role" | "/user"
        | "/project" | "/tenant" | "?tenant" | "?from" | "?until" | "?group_by" | "?state" | "?after" | "?tail" => {
            return format!("--{}", pointer[1..].replace('_', "-"));
        }
        other => other,
    };
    named.into()
}

/// A reason or an alternative: text as it is, an object by its sentence or its fields.
fn sentence(value: &Value, language: Language) -> String {
    let Some(fields) = value.as_object() else { return text_of(value) };
    if let Some(order) = fields.get("order") {
        return shown(Some(order), Show::Ask, language);
    }
    let told = ["detail", "text", "title", "reason"].iter().find_map(|name| fields.get(*name)?.as_str());
    told.map_or_else(
        || fields.iter().map(|(name, value)| format!("{name} {}", text_of(value))).collect::<Vec<_>>().join(", "),
        Into::into,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(code: &str, status: u16) -> Failure {
        Failure::Refused(Box::new(Problem { code: code.into(), status, ..Problem::default() }))
    }

    #[test]
    fn scripts_tell_refusals_apart_by_exit_code() {
        for (code, status, exit) in [
            ("not_found", 404, 3),
            ("unauthenticated", 401, 4),
            ("forbidden", 403, 4),
            ("no_capacity", 409, 5),
            ("never_fits", 422, 5),
            ("insufficient_funds", 402, 6),
            ("limit_reached", 409, 6),
            ("invalid", 422, 2),
            ("wrong_state", 409, 8),
            ("key_reused", 409, 8),
            ("precondition_failed", 412, 8),
            ("writes_stopped", 503, 1),
        ] {
            assert_eq!(problem(code, status).exit_code(), exit, "{code}");
        }
        assert_eq!(Failure::TimedOut(String::new()).exit_code(), 7);
        assert_eq!(Failure::Usage(String::new()).exit_code(), 2);
        assert_eq!(Failure::Declined.exit_code(), 1);
    }

    #[test]
    fn a_wrong_field_is_told_once_and_by_its_option() {
        let body = |pointer: &str| {
            json!({ "code": "invalid", "status": 422, "detail": format!("{pointer}: it is past"),
            "errors": [{ "pointer": pointer, "detail": "it is past" }] })
        };
        for (pointer, option) in
            [("/until", "--until, --for"), ("?tenant", "--tenant"), ("/max_price", "--max-price"), ("/x", "/x")]
        {
            let failure = Failure::Refused(Box::new(serde_json::from_value(body(pointer)).unwrap()));
            assert_eq!(failure.explained(Language::English), format!("invalid: {option}: it is past"));
        }
    }

    #[test]
    fn an_admin_is_told_that_it_takes_the_operator() {
        let detail = "this needs more than the role admin".into();
        let problem = Problem { code: "forbidden".into(), status: 403, detail, ..Problem::default() };
        let said = problem.explained(Language::English);
        assert!(said.contains("operator") && !said.contains("admin"), "{said}");
    }

    #[test]
    fn a_refusal_is_one_line_with_reasons_and_alternatives_beneath() {
        let body = json!({
            "code": "no_capacity", "status": 409, "title": "no room now", "detail": "8 × A100-80GB do not fit now",
            "reasons": ["2 nodes: too few free cards"], "alternatives": [{"change": "fewer", "order": {"size": {"cards": 4}, "models": ["A100-80GB"]}}],
        });
        let failure = Failure::Refused(Box::new(serde_json::from_value(body).unwrap()));
        insta::assert_snapshot!(failure.explained(Language::English), @r"
        no_capacity: 8 × A100-80GB do not fit now → wait with --queue, or take an alternative
          · 2 nodes: too few free cards
          instead: 4 × A100-80GB
        ");
        insta::assert_snapshot!(failure.explained(Language::Chinese), @r"
        no_capacity: 8 × A100-80GB do not fit now → 用 --queue 排队等待，或选择替代方案
          · 2 nodes: too few free cards
          可改为： 4 × A100-80GB
        ");
    }
}
