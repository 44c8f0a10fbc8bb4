//! A call as text: what it is, or the `curl` line that does the same.

use super::{Call, Target};
use crate::language::{Language, phrases};

/// The call in words, for `--explain`.
pub fn explained(call: &Call, target: &Target, language: Language) -> String {
    let mut lines = vec![format!("{} {}", call.method, call.url(&target.url))];
    lines.extend(call.headers().map(|(name, value)| format!("  {name}: {value}")));
    if let Some(body) = &call.body {
        let pretty = serde_json::to_string_pretty(body).expect("a JSON value can be written");
        lines.extend(pretty.lines().map(|line| format!("  {line}")));
    }
    lines.push(language.say(&phrases::NOT_SENT).into());
    lines.join("\n")
}

/// The call as a `curl` line. The key is named, not shown.
pub fn curl(call: &Call, target: &Target) -> String {
    let mut words = vec!["curl".to_owned(), "--fail-with-body".into(), "-X".into(), call.method.to_string()];
    words.push(quoted(&call.url(&target.url)));
    words.push("-H \"Authorization: Bearer $SUANZU_KEY\"".into());
    words.extend(call.headers().map(|(name, value)| format!("-H {}", quoted(&format!("{name}: {value}")))));
    if let Some(ca) = &target.ca_file {
        words.push(format!("--cacert {}", quoted(&ca.display().to_string())));
    }
    if let Some(body) = &call.body {
        words.push("-H 'Content-Type: application/json'".into());
        words.push(format!("-d {}", quoted(&body.to_string())));
    }
    words.join(" ")
}

/// A word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_shown_as_a_line_that_can_be_pasted() {
        let target = Target { url: "http://127.0.0.1:7070".into(), ..Target::default() };
        let call = Call::put("/v1/policy").if_match("\"7\"").body(json!({"name": "it's"}));
        assert_eq!(
            curl(&call, &target),
            "curl --fail-with-body -X PUT 'http://127.0.0.1:7070/v1/policy' -H \"Authorization: Bearer $SUANZU_KEY\" \
             -H 'If-Match: \"7\"' -H 'Content-Type: application/json' -d '{\"name\":\"it'\\''s\"}'"
        );
    }
}
