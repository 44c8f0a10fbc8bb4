//! `suanzu usage`: what was used and what it cost, gathered as asked.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Format, Show, money},
};
use clap::Args;
use std::process::ExitCode;

/// Which use, and how it is gathered.
#[derive(Debug, Args)]
pub struct Query {
    /// From when on (RFC 3339)
    #[arg(long, value_name = "INSTANT")]
    from: Option<String>,
    /// Until when, that instant not included (RFC 3339)
    #[arg(long, value_name = "INSTANT")]
    until: Option<String>,
    /// One line for each of lease, sku, day, project or tenant; several with commas
    #[arg(long, value_name = "WHAT", default_value = "lease")]
    group_by: String,
}

const COLUMNS: &[Column] = &[
    Column::new(&p::WHAT, "/keys", Show::Text),
    Column::new(&p::HOURS, "/quantity_hours", Show::Text),
    Column::new(&p::LINES, "/count", Show::Text),
    Column::new(&p::AMOUNT, "/amount", Show::Money),
];

/// Carries it out.
pub fn run(query: &Query, app: &App) -> Done {
    let call = Call::get("/v1/usage").of_tenant().query("group_by", query.group_by.as_str());
    let call = call.maybe("from", query.from.as_deref()).maybe("until", query.until.as_deref());
    let usage = app.send(call)?.body;
    app.screen.list(&usage, COLUMNS)?;
    if app.screen.format == Format::Table && !app.screen.ids_only {
        app.screen.say(&p::USAGE_TOTAL, &[&money(&usage["total"])]);
    }
    Ok(ExitCode::SUCCESS)
}
