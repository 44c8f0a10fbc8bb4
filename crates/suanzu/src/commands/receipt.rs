//! `suanzu lease receipt`: what was charged and why, with the proof.

use super::lease::Which;
use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::{Language, phrases as p, word},
    output::{Column, Format, Screen, Show, add_up, money, money_to, places, table, text_of},
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
    let (language, lease) = (screen.language, &receipt["lease"]);
    let mut rows = receipt["lines"].as_array().cloned().unwrap_or_default();
    add_up(&mut rows, "/amount");
    let decimals = rows.iter().map(|row| &row["amount"]).chain([&receipt["total"]]).map(places).max().unwrap_or(0);
    let lines = if rows.is_empty() { String::new() } else { table(&json!({ "items": rows }), LINES, language, None) + "\n" };
    let (id, total) = (text_of(&lease["id"]), money_to(&receipt["total"], decimals));
    let still = match lease["state"].as_str() {
        Some("running") => Some((&p::RECEIPT_RUNS, vec![id.clone(), money(&lease["cost_so_far"]), text_of(&lease["as_of"])])),
        Some("queued" | "starting") => Some((&p::RECEIPT_NOT_YET, vec![id.clone()])),
        _ => None,
    };
    if let Some((phrase, values)) = still {
        let said = language.fill(phrase, &values.iter().map(String::as_str).collect::<Vec<_>>());
        return format!("{lines}{}\n{said}", language.fill(&p::RECEIPT_POSTED, &[&id, &total]));
    }
    let total = language.fill(&p::RECEIPT_TOTAL, &[&id, &total]);
    // The server's sentence is English; the reason itself is a word that we know.
    let reason = match language {
        Language::English => text_of(&receipt["reason"]),
        Language::Chinese => word(language, &text_of(&lease["reason"])),
    };
    let why = if reason.is_empty() { String::new() } else { format!("\n{}", language.fill(&p::RECEIPT_REASON, &[&reason])) };
    format!("{lines}{total}{why}")
}
