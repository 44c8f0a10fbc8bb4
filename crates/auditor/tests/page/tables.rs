//! The tables of shapes and kinds against the source of the types that are stored.

use std::{collections::BTreeMap, fs};

/// Files that declare what is stored in parts.
const SOURCES: &[&str] = &[
    "units/src/time.rs",
    "units/src/share.rs",
    "units/src/ask.rs",
    "placement/src/spec.rs",
    "billing/src/prices.rs",
    "billing/src/book.rs",
    "rental/src/market/policy.rs",
    "rental/src/tenancy/state.rs",
    "rental/src/tenancy/access.rs",
    "rental/src/fleet/event.rs",
    "rental/src/market/event.rs",
    "rental/src/tenancy/event.rs",
    "rental/src/lease/event.rs",
    "rental/src/money/event.rs",
];

/// Shapes in these files that no event holds.
const NOT_STORED: &[&str] = &["node_status"];

/// One row: number, name, and the type or the payload.
type Row = (u32, String, String);
/// Rows by the heading of their table.
type Tables = BTreeMap<String, Vec<Row>>;

#[test]
fn every_kind_and_shape_stands_on_the_page_with_its_fields_and_types_and_no_other() {
    let mut stored = Tables::new();
    for file in SOURCES {
        let text = fs::read_to_string(super::root().join("crates").join(file)).expect("the core's source is beside us");
        read_source(&text, &mut stored);
    }
    for name in NOT_STORED {
        stored.remove(*name).expect("it is declared there");
    }
    let told = read_page(&super::page());
    for (heading, rows) in &stored {
        assert_eq!(told.get(heading), Some(rows), "the table of `{heading}` on the page, and the one in the source");
    }
    let extra: Vec<&String> = told.keys().filter(|heading| !stored.contains_key(*heading)).collect();
    assert_eq!(extra, Vec::<&String>::new(), "tables of what is not stored");
    assert!(stored.contains_key("money.charged/1") && stored.len() > 50, "the source was read");
}

/// The tables under the headings that are code, such as "### `grant`".
fn read_page(page: &str) -> Tables {
    let mut tables = Tables::new();
    let mut heading = None;
    for line in page.lines() {
        if line.starts_with('#') {
            let code = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`'));
            heading = code.map(str::to_owned);
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (Some(heading), Some(number)) = (&heading, cells.get(1).and_then(|cell| cell.parse().ok())) else { continue };
        // Of plain values there are three columns: value, name, meaning.
        let shape = if cells.len() == 6 { cells[3] } else { "" };
        tables.entry(heading.clone()).or_default().push((number, cells[2].trim_matches('`').into(), shape.into()));
    }
    tables
}

/// The stored types of a source file: kinds by their text, shapes by their name.
fn read_source(text: &str, tables: &mut Tables) {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut kinds = BTreeMap::new();
    let (mut derived, mut plain, mut heading, mut number) = (false, false, None::<String>, None::<u32>);
    for line in product.lines() {
        let code = line.trim();
        if let Some((name, kind)) = code.split_once(" = \"").filter(|_| line.starts_with("    ")) {
            kinds.insert(name.to_owned(), kind.trim_end_matches('"').to_owned());
        } else if code.starts_with("#[derive(") {
            (derived, plain) = (code.contains("Encode"), false);
        } else if code == "#[cbor(index_only)]" {
            plain = true;
        } else if let Some(name) = declared(code) {
            let name = name.to_owned();
            heading = derived.then(|| kinds.get(&name).cloned().unwrap_or_else(|| snake(&name)));
        } else if line == "}" {
            heading = None;
        } else if let Some(n) = numbered(code).filter(|_| heading.is_some()) {
            number = Some(n);
        } else if let (Some(heading), Some(n)) = (&heading, number.take_if(|_| !code.starts_with("//"))) {
            tables.entry(heading.clone()).or_default().push(row(n, code, plain));
        }
    }
}

fn declared(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("pub struct ").or_else(|| code.strip_prefix("pub enum "))?;
    rest.strip_suffix(" {")
}

fn numbered(code: &str) -> Option<u32> {
    let rest = code.strip_prefix("#[n(").or_else(|| code.strip_prefix("#[cbor(n("))?;
    rest.split(')').next()?.parse().ok()
}

/// A field `pub name: Type,` or a variant `Name,` or `Name(#[n(0)] Type, …),`.
fn row(number: u32, code: &str, plain: bool) -> Row {
    let code = code.trim_end_matches(',');
    if let Some((name, shape)) = code.strip_prefix("pub ").and_then(|field| field.split_once(": ")) {
        return (number, name.into(), type_name(shape));
    }
    let (name, payload) = code.split_once('(').unwrap_or((code, ""));
    let types: Vec<String> =
        payload.split(", ").filter_map(|t| t.trim_end_matches(')').rsplit("] ").next()).map(type_name).collect();
    let shape = if payload.is_empty() { "none".into() } else { types.join(", ") };
    (number, snake(name), if plain { String::new() } else { shape })
}

/// A type as the page names it.
fn type_name(shape: &str) -> String {
    let inner = |prefix: &str| shape.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inner("Option<") {
        return format!("{}?", type_name(inner));
    }
    if let Some(inner) = inner("Vec<") {
        return format!("[{}]", type_name(inner));
    }
    match shape {
        "u8" | "u16" | "u32" | "u64" => "unsigned".into(),
        "i64" => "integer".into(),
        "String" => "text".into(),
        "Move" => "[movement]".into(),
        "Owner" => "id".into(),
        id if id.ends_with("Id") => "id".into(),
        other => snake(other),
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[test]
fn choices_and_nulls_are_stored_as_the_notation_says() {
    assert_eq!(minicbor::to_vec(billing::Sku::Tflops).unwrap(), [0x82, 2, 0x80]);
    assert_eq!(minicbor::to_vec(units::Size::Units(units::UnitKind::Cpu, 5)).unwrap(), [0x82, 3, 0x82, 1, 5]);
    assert_eq!(minicbor::to_vec(units::Interval { from: units::Time(-1), until: None }).unwrap(), [0x81, 0x20]);
    assert_eq!(minicbor::to_vec(rental::lease::Reason::Lost).unwrap(), [8]);
}
