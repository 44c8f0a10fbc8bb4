//! Tables, sheets and CSV of answers.

use super::{Column, Show, cell, text_of};
use crate::language::Language;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;

/// The rows of an answer: its `items`, or itself.
pub fn rows(answer: &Value) -> Vec<&Value> {
    let items = answer.get("items").unwrap_or(answer);
    items.as_array().map_or_else(|| vec![items], |items| items.iter().collect())
}

/// A table of many objects, as wide as the terminal if that is known.
pub fn table(answer: &Value, columns: &[Column], language: Language, width: Option<u16>) -> String {
    let mut table = bare(width);
    table.set_header(columns.iter().map(|column| language.say(column.title)));
    let rows = rows(answer);
    let places: Vec<usize> = columns.iter().map(|column| places(rows.iter().filter_map(|row| row.pointer(column.at)))).collect();
    for row in rows {
        table.add_row(columns.iter().zip(&places).map(|(column, places)| in_column(row, column, *places, language)));
    }
    trimmed(&table)
}

/// One object, a line per field; fields that it lacks, or that are empty, are left out.
pub fn sheet(object: &Value, columns: &[Column], language: Language, width: Option<u16>) -> String {
    let mut table = bare(width);
    let is_there = |column: &&Column| object.pointer(column.at).is_some_and(|value| !cell::is_empty(value));
    let is_money = |column: &&Column| column.show == Show::Money;
    let places = places(columns.iter().filter(is_money).filter_map(|column| object.pointer(column.at)));
    for column in columns.iter().filter(is_there) {
        table.add_row([language.say(column.title).to_owned(), in_column(object, column, places, language)]);
    }
    trimmed(&table)
}

/// One field among others: amounts that stand in one column have the same number of decimals.
fn in_column(object: &Value, column: &Column, places: usize, language: Language) -> String {
    match object.pointer(column.at) {
        Some(value) if column.show == Show::Money && !value.is_null() => cell::money_to(value, places),
        value => cell::shown(value, column.show, language),
    }
}

/// How many decimals all these amounts need.
fn places<'a>(amounts: impl Iterator<Item = &'a Value>) -> usize {
    amounts.map(cell::places).max().unwrap_or(0)
}

fn bare(width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table
}

/// Without the spaces that only pad the last column and the first.
fn trimmed(table: &Table) -> String {
    table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The columns' fields as CSV (RFC 4180) under the names of the API, for spreadsheets and scripts: nothing is shortened.
pub fn csv(answer: &Value, columns: &[Column]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|column| column.at.trim_start_matches('/').replace('/', ".")))?;
    for row in rows(answer) {
        writer.write_record(columns.iter().map(|column| raw(column, row.pointer(column.at))))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn raw(column: &Column, value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        // What has parts is told as in a table: a cell has none.
        Some(value) if matches!(column.show, Show::Ask | Show::Grants | Show::Alternatives | Show::Cards) => {
            cell::shown(Some(value), column.show, Language::English)
        }
        // The currency stands in the JSON; a cell that a spreadsheet should add up is a number.
        Some(value) => value.get("amount").map_or_else(|| text_of(value), text_of),
    }
}
