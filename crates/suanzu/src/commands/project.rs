//! `suanzu project`: parts of a tenant.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::json;

/// What can be done with projects.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List projects
    List,
    /// Make a project
    Create {
        /// What people call it
        name: String,
    },
}

const COLUMNS: &[Column] = &[Column::new(&p::ID, "/id", Show::Text), Column::new(&p::NAME, "/name", Show::Text)];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/projects").of_tenant(), COLUMNS),
        Verb::Create { name } => app.object(Call::post("/v1/projects").of_tenant().body(json!({ "name": name })), COLUMNS),
    }
}
