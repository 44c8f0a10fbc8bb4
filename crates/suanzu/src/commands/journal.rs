//! `suanzu journal`: the record itself, read from the data folder.

use crate::{
    app::{App, Done},
    failure::Failure,
    language::phrases as p,
    output::{Column, Format, Show},
};
use anyhow::{Context as _, anyhow};
use clap::Subcommand;
use journal::{Header, Reader, Source, Stored};
use rental::{Event, Part};
use serde_json::{Value, json};
use std::{ops::ControlFlow, process::ExitCode};

/// What can be done with the journal.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show entries: header, and each owner's events
    Show {
        /// From this entry on
        #[arg(long, value_name = "SEQ", default_value_t = 1)]
        from: u64,
        /// At most so many
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: usize,
    },
}

const COLUMNS: &[Column] = &[
    Column::new(&p::ENTRY, "/seq", Show::Text),
    Column::new(&p::TIME, "/time", Show::Time),
    Column::new(&p::COMMAND, "/command", Show::Text),
    Column::new(&p::ACTOR, "/actor", Show::Text),
    Column::new(&p::EVENTS, "/kinds", Show::Text),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let Verb::Show { from, limit } = verb;
    let folder = app.data.as_ref().ok_or_else(|| Failure::Usage(app.screen.language.say(&p::NAME_A_FOLDER).into()))?;
    let reader = Reader::open(folder).with_context(|| format!("opening the journal in {}", folder.display()))?;
    let mut entries = Vec::new();
    let mut wrong = None;
    let read = reader.read((*from).max(1), &mut |stored| {
        match entry(&stored) {
            Ok(entry) => entries.push(entry),
            Err(error) => wrong = Some(error),
        }
        if wrong.is_none() && entries.len() < *limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    read.context("reading the journal")?;
    if let Some(error) = wrong {
        return Err(error.into());
    }
    // Kinds repeat what the parts say: they are there for the table's sake.
    let answer = if app.screen.format == Format::Table { entries } else { entries.into_iter().map(without_kinds).collect() };
    app.screen.list(&json!({ "items": answer }), COLUMNS)?;
    Ok(ExitCode::SUCCESS)
}

fn entry(stored: &Stored<'_>) -> anyhow::Result<Value> {
    let header = Header::decode(stored.seq, stored.header)?;
    let mut kinds = Vec::new();
    let mut parts = Vec::new();
    for bytes in &stored.parts {
        let part = Part::decode(bytes.bytes, bytes.owner).map_err(|e| anyhow!("entry {}: {e}", stored.seq))?;
        kinds.extend(part.events.iter().map(Event::kind));
        let totals = part.totals.map(|t| json!({ "charged": t.charged, "paid": t.paid }));
        parts.push(json!({
            "owner": part.owner.to_string(), "part_seq": part.part_seq, "totals": totals, "events": part.events,
        }));
    }
    Ok(json!({
        "seq": stored.seq, "time": header.time, "epoch": header.epoch, "log": header.log.to_string(),
        "command": header.command, "actor": header.actor, "kinds": kinds, "parts": parts,
    }))
}

fn without_kinds(mut entry: Value) -> Value {
    if let Some(fields) = entry.as_object_mut() {
        fields.remove("kinds");
    }
    entry
}
