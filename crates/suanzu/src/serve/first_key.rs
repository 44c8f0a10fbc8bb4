//! Keys that nobody could ask for over HTTP: the operator's first one, and those of the agents in this process.

use anyhow::{Context as _, anyhow};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use engine::{Attach, Handle, Submission};
use rental::{
    Command,
    tenancy::{self, IssueKey, Role},
};
use ring::digest::{SHA256, digest};
use server::App;
use units::{AgentId, KeyId, Owner};

/// The operator's first key, if there is none yet. Its secret exists nowhere else from now on.
pub async fn operators(app: &App) -> anyhow::Result<Option<(KeyId, String)>> {
    let known = app.handle().read(|state| state.tenancy.keys.values().any(|key| key.role == Role::Operator));
    if known {
        return Ok(None);
    }
    let issued = app.issue_operator_key("the operator's first key").await;
    issued.map(Some).map_err(|problem| anyhow!("making the operator's key: {}", problem.detail()))
}

/// The key of an agent within this process. It is derived from the log's secret, so that a restart needs no new one.
pub fn agents(handle: &Handle, agent: AgentId) -> anyhow::Result<String> {
    let derived = handle.keys().derive(&format!("own agent {agent}"));
    let secret = format!("sz_{}", BASE64_URL_SAFE_NO_PAD.encode(derived));
    let hash = digest(&SHA256, secret.as_bytes()).as_ref().try_into().expect("SHA-256 is 32 bytes");
    if handle.authenticate(&hash).is_none() {
        let bounds =
            IssueKey { owner: Owner::OPERATOR, user: None, project: None, role: Role::Agent, expires: None, agent: Some(agent) };
        let command = Command::Tenancy(tenancy::Command::IssueKey(bounds));
        let attach = Attach::Key { hash, label: "an agent of the server's own process".into() };
        handle.submit_blocking(Submission { attach, ..Submission::plain("server", command) }).context("making an agent's key")?;
    }
    Ok(secret)
}
