//! Two documents, field by field: what differs, what is missing, and what nobody knows.

use crate::language::{Told, phrases as p};
use serde_json::Value;
use std::collections::BTreeSet;

/// Longest value that a finding repeats.
const LONGEST: usize = 120;

/// What is wrong with `shown`, which should say what `due` says but for the fields in `except`.
pub fn compare(shown: &Value, due: &Value, except: &[&str]) -> Vec<Told> {
    let mut found = Vec::new();
    walk("", Some(shown), Some(due), except, &mut found);
    found
}

fn walk(path: &str, shown: Option<&Value>, due: Option<&Value>, except: &[&str], found: &mut Vec<Told>) {
    if except.contains(&path) {
        return;
    }
    match (shown, due) {
        (Some(Value::Object(shown)), Some(Value::Object(due))) => {
            for name in shown.keys().chain(due.keys()).collect::<BTreeSet<_>>() {
                // A name is somebody else's text: it must not move the reader's cursor.
                let dot = if path.is_empty() { "" } else { "." };
                // Neither may it look like a place within another field.
                let path = format!("{path}{dot}{}", name.escape_debug().to_string().replace('.', "\\."));
                walk(&path, shown.get(name), due.get(name), except, found);
            }
        }
        (Some(Value::Array(shown)), Some(Value::Array(due))) => {
            if shown.len() != due.len() {
                found.push(Told::new(&p::LIST_LENGTH, &[path, &shown.len().to_string(), &due.len().to_string()]));
            }
            for (at, (shown, due)) in shown.iter().zip(due).enumerate() {
                walk(&format!("{path}[{at}]"), Some(shown), Some(due), except, found);
            }
        }
        (Some(shown), Some(due)) if shown == due => {}
        (Some(shown), Some(due)) => found.push(Told::new(&p::FIELD_DIFFERS, &[path, &text(shown), &text(due)])),
        (None, Some(due)) => found.push(Told::new(&p::FIELD_MISSING, &[path, &text(due)])),
        (Some(_), None) => found.push(Told::new(&p::FIELD_UNKNOWN, &[path])),
        (None, None) => {}
    }
}

fn text(value: &Value) -> String {
    let whole = value.to_string();
    let cut: String = whole.chars().take(LONGEST).collect();
    if cut.len() < whole.len() { cut + "…" } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(shown: &Value) -> Vec<String> {
        let due = json!({ "a": 1, "b": { "c": [1, { "d": "x" }] }, "e": null });
        compare(shown, &due, &["b.f"]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_differs_is_missing_or_unknown_is_named_by_its_place() {
        assert_eq!(told(&json!({ "a": 1, "b": { "c": [1, { "d": "x" }], "f": 9 }, "e": null })), [""; 0]);
        assert_eq!(
            told(&json!({ "a": "1", "b": { "c": [1, { "d": "y" }, 3] }, "b.f": 2, "g\u{1b}": 1 })),
            [
                "a says \"1\"; the proven parts say 1",
                "b.c has 3 items; the proven parts say 2",
                "b.c[1].d says \"y\"; the proven parts say \"x\"",
                "b\\.f is no field of a receipt that this program knows: nothing proves it",
                "e is missing; the proven parts say null",
                "g\\u{1b} is no field of a receipt that this program knows: nothing proves it",
            ]
        );
    }
}
