//! Keys that nobody could ask for over HTTP: the operator's first one, and those of the agents in this process.

use anyhow::{Context as _, anyhow};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use engine::{Attach, Handle, Submission};
use rental::{
    Command, Event,
    tenancy::{self, IssueKey, Role},
};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use units::{AgentId, KeyId, Owner};

/// The operator's first key, if there is none yet. Its secret exists nowhere else from now on.
pub fn operators(handle: &Handle) -> anyhow::Result<Option<(KeyId, String)>> {
    let known = handle.read(|state| state.tenancy.keys.values().any(|key| key.role == Role::Operator));
    if known {
        return Ok(None);
    }
    let secret = secret();
    let issue = IssueKey { role: Role::Operator, ..bare() };
    issue_key(handle, issue, &secret, "the operator's first key").map(|key| Some((key, secret)))
}

/// The key of an agent within this process. It is derived from the log's secret, so that a restart needs no new one.
pub fn agents(handle: &Handle, agent: AgentId) -> anyhow::Result<String> {
    let secret = spelled(&handle.keys().derive(&format!("own agent {agent}")));
    if handle.authenticate(&hash(&secret)).is_none() {
        let issue = IssueKey { role: Role::Agent, agent: Some(agent), ..bare() };
        issue_key(handle, issue, &secret, "an agent of the server's own process")?;
    }
    Ok(secret)
}

fn bare() -> IssueKey {
    IssueKey { owner: Owner::OPERATOR, user: None, project: None, role: Role::Viewer, expires: None, agent: None }
}

fn issue_key(handle: &Handle, issue: IssueKey, secret: &str, label: &str) -> anyhow::Result<KeyId> {
    let command = Command::Tenancy(tenancy::Command::IssueKey(issue));
    let attach = Attach::Key { hash: hash(secret), label: label.into() };
    let answer = handle.submit_blocking(Submission { attach, ..Submission::plain("server", command) });
    let answer = answer.context("making a key")?;
    let issued = answer.events.iter().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::KeyIssued(issued)) => Some(issued.key),
        _ => None,
    });
    issued.ok_or_else(|| anyhow!("no key was issued"))
}

/// A new secret: 256 random bits.
fn secret() -> String {
    let mut bytes = [0_u8; 32];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    spelled(&bytes)
}

fn spelled(bytes: &[u8]) -> String {
    format!("sz_{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// What is kept of a secret.
fn hash(secret: &str) -> [u8; 32] {
    digest(&SHA256, secret.as_bytes()).as_ref().try_into().expect("SHA-256 is 32 bytes")
}
