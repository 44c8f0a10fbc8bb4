//! The way to a server over HTTP.

use crate::{
    client::{Cause, Lost, Target},
    language::{Language, phrases as p},
};
use drivers::{Uplink, UplinkError};
use protocol::{Changes, Join, Joined, Poll, Problem, Report};
use reqwest::blocking::Client;
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;

/// What a call may take beyond what the server is asked to wait.
const SLACK: Duration = Duration::from_secs(15);

/// An uplink over HTTP.
pub struct Http {
    target: Target,
    client: Client,
    language: Language,
}

impl Http {
    /// An uplink to this server, with an agent's key; what is wrong for good is said in this language.
    pub fn new(target: Target, language: Language) -> anyhow::Result<Http> {
        let client = target.http()?;
        Ok(Http { target, client, language })
    }

    fn call<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize, wait: Duration) -> Result<T, UplinkError> {
        let unreachable = |error: reqwest::Error| self.lost(&Lost::of(&error));
        let url = format!("{}{path}", self.target.url.trim_end_matches('/'));
        let request = self.client.post(url).json(body).timeout(wait + SLACK);
        let request = request.bearer_auth(self.target.key.as_deref().unwrap_or_default());
        let response = request.send().map_err(unreachable)?;
        let status = response.status();
        let bytes = response.bytes().map_err(unreachable)?;
        if status.is_success() {
            let body = if bytes.is_empty() { b"null".as_slice() } else { &bytes };
            return serde_json::from_slice(body).map_err(|e| UplinkError::Unreachable(format!("a strange answer: {e}")));
        }
        match serde_json::from_slice::<Problem>(&bytes) {
            Ok(problem) if status.is_client_error() => Err(UplinkError::Refused(problem)),
            // Nobody of ours speaks there.
            Err(_) if status.as_u16() == 404 => {
                Err(refused("no_server", 404, self.language.fill(&p::NO_SERVER, &[&self.target.url])))
            }
            // A proxy's own page, or a server that is going down: the workloads run on, and the call is repeated.
            _ => Err(UplinkError::Unreachable(status.to_string())),
        }
    }
}

impl Http {
    /// What mends itself is waited for; what does not is a refusal, of the server by us.
    fn lost(&self, lost: &Lost) -> UplinkError {
        match lost.cause {
            Cause::Other => UplinkError::Unreachable(lost.why.clone()),
            _ => refused("no_server", 0, lost.explained(&self.target.url, self.language)),
        }
    }
}

fn refused(code: &str, status: u16, title: String) -> UplinkError {
    UplinkError::Refused(Problem { code: code.into(), status, title, detail: String::new(), retryable: false })
}

impl Uplink for Http {
    fn join(&self, join: &Join) -> Result<Joined, UplinkError> {
        self.call("/v1/agent/join", join, Duration::ZERO)
    }

    fn poll(&self, poll: &Poll, wait: Duration) -> Result<Changes, UplinkError> {
        self.call(&format!("/v1/agent/poll?wait={}s", wait.as_secs()), poll, wait)
    }

    fn report(&self, report: &Report) -> Result<(), UplinkError> {
        self.call::<serde_json::Value>("/v1/agent/report", report, Duration::ZERO).map(|_| ())
    }
}
