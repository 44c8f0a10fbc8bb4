//! `suanzu user`: people and what they may do.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::json;
use units::UserId;

/// What can be done with people.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List people
    List,
    /// Add a person
    Add {
        /// Name for people
        name: String,
        /// What they may do at most
        #[arg(long, default_value = "member", value_parser = ROLES)]
        role: String,
    },
    /// Change what a person may do
    Set {
        /// Id of the person, such as user-2
        user: UserId,
        /// What they may do at most
        #[arg(value_parser = ROLES)]
        role: String,
    },
    /// Take a person out; their keys are void
    Remove {
        /// Id of the person, such as user-2
        user: UserId,
    },
}

/// Roles that a tenant gives out.
pub const ROLES: [&str; 3] = ["viewer", "member", "admin"];

const COLUMNS: &[Column] = &[
    Column::new(&p::ID, "/id", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::ROLE, "/role", Show::Word),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/users").of_tenant(), COLUMNS),
        Verb::Add { name, role } => {
            app.object(Call::post("/v1/users").of_tenant().body(json!({ "name": name, "role": role })), COLUMNS)
        }
        Verb::Set { user, role } => {
            app.object(Call::put(format!("/v1/users/{user}")).of_tenant().body(json!({ "role": role })), COLUMNS)
        }
        Verb::Remove { user } => app.object(Call::delete(format!("/v1/users/{user}")).of_tenant(), COLUMNS),
    }
}
