//! `suanzu lease receipt`: what was charged and why, with the proof.

use super::lease::Which;
use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::{Language, phrases as p, word},
    output::{Column, Format, Screen, Show, money, table, text_of},
};
use anyhow::Context as _;
use serde_json::{Value, json};
use std::{fs, path::Path, process::ExitCode};

/// Fields of a line.
const LINES: &[Column] = &[
    Column::new(&p::KIND, "/kind", Show::Word),
    Column::new(&p::FROM, "/from", Show::Text),
    Column::new(&p::UNTIL, "/until", Show::Text),
    Column::new(&p::SECONDS, "/seconds", Show::Text),
    Column::new(&p::SKU, "/sku", Show::Text),
    Column::new(&p::QUANTITY, "/quantity", Show::Text),
    Column::new(&p::UNIT_PRICE, "/unit_price", Show::Money),
    Column::new(&p::AMOUNT, "/amount", Show::Money),
];

/// Carries it out.
pub fn run(which: &Which, save: Option<&Path>, app: &App) -> Done {
    let receipt = app.send(Call::get(which.path("/receipt")))?.body;
    if let Some(file) = save {
        keep(&receipt, file)?;
        app.screen.say(&p::RECEIPT_KEPT, &[&file.display().to_string()]);
    }
    show(&receipt, &app.screen)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes receipt and proof into a file.
pub fn keep(receipt: &Value, file: &Path) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(receipt).context("writing the receipt")?;
    fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    Ok(())
}

/// Shows it: a table with the total beneath, or as it is for programs.
pub fn show(receipt: &Value, screen: &Screen) -> Result<(), Failure> {
    if screen.format == Format::Table && !screen.ids_only {
        return screen.write(&for_people(receipt, screen));
    }
    let lines = json!({ "items": receipt["lines"] });
    let answer = if screen.format == Format::Csv { &lines } else { receipt };
    screen.list(answer, LINES)
}

/// The receipt as people read it.
pub fn for_people(receipt: &Value, screen: &Screen) -> String {
    let language = screen.language;
    let lines = table(&json!({ "items": receipt["lines"] }), LINES, language, None);
    let total = language.fill(&p::RECEIPT_TOTAL, &[&text_of(&receipt["lease"]["id"]), &money(&receipt["total"])]);
    // The server's sentence is English; the reason itself is a word that we know.
    let reason = match language {
        Language::English => text_of(&receipt["reason"]),
        Language::Chinese => word(language, &text_of(&receipt["lease"]["reason"])),
    };
    let why = if reason.is_empty() { String::new() } else { format!("\n{}", language.fill(&p::RECEIPT_REASON, &[&reason])) };
    format!("{lines}\n{total}{why}")
}
