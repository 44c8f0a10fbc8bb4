//! Speaking with a server: one call at a time, blocking. Creates carry an idempotency key, so that a call whose answer was
//! lost on the way can be repeated without buying twice.

mod call;
mod context;
mod lost;
mod pinned;
mod shown;
pub mod socket;
mod target;

pub use call::{Answer, Call};
pub use context::{Context, Contexts};
pub use lost::{Cause, Lost};
pub use target::{Given, Target};

use crate::{
    failure::{Failure, Problem},
    language::Language,
};
use anyhow::{Context as _, anyhow};
use backon::{BlockingRetryable, ExponentialBuilder};
use reqwest::blocking::{Client as Http, RequestBuilder, Response};
use std::{cell::OnceCell, io::Write, time::Duration};

/// What is done with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are sent.
    Send,
    /// They are explained, and not sent.
    Explain,
    /// They are shown as `curl` command lines, and not sent.
    Curl,
}

/// A way to one server.
pub struct Client {
    target: Target,
    mode: Mode,
    language: Language,
    http: OnceCell<Http>,
    /// How long a server that does not answer is waited for.
    patience: Duration,
}

/// A server that is restarted, or reached through a proxy that is, answers again within this.
const RESTARTED: Duration = Duration::from_secs(60);

impl Client {
    /// A client for this server. Nothing is opened before the first call.
    pub fn new(target: Target, mode: Mode, language: Language) -> Client {
        Client { target, mode, language, http: OnceCell::new(), patience: Duration::ZERO }
    }

    /// One that waits a minute for a server that does not answer: for who has something at stake there.
    pub fn patient(target: Target, language: Language) -> Client {
        Client { patience: RESTARTED, ..Client::new(target, Mode::Send, language) }
    }

    /// Which server, with which key.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Whether calls are only shown.
    pub fn only_shows(&self) -> bool {
        self.mode != Mode::Send
    }

    /// Sends a call and reads the whole answer.
    pub fn send(&self, call: Call) -> Result<Answer, Failure> {
        let call = self.for_tenant(call);
        self.show(&call)?;
        let http = self.http()?;
        let send = || self.answered(http, &call);
        // A refused connection is told at once; an answer lost on the way is asked for again where that is harmless.
        let is_patient = !self.patience.is_zero();
        let lost = |failure: &Lost| call.may_be_repeated() && (is_patient || !failure.refused);
        let pace =
            ExponentialBuilder::default().with_min_delay(Duration::from_millis(200)).with_max_delay(Duration::from_secs(2));
        let pace =
            if is_patient { pace.without_max_times().with_total_delay(Some(self.patience)) } else { pace.with_max_times(3) };
        let response = send.retry(pace).when(lost).call().map_err(|lost| self.unreachable(&lost))?;
        Answer::read(checked(response)?)
    }

    /// Sends a call whose answer is read as it comes, for as long as it comes.
    pub fn stream(&self, call: Call) -> Result<Response, Failure> {
        let call = self.for_tenant(call).lasting(None);
        self.show(&call)?;
        checked(self.answered(self.http()?, &call).map_err(|lost| self.unreachable(&lost))?)
    }

    fn for_tenant(&self, call: Call) -> Call {
        match &self.target.tenant {
            Some(tenant) if call.of_tenant && !call.has_query("tenant") => {
                let tenant = tenant.clone();
                call.query("tenant", tenant)
            }
            _ => call,
        }
    }

    fn show(&self, call: &Call) -> Result<(), Failure> {
        match self.mode {
            Mode::Send => Ok(()),
            Mode::Explain => self.print(&shown::explained(call, &self.target, self.language)),
            Mode::Curl => self.print(&shown::curl(call, &self.target)),
        }
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        // Whoever reads it may have seen enough.
        let _ = writeln!(std::io::stdout(), "{text}");
        Err(Failure::ShownOnly)
    }

    fn answered(&self, http: &Http, call: &Call) -> Result<Response, Lost> {
        self.request(http, call).send().map_err(|error| Lost::of(&error))
    }

    fn request(&self, http: &Http, call: &Call) -> RequestBuilder {
        let mut request = http.request(call.method.clone(), call.url(&self.target.url)).timeout(call.patience());
        if let Some(key) = &self.target.key {
            request = request.bearer_auth(key);
        }
        for (name, value) in call.headers() {
            request = request.header(name, value);
        }
        match &call.body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    fn http(&self) -> anyhow::Result<&Http> {
        if self.http.get().is_none() {
            let http = self.target.http()?;
            // Nobody else can have set it meanwhile: a client stays on its thread.
            let _ = self.http.set(http);
        }
        self.http.get().ok_or_else(|| anyhow!("there is no HTTP client"))
    }

    fn unreachable(&self, lost: &Lost) -> Failure {
        Failure::Other(anyhow!(lost.explained(&self.target.url, self.language)))
    }
}

fn checked(response: Response) -> Result<Response, Failure> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.bytes().context("reading the answer")?;
    let problem = serde_json::from_slice::<Problem>(&body).unwrap_or_default();
    let told = if problem.code.is_empty() {
        let title = format!("{status}: {}", String::from_utf8_lossy(&body[..body.len().min(200)]));
        Problem { code: format!("http_{}", status.as_u16()), title, ..problem }
    } else {
        problem
    };
    Err(Failure::Refused(Box::new(Problem { status: status.as_u16(), ..told })))
}
