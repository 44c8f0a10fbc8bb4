//! What people see, held as it is in both languages.

use super::{lease, node, offer, quote, receipt, wallet};
use crate::{
    language::Language,
    output::{Column, Format, Screen, csv, sheet, table},
};
use serde_json::{Value, json};

type Shape = fn(&Value, &[Column], Language, Option<u16>) -> String;

fn both(shape: Shape, answer: &Value, columns: &[Column]) -> String {
    let spoken = |language| shape(answer, columns, language, None);
    format!("{}\n\n{}", spoken(Language::English), spoken(Language::Chinese))
}

fn cny(amount: &str) -> Value {
    json!({ "amount": amount, "currency": "CNY", "ticks": "0" })
}

fn running() -> Value {
    json!({
        "id": "lease-1042", "name": "training", "project": "project-1", "state": "running", "reason": null, "detail": "",
        "since": "2026-05-01T01:00:02.250Z", "requested": "2026-05-01T01:00:00.000Z", "ready": "2026-05-01T01:00:02.250Z",
        "ended": null, "simulated": true, "price_per_hour": cny("30.000000"), "cost_so_far": cny("12.345678"),
        "funded_until": "2026-05-01T02:00:02.250Z", "until": null, "attempt": 1, "progress": null, "place_in_queue": null,
        "ask": { "size": { "cards": 2 }, "models": ["A100-80GB"], "card_memory_mib": 0 },
        "grants": [{ "node": "node-3", "devices": [{ "device": "device-9" }, { "device": "device-10" }] }],
        "actions": ["stop", "destroy", "extend"],
    })
}

fn queued() -> Value {
    json!({
        "id": "lease-1043", "name": null, "state": "queued", "since": "2026-05-01T01:10:00.000Z", "simulated": false,
        "price_per_hour": null, "cost_so_far": cny("0.000000"), "place_in_queue": 1,
        "ask": { "size": { "share": { "compute": 250, "memory_mib": 20_480 } }, "models": ["A100-80GB", "A100-40GB"] },
    })
}

#[test]
fn leases_in_a_list() {
    insta::assert_snapshot!(both(table, &json!({ "items": [running(), queued()] }), lease::ROWS));
}

#[test]
fn one_lease() {
    insta::assert_snapshot!(both(sheet, &running(), lease::SHEET));
}

#[test]
fn leases_for_a_spreadsheet() {
    insta::assert_snapshot!(csv(&json!({ "items": [running(), queued()] }), lease::ROWS).expect("columns and rows fit"));
}

#[test]
fn offers() {
    let card = json!({
        "sku": "card/A100-80GB", "model": "A100-80GB", "memory_mib": 81_920, "price_per_hour": cny("15.000000"), "free": "14",
        "total": "16", "smallest_share": { "compute": 100, "memory_mib": 4_096 }, "isolation": "soft", "simulated": true,
    });
    let cpu = json!({
        "sku": "unit/cpu", "model": null, "memory_mib": null, "price_per_hour": cny("0.360000"), "free": "1.5", "total": "2",
        "smallest_share": null, "isolation": "whole", "simulated": false,
    });
    insta::assert_snapshot!(both(table, &json!({ "items": [card, cpu] }), offer::COLUMNS));
}

#[test]
fn a_quote_that_would_be_refused() {
    let quote = json!({
        "state": null, "sku": null, "price_per_hour": null, "hold": cny("0.000000"), "placement": [],
        "refusal": {
            "code": "no_capacity", "detail": "no room now", "reasons": ["2 nodes: too few free cards"],
            "alternatives": [{ "change": "fewer", "order": { "size": { "cards": 4 }, "models": ["A100-80GB"] } }],
        },
    });
    insta::assert_snapshot!(both(sheet, &quote, quote::COLUMNS));
}

#[test]
fn nodes() {
    let node = json!({
        "id": "node-3", "name": "sim-a100-a", "pool": "pool-2", "agent": "agent-2", "mark": "offered",
        "last_heard": "2026-05-01T01:00:02.250Z", "clock_off_ms": 3, "labels": ["simulated", "pool=simulated"],
        "cpu": { "taken": "0", "total": "128" }, "memory_mib": { "taken": "0", "total": "1048576" }, "leases": ["lease-1042"],
        "devices": [{ "model": "A100-80GB" }, { "model": "A100-80GB" }],
    });
    insta::assert_snapshot!(both(table, &json!({ "items": [node] }), node::COLUMNS));
}

#[test]
fn a_wallet() {
    let wallet = json!({
        "tenant": "tenant-1", "available": cny("499.500000"), "wallet": cny("400.000000"), "held": cny("0.360000"),
        "owed": cny("0.000000"), "credit_limit": cny("100.000000"), "charged": cny("0.140001"), "paid": cny("500.000000"),
    });
    insta::assert_snapshot!(both(sheet, &wallet, wallet::COLUMNS));
}

#[test]
fn a_receipt() {
    let exact = || json!({ "amount": "0.086681", "currency": "CNY", "ticks": "28084725000000000" });
    let line = json!({
        "kind": "charged", "from": "2026-05-01T01:00:02.250Z", "until": "2026-05-01T01:01:25.464Z", "seconds": "83.214",
        "sku": "card/A100-80GB", "quantity": "0.25", "unit_price": "15", "amount": exact(), "seq": 17,
    });
    let whole = json!({ "lease": { "id": "lease-7", "reason": "stopped" }, "lines": [line], "total": exact(), "runs": 1, "reason": "you stopped it" });
    let screen = |language| Screen { format: Format::Table, ids_only: false, language, yes: false };
    let spoken = |language| receipt::for_people(&whole, &screen(language));
    insta::assert_snapshot!(format!("{}\n\n{}", spoken(Language::English), spoken(Language::Chinese)));
}

#[test]
fn a_receipt_of_what_still_runs() {
    let lease =
        json!({ "id": "lease-7", "state": "running", "cost_so_far": cny("0.012345"), "as_of": "2026-05-01T01:00:05.000Z" });
    let receipt = json!({ "lease": lease, "lines": [], "total": cny("0.000000"), "runs": 1, "reason": null });
    let screen = |language| Screen { format: Format::Table, ids_only: false, language, yes: false };
    let spoken = |language| receipt::for_people(&receipt, &screen(language));
    insta::assert_snapshot!(format!("{}\n\n{}", spoken(Language::English), spoken(Language::Chinese)));
}
