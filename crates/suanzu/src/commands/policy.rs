//! `suanzu policy`: the rules of the house.

use super::settings;
use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::Value;

/// What can be done with the policy.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the rules in force
    Show,
    /// Change some of them
    Set {
        /// FIELD=VALUE, such as lost_after_ms=1800000
        #[arg(required = true, value_name = "FIELD=VALUE", value_parser = settings::field)]
        fields: Vec<(String, Value)>,
    },
}

const COLUMNS: &[Column] = &[
    Column::new(&p::ARREARS_GRACE, "/arrears_grace_ms", Show::Milliseconds),
    Column::new(&p::SMALLEST_COMPUTE, "/share_compute", Show::Permille),
    Column::new(&p::SMALLEST_MEMORY, "/share_memory_mib", Show::Mib),
    Column::new(&p::QUEUE_BOUND, "/queue_bound_ms", Show::Milliseconds),
    Column::new(&p::UNSEEN_AFTER, "/unseen_after_ms", Show::Milliseconds),
    Column::new(&p::LOST_AFTER, "/lost_after_ms", Show::Milliseconds),
    Column::new(&p::CLOCK_OFF_MOST, "/clock_off_ms", Show::Milliseconds),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::Show => app.object(Call::get("/v1/policy"), COLUMNS),
        Verb::Set { fields } => app.object(settings::changed("/v1/policy", fields, &[], app)?, COLUMNS),
    }
}
