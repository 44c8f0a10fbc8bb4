//! `suanzu key`: API keys. A secret is shown once.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::json;
use units::{KeyId, ProjectId, UserId};

/// What can be done with keys.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List keys; secrets are not kept and cannot be shown
    List,
    /// Make a key; its secret is shown this once
    Issue {
        /// What people call it
        label: String,
        /// What it may do at most
        #[arg(long, default_value = "member", value_parser = ["viewer", "member", "admin", "operator"])]
        role: String,
        /// On behalf of this person
        #[arg(long, value_name = "ID")]
        user: Option<UserId>,
        /// Only in this project
        #[arg(long, value_name = "ID")]
        project: Option<ProjectId>,
        /// Void from this instant on (RFC 3339)
        #[arg(long, value_name = "INSTANT")]
        expires: Option<String>,
    },
    /// End a key
    Revoke {
        /// Id of the key, such as key-4
        #[arg(value_name = "KEY", id = "which_key")]
        key: KeyId,
    },
}

const COLUMNS: &[Column] = &[
    Column::new(&p::ID, "/id", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::ROLE, "/role", Show::Word),
    Column::new(&p::PROJECT, "/project", Show::Text),
    Column::new(&p::USER, "/user", Show::Text),
    Column::new(&p::AGENT, "/agent", Show::Text),
    Column::new(&p::EXPIRES, "/expires", Show::Time),
    Column::new(&p::REVOKED, "/revoked", Show::Word),
];

/// Fields of a key that has just been issued.
const ISSUED: &[Column] = &[Column::new(&p::ID, "/key", Show::Text), Column::new(&p::SECRET_ONCE, "/secret", Show::Text)];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/keys").of_tenant(), COLUMNS),
        Verb::Issue { label, role, user, project, expires } => {
            let body = json!({ "name": label, "role": role, "user": user, "project": project, "expires": expires });
            app.object(Call::post("/v1/keys").of_tenant().body(body), ISSUED)
        }
        Verb::Revoke { key } => app.object(Call::delete(format!("/v1/keys/{key}")).of_tenant(), COLUMNS),
    }
}
