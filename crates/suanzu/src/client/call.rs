//! One call of the API and its answer.

use crate::failure::Failure;
use anyhow::Context as _;
use reqwest::{Method, blocking::Response};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};
use std::time::Duration;

/// Most calls are answered within milliseconds; a long poll names its own wait beside this.
pub const SHORT: Duration = Duration::from_secs(30);

/// A call of the API.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is done.
    pub method: Method,
    /// Path, from `/v1` on.
    pub path: String,
    /// The body, as JSON.
    pub body: Option<Value>,
    /// Whether the operator may name a tenant for it.
    pub of_tenant: bool,
    query: Vec<(String, String)>,
    key: Option<String>,
    if_match: Option<String>,
    patience: Option<Duration>,
}

impl Call {
    fn new(method: Method, path: impl Into<String>) -> Call {
        let (query, patience) = (Vec::new(), Some(SHORT));
        Call { method, path: path.into(), body: None, of_tenant: false, query, key: None, if_match: None, patience }
    }

    /// Reads.
    pub fn get(path: impl Into<String>) -> Call {
        Call::new(Method::GET, path)
    }

    /// Creates or does.
    pub fn post(path: impl Into<String>) -> Call {
        Call { key: Some(idempotency_key()), ..Call::new(Method::POST, path) }
    }

    /// Replaces.
    pub fn put(path: impl Into<String>) -> Call {
        Call::new(Method::PUT, path)
    }

    /// Removes.
    pub fn delete(path: impl Into<String>) -> Call {
        Call::new(Method::DELETE, path)
    }

    /// With a body.
    pub fn body(self, body: Value) -> Call {
        Call { body: Some(body), ..self }
    }

    /// With a parameter.
    pub fn query(mut self, name: &str, value: impl Into<String>) -> Call {
        self.query.push((name.into(), value.into()));
        self
    }

    /// With a parameter where there is one.
    pub fn maybe(self, name: &str, value: Option<impl Into<String>>) -> Call {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// On a tenant's objects: the operator's `--tenant` is added.
    pub fn of_tenant(self) -> Call {
        Call { of_tenant: true, ..self }
    }

    /// Only if the object is still the one that was read.
    pub fn if_match(self, etag: impl Into<String>) -> Call {
        Call { if_match: Some(etag.into()), ..self }
    }

    /// Waiting so long for the answer; `None`: for ever.
    pub fn lasting(self, patience: Option<Duration>) -> Call {
        Call { patience, ..self }
    }

    pub(super) fn has_query(&self, name: &str) -> bool {
        self.query.iter().any(|(known, _)| known == name)
    }

    /// A century where there is no limit: the client's own default would end a stream after half a minute.
    pub(super) fn patience(&self) -> Duration {
        self.patience.unwrap_or(Duration::from_secs(100 * 365 * 86_400))
    }

    pub(super) fn may_be_repeated(&self) -> bool {
        self.method != Method::POST || self.key.is_some()
    }

    pub(super) fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let key = self.key.as_deref().map(|key| ("Idempotency-Key", key));
        let if_match = self.if_match.as_deref().map(|etag| ("If-Match", etag));
        key.into_iter().chain(if_match)
    }

    /// The address at this server; with an empty one, path and query alone.
    pub fn url(&self, base: &str) -> String {
        let pairs: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        format!("{}{}{query}", base.trim_end_matches('/'), self.path)
    }
}

/// Percent-encoding of a query's value (RFC 3986, 2.3: all but the unreserved).
fn encoded(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    value.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn idempotency_key() -> String {
    let mut bytes = [0_u8; 16];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The body; null where there is none.
    pub body: Value,
    /// The version of the object, for [`Call::if_match`].
    pub etag: Option<String>,
    /// How far the server's clock is ahead of ours, to the second; `None` where it did not say.
    pub clock_apart_seconds: Option<i64>,
}

impl Answer {
    pub(super) fn read(response: Response) -> Result<Answer, Failure> {
        let etag = response.headers().get("etag").and_then(|value| value.to_str().ok()).map(Into::into);
        let date = response.headers().get("date").and_then(|value| value.to_str().ok());
        let clock_apart_seconds = date
            .and_then(|date| jiff::fmt::rfc2822::parse(date).ok())
            .map(|theirs| theirs.timestamp().as_second() - jiff::Timestamp::now().as_second());
        let is_json = response.headers().get("content-type").and_then(|v| v.to_str().ok()).is_some_and(|v| v.contains("json"));
        let text = response.text().context("reading the answer")?;
        let body = match text.trim() {
            "" => Value::Null,
            json if is_json => serde_json::from_str(json).context("the answer is no JSON")?,
            plain => json!(plain),
        };
        Ok(Answer { body, etag, clock_apart_seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded_and_joined() {
        let call =
            Call::get("/v1/usage").query("group_by", "sku").query("from", "2026-05-01T00:00:00+08:00").maybe("x", None::<String>);
        assert_eq!(call.url("http://h:1/"), "http://h:1/v1/usage?group_by=sku&from=2026-05-01T00%3A00%3A00%2B08%3A00");
    }

    #[test]
    fn every_create_carries_a_key_of_its_own() {
        let (one, other) = (Call::post("/v1/leases"), Call::post("/v1/leases"));
        assert_ne!(one.headers().next(), other.headers().next());
        assert_eq!(one.headers().next().map(|(name, key)| (name, key.len())), Some(("Idempotency-Key", 32)));
        assert!(Call::get("/v1/leases").headers().next().is_none());
    }
}
