//! One field as people read it. What is not known is `–`, never 0.

use super::Show;
use crate::{
    ask,
    language::{Language, phrases, word},
};
use serde_json::Value;

const UNKNOWN: &str = "–";

/// The field as text in this language.
pub fn shown(value: Option<&Value>, show: Show, language: Language) -> String {
    let Some(value) = value.filter(|value| !is_empty(value)) else { return UNKNOWN.into() };
    match show {
        Show::Text => text_of(value),
        Show::Word => each(value, |one| word(language, &text_of(one))),
        Show::Money => money(value),
        Show::Posting => posting(&text_of(value), language),
        Show::Time => value.as_str().map_or_else(|| text_of(value), instant),
        Show::Mib => number(value).map_or_else(|| text_of(value), |mib| format!("{} GiB", decimal(mib / 1024.0, 1))),
        Show::Permille => value.as_f64().map_or_else(|| text_of(value), |permille| format!("{} %", decimal(permille / 10.0, 1))),
        Show::Simulated if value == &Value::Bool(false) => language.say(&phrases::IS_REAL).into(),
        Show::Simulated => language.say(&phrases::IS_SIMULATED).into(),
        Show::Milliseconds => value.as_i64().map_or_else(|| text_of(value), ask::spoken),
        Show::Ask => asked(value, language),
        Show::Grants => grants(value),
        Show::Alternatives => each(value, |other| asked(&other["order"], language)),
        Show::Taken => format!("{} / {}", text_of(&value["taken"]), text_of(&value["total"])),
        Show::Cards => cards(value),
        Show::Labels => each(value, |label| match label.as_str() {
            Some("simulated") => language.say(&phrases::IS_SIMULATED).into(),
            _ => text_of(label),
        }),
    }
}

/// `money.charged/1` without what only programs tell apart.
fn posting(kind: &str, language: Language) -> String {
    let name = kind.strip_prefix("money.").unwrap_or(kind);
    let name = name.split_once('/').map_or(name, |(name, _)| name);
    // Of a node the word says that it is not heard.
    word(language, if name == "lost" { "written_off" } else { name })
}

/// A number, also one that is spoken as text.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Whether there is nothing to show.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(Value::is_null),
        _ => false,
    }
}

/// `8 × A100-80GB`, `25 % + 20 GiB of A100-80GB`, `2 servers`, `4 cpu`.
fn asked(ask: &Value, language: Language) -> String {
    let models =
        ask["models"].as_array().map(|names| names.iter().map(text_of).collect::<Vec<_>>().join("|")).unwrap_or_default();
    let least = ask["card_memory_mib"].as_f64().filter(|mib| *mib > 0.0);
    let which = match (models.is_empty(), least) {
        (false, _) => models,
        (true, Some(mib)) => format!("GPU ≥ {} GiB", decimal(mib / 1024.0, 1)),
        (true, None) => "GPU".into(),
    };
    let size = &ask["size"];
    if let Some(cards) = size["cards"].as_u64() {
        format!("{cards} × {which}")
    } else if let Some(servers) = size["servers"].as_u64() {
        format!("{servers} × {} {which}", language.say(&phrases::SERVER))
    } else if let Some(compute) = size["share"]["compute"].as_f64() {
        let memory = size["share"]["memory_mib"].as_f64().unwrap_or(0.0) / 1024.0;
        format!("{} % + {} GiB {which}", decimal(compute / 10.0, 1), decimal(memory, 1))
    } else {
        let units = &size["units"];
        format!("{} {}", text_of(&units["amount"]), word(language, &text_of(&units["kind"])))
    }
}

/// `8 × A100-80GB`.
fn cards(value: &Value) -> String {
    let mut models: Vec<(String, usize)> = Vec::new();
    for model in value.as_array().into_iter().flatten().map(|card| text_of(&card["model"])) {
        match models.iter_mut().find(|(known, _)| *known == model) {
            Some((_, count)) => *count += 1,
            None => models.push((model, 1)),
        }
    }
    models.iter().map(|(model, count)| format!("{count} × {model}")).collect::<Vec<_>>().join(", ")
}

