//! `suanzu event`: what happened, one line an event.

use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::phrases as p,
    output::{Column, Format, Show, text_of},
};
use clap::Subcommand;
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    process::ExitCode,
};

/// What can be done with events.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List events
    List {
        /// Go on with those that come
        #[arg(short, long)]
        follow: bool,
        /// Only those after this entry
        #[arg(long, value_name = "SEQ")]
        after: Option<u64>,
    },
}

const COLUMNS: &[Column] = &[
    Column::new(&p::ENTRY, "/id", Show::Text),
    Column::new(&p::TIME, "/time", Show::Time),
    Column::new(&p::EVENT, "/type", Show::Text),
    Column::new(&p::SUBJECT, "/subject", Show::Text),
    Column::new(&p::DATA, "/data", Show::Text),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let Verb::List { follow, after } = verb;
    let call = Call::get("/v1/events").of_tenant().maybe("after", after.map(|seq| seq.to_string()));
    if !follow {
        return app.list(call, COLUMNS);
    }
    let stream = app.client.stream(call.query("follow", "true"))?;
    for line in BufReader::new(stream).lines() {
        // Server-sent events: the lines that matter begin with `data:` (WHATWG HTML, 9.2.6).
        if let Some(data) = line?.strip_prefix("data:") {
            one(data.trim(), app)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn one(json: &str, app: &App) -> Result<(), Failure> {
    let Ok(event) = serde_json::from_str::<Value>(json) else { return Ok(()) };
    if app.screen.format != Format::Table {
        return app.screen.write(json);
    }
    let field = |name: &str| text_of(&event[name]);
    app.screen.write(&format!("{:>6}  {}  {:<24} {}", field("id"), field("time"), field("type"), field("data")))
}
