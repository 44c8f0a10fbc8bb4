//! Names for people.

use serde::Deserialize;

/// Longer than any name that fits a table's column.
const LONGEST: usize = 128;

/// 1 to 128 characters, none of them a control character.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Name, &'static str> {
        let fit = (1..=LONGEST).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fit { Ok(Name(text)) } else { Err("a name has 1 to 128 characters, and no control characters") }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}
