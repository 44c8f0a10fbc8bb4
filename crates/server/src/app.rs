//! What every request shares: the way to the writer, the tables that live as long as the process, the settings.

use crate::{Caller, Problem, agents::Agents, counters::Counters, secrets, sessions::Sessions, signed_in::SignedIn};
use engine::{Answer, Attach, Failure, Follower, Handle, Idempotency, Scope, Submission, views::Within};
use rental::{
    Command, Event,
    tenancy::{self, IssueKey, Role},
};
use ring::hmac;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard, watch};
use units::{KeyId, LeaseId, Owner, TenantId};

/// Where the server is found. Everything that decisions read comes from the journal, not from here.
#[derive(Debug, Clone)]
pub struct Config {
    /// How clients reach it, such as `https://gpu.example.com:8443`.
    pub public_url: String,
}

/// The server's shared state. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    handle: Handle,
    views: Follower,
    config: Config,
    lease_key: hmac::Key,
    page_key: hmac::Key,
    signed_in: SignedIn,
    sessions: Sessions,
    agents: Agents,
    counters: Counters,
    closing: watch::Sender<bool>,
    turn: Mutex<()>,
}

impl App {
    /// A server in front of this writer and the views that follow it.
    pub fn new(handle: Handle, views: Follower, config: Config) -> App {
        let derived = |purpose| hmac::Key::new(hmac::HMAC_SHA256, &handle.keys().derive(purpose));
        App(Arc::new(Inner {
            lease_key: derived("lease-key"),
            page_key: derived("page"),
            signed_in: SignedIn::default(),
            sessions: Sessions::default(),
            agents: Agents::default(),
            counters: Counters::default(),
            closing: watch::Sender::new(false),
            turn: Mutex::default(),
            handle,
            views,
            config,
        }))
    }

    /// The way to the writer.
    pub fn handle(&self) -> &Handle {
        &self.0.handle
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// A link that signs a browser in once, with the rights of this key.
    pub fn sign_in_link(&self, key: KeyId) -> String {
        format!("{}/sign-in/{}", self.config().public_url, self.signed_in().link(key, self.handle().now()))
    }

    /// Issues a key of the operator's, with its secret: for whoever starts the server on its own data folder.
    pub async fn issue_operator_key(&self, label: &str) -> Result<(KeyId, String), Problem> {
        self.issue_key(Owner::OPERATOR, Role::Operator, label).await
    }

    /// Issues a key of a tenant's, with its secret.
    pub async fn issue_tenant_key(&self, tenant: TenantId, role: Role) -> Result<(KeyId, String), Problem> {
        self.issue_key(tenant.into(), role, "").await
    }

    async fn issue_key(&self, owner: Owner, role: Role, label: &str) -> Result<(KeyId, String), Problem> {
        let (secret, hash) = secrets::api_key();
        let bounds = IssueKey { owner, user: None, project: None, role, expires: None, agent: None };
        let command = Command::Tenancy(tenancy::Command::IssueKey(bounds));
        let attach = Attach::Key { hash, label: label.to_owned() };
        let answer = self.handle().submit(Submission { attach, ..Submission::plain("operator", command) }).await?;
        let issued = answer.events().find_map(|event| match event {
            Event::Tenancy(tenancy::Event::KeyIssued(e)) => Some(e.key),
            _ => None,
        });
        Ok((issued.expect("an entry that issues a key says which"), secret))
    }

    /// The lease's own key: it can only see and stop this lease.
    pub fn lease_secret(&self, lease: LeaseId) -> String {
        secrets::of_lease(self.lease_key(), lease)
    }

    /// Ends long polls and streams, so that a graceful stop does not wait for them.
    pub fn close(&self) {
        self.0.closing.send_replace(true);
    }

    /// Resolves once [`App::close`] was called.
    pub async fn closed(&self) {
        // An error would mean that the sender is gone, and it lives as long as this app.
        let _ = self.0.closing.subscribe().wait_for(|closing| *closing).await;
    }

    pub(crate) fn lease_key(&self) -> &hmac::Key {
        &self.0.lease_key
    }

    pub(crate) fn page_key(&self) -> &hmac::Key {
        &self.0.page_key
    }

    pub(crate) fn signed_in(&self) -> &SignedIn {
        &self.0.signed_in
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.0.agents
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Submits a caller's wish.
    pub(crate) async fn submit(
        &self,
        caller: &Caller,
        idempotency: Option<Idempotency>,
        command: Command,
        attach: Attach,
    ) -> Result<Answer, Problem> {
        let submission = Submission { actor: caller.who.to_string(), idempotency, command, attach };
        Ok(self.handle().submit(submission).await?)
    }

    /// What the request led to if it was made before: whoever repeats it is not refused for what has changed since.
    pub(crate) async fn first_answer(&self, idempotency: Option<Idempotency>) -> Result<Option<Answer>, Problem> {
        match idempotency {
            Some(asked) => Ok(self.handle().first_answer(asked).await?),
            None => Ok(None),
        }
    }

    /// The views that follow the writer.
    pub(crate) fn views(&self) -> &Follower {
        &self.0.views
    }

    /// Asks the views inside a scope, on a thread that may wait for the disk.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        scope: impl Into<Scope>,
        ask: impl FnOnce(&Within<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Problem> {
        let scope = scope.into();
        self.blocking(move |app| Ok(app.views().query(|queries| ask(&queries.within(scope)))?)).await
    }

    /// Runs what reads the disk on a thread that may wait for it.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|_| Err(Problem::new("internal", "the work was not finished")))
    }

    /// One at a time: whoever compares a version before he writes must not be overtaken in between.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.0.turn.lock().await
    }

    /// The entry of an answer; where nothing had to be written, the last one.
    pub(crate) fn seq_of(&self, answer: &Answer) -> u64 {
        answer.seq.unwrap_or_else(|| self.handle().head().size)
    }
}
