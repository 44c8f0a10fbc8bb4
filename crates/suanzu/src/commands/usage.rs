//! `suanzu usage`: what was used and what it cost, gathered as asked.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::{Args, ValueEnum};

/// Which use, and how it is gathered.
#[derive(Debug, Args)]
pub struct Query {
    /// From when on (RFC 3339)
    #[arg(long, value_name = "INSTANT")]
    from: Option<String>,
    /// Until when, that instant not included (RFC 3339)
    #[arg(long, value_name = "INSTANT")]
    until: Option<String>,
    /// One line for each
    #[arg(long, value_name = "WHAT", default_value = "lease")]
    group_by: Group,
}

/// What makes a line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Group {
    Lease,
    Sku,
    Day,
    Project,
}

const COLUMNS: &[Column] = &[
    Column::new(&p::WHAT, "/group", Show::Text),
    Column::new(&p::HOURS, "/hours", Show::Text),
    Column::new(&p::SECONDS, "/seconds", Show::Text),
    Column::new(&p::AMOUNT, "/amount", Show::Money),
];

/// Carries it out.
pub fn run(query: &Query, app: &App) -> Done {
    let group = match query.group_by {
        Group::Lease => "lease",
        Group::Sku => "sku",
        Group::Day => "day",
        Group::Project => "project",
    };
    let call = Call::get("/v1/usage").of_tenant().query("group_by", group);
    app.list(call.maybe("from", query.from.as_deref()).maybe("until", query.until.as_deref()), COLUMNS)
}