/// `node-3: device-1, device-2`.
fn grants(value: &Value) -> String {
    each(value, |grant| {
        let devices = grant["devices"].as_array().map(|all| all.iter().map(|d| text_of(&d["device"])).collect::<Vec<_>>());
        let cards = devices.filter(|cards| !cards.is_empty()).map(|cards| format!(": {}", cards.join(" ")));
        format!("{}{}", text_of(&grant["node"]), cards.unwrap_or_default())
    })
}

fn each(value: &Value, one: impl Fn(&Value) -> String) -> String {
    match value {
        Value::Array(items) => items.iter().map(one).collect::<Vec<_>>().join(", "),
        other => one(other),
    }
}

/// Any value in one line, without quotes where it is plain.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(", "),
        Value::Object(fields) if fields.contains_key("amount") && fields.contains_key("currency") => money(value),
        Value::Object(fields) => {
            let named = fields.iter().filter(|(_, v)| !v.is_null());
            named.map(|(name, value)| format!("{name} {}", text_of(value))).collect::<Vec<_>>().join(" ")
        }
        plain => plain.to_string(),
    }
}

/// Money for people: as many decimals as it needs, at least two. Never rounded here.
pub fn money(value: &Value) -> String {
    money_to(value, places(value))
}

/// Money with at least so many decimals, as it stands beside other amounts.
pub fn money_to(value: &Value, places: usize) -> String {
    let Some(amount) = amount(value) else { return text_of_plain(value) };
    let (whole, part) = amount.split_once('.').unwrap_or((amount, ""));
    let kept = part.trim_end_matches('0');
    let currency = value.get("currency").and_then(Value::as_str).unwrap_or_default();
    format!("{whole}.{kept:0<places$} {currency}").trim_end().to_owned()
}

/// How many decimals an amount needs, at least two.
pub fn places(value: &Value) -> usize {
    let part = amount(value).and_then(|amount| amount.split_once('.')).map_or("", |(_, part)| part);
    part.trim_end_matches('0').len().max(2)
}

fn amount(value: &Value) -> Option<&str> {
    value.get("amount").and_then(Value::as_str).or_else(|| value.as_str())
}

fn text_of_plain(value: &Value) -> String {
    if value.is_null() { UNKNOWN.into() } else { value.to_string() }
}

/// RFC 3339 without `T` and milliseconds; `Z` says that it is UTC.
fn instant(text: &str) -> String {
    let seconds = text.split_once('.').map_or_else(|| text.trim_end_matches('Z'), |(seconds, _)| seconds);
    format!("{}Z", seconds.replacen('T', " ", 1))
}

fn decimal(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn money_keeps_every_digit_that_says_something() {
        for (amount, text) in [("10.000000", "10.00 CNY"), ("0.001250", "0.00125 CNY"), ("-3.5", "-3.50 CNY"), ("7", "7.00 CNY")]
        {
            assert_eq!(money(&json!({"amount": amount, "currency": "CNY", "ticks": "1"})), text);
        }
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_zero_is_zero() {
        let show = |value: Value, how| shown(Some(&value), how, Language::English);
        assert_eq!(shown(None, Show::Text, Language::English), "–");
        assert_eq!(show(Value::Null, Show::Money), "–");
        assert_eq!(show(json!(0), Show::Mib), "0 GiB");
        assert_eq!(show(json!(81_920), Show::Mib), "80 GiB");
        assert_eq!(show(json!(250), Show::Permille), "25 %");
        assert_eq!(show(json!("2026-11-30T21:30:05.123Z"), Show::Time), "2026-11-30 21:30:05Z");
        assert_eq!(shown(Some(&json!(["stop", "extend"])), Show::Word, Language::Chinese), "停止, 延期");
    }
}
