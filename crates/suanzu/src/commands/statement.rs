//! `suanzu wallet statement`: what each posting did for the tenant.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Format, Show, text_of},
};
use serde_json::{Value, json};
use units::Ticks;

const COLUMNS: &[Column] = &[
    Column::new(&p::TIME, "/time", Show::Time),
    Column::new(&p::KIND, "/kind", Show::Posting),
    Column::new(&p::LEASE, "/lease", Show::Text),
    Column::new(&p::AMOUNT, "/amount", Show::Money),
    Column::new(&p::CHANGE, "/change", Show::Money),
    Column::new(&p::NOTE, "/note", Show::Text),
];

/// Carries it out.
pub fn run(app: &App) -> Done {
    app.shown(Call::get("/v1/wallet/statement").of_tenant(), |answer| match app.screen.format {
        Format::Table | Format::Csv => app.screen.list(&for_people(answer), COLUMNS),
        Format::Json | Format::Yaml => app.screen.list(answer, COLUMNS),
    })
}

/// The postings, each with its amount and what is noted beside it.
fn for_people(statement: &Value) -> Value {
    let items = statement["items"].as_array().into_iter().flatten();
    let told = items.map(|posting| {
        let mut told = posting.clone();
        let data = &posting["data"];
        let note = ["reason", "payment"].iter().map(|field| text_of(&data[field])).find(|text| !text.is_empty());
        told["note"] = json!(note);
        told["amount"] = amount(data).map_or(Value::Null, money);
        told
    });
    json!({ "items": told.collect::<Vec<_>>() })
}

/// How much was charged, held, paid and so on. A change of what is free to use does not tell: a charge takes what was held.
fn amount(data: &Value) -> Option<Ticks> {
    if let Some(told) = ticks(&data["ticks"]).or_else(|| ticks(&data["limit"])) {
        return Some(told);
    }
    let moves = data["moves"].as_array()?;
    let sum = |end: &str, account: &str| -> Ticks {
        moves.iter().filter(|movement| movement[end] == account).filter_map(|movement| ticks(&movement["ticks"])).sum()
    };
    let all: Ticks = moves.iter().filter_map(|movement| ticks(&movement["ticks"])).sum();
    // A correction is the only one of these that can take from the tenant.
    Some(if sum("to", "adjustments") > Ticks::ZERO { Ticks(-all.0) } else { all })
}

fn ticks(value: &Value) -> Option<Ticks> {
    text_of(value).parse().ok().map(Ticks)
}

fn money(ticks: Ticks) -> Value {
    json!({ "amount": ticks.amount(), "currency": "CNY", "ticks": ticks.0.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{language::Language, output::table};

    fn posting(kind: &str, data: Value, change: i128) -> Value {
        let change = money(Ticks(change * Ticks::PER_MICRO));
        json!({ "time": "2026-05-01T01:00:00.000Z", "kind": kind, "lease": data["lease"], "change": change, "data": data })
    }

    fn moved(from: &str, to: &str, micro: i128) -> Value {
        json!([{ "from": from, "to": to, "ticks": (micro * Ticks::PER_MICRO).to_string() }])
    }

    #[test]
    fn each_line_says_what_it_did_in_words_and_how_much() {
        let yuan = |yuan: i128| (yuan * 1_000_000 * Ticks::PER_MICRO).to_string();
        let items = json!([
            posting(
                "money.adjusted/1",
                json!({ "reason": "no service", "moves": moved("wallet", "adjustments", 500_000) }),
                -500_000
            ),
            posting(
                "money.hold_released/1",
                json!({ "lease": "lease-16", "moves": moved("held", "wallet", 5_140_000) }),
                5_140_000
            ),
            posting(
                "money.charged/1",
                json!({ "lease": "lease-16", "ticks": (4_860_000 * Ticks::PER_MICRO).to_string(), "moves": moved("held", "revenue", 4_860_000) }),
                0
            ),
            posting("money.held/1", json!({ "lease": "lease-16", "moves": moved("wallet", "held", 10_000_000) }), -10_000_000),
            posting(
                "money.paid/1",
                json!({ "payment": "cash-1", "ticks": yuan(100), "moves": moved("cash", "wallet", 100_000_000) }),
                100_000_000
            ),
            posting("money.credit_set/1", json!({ "limit": yuan(50) }), 0),
        ]);
        let told = for_people(&json!({ "items": items }));
        let spoken = |language| table(&told, COLUMNS, language, None);
        insta::assert_snapshot!(format!("{}\n\n{}", spoken(Language::English), spoken(Language::Chinese)));
    }
}
