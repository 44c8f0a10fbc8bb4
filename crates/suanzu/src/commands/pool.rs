//! `suanzu pool`: servers that are scheduled together.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::json;

/// What can be done with pools.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List pools
    List,
    /// Add a pool
    Add {
        /// Its name, unique
        name: String,
    },
}

const COLUMNS: &[Column] = &[Column::new(&p::ID, "/id", Show::Text), Column::new(&p::NAME, "/name", Show::Text)];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/pools"), COLUMNS),
        Verb::Add { name } => app.object(Call::post("/v1/pools").body(json!({ "name": name })), COLUMNS),
    }
}
