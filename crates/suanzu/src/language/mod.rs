//! The two languages of the command line. A [`Phrase`] cannot be made without both.

mod chinese;
mod help;
pub mod phrases;
mod words;

pub use help::translate;
use std::fmt;
pub use words::word;

/// A language that the program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// English.
    #[value(name = "en")]
    English,
    /// Simplified Chinese.
    #[value(name = "zh")]
    Chinese,
}

/// The same thing said in both languages. `{0}`, `{1}` … stand for values.
#[derive(Debug, PartialEq, Eq)]
pub struct Phrase {
    /// In English.
    pub en: &'static str,
    /// In Chinese.
    pub zh: &'static str,
}

/// A phrase with its values, kept until it is known in which language it is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    phrase: &'static Phrase,
    values: Vec<String>,
}

impl Told {
    /// A phrase with its values.
    pub fn new(phrase: &'static Phrase, values: &[&str]) -> Told {
        Told { phrase, values: values.iter().map(|value| (*value).to_owned()).collect() }
    }

    /// In this language.
    pub fn said(&self, language: Language) -> String {
        language.fill(self.phrase, &self.values.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// In English, for logs and programs.
impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(Language::English))
    }
}

impl Language {
    /// The language of the locale: the first of `LC_ALL`, `LC_MESSAGES`, `LANG` that is set (POSIX, 8.2).
    pub fn of_locale() -> Language {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
        if set.is_some_and(|locale| locale.starts_with("zh")) { Language::Chinese } else { Language::English }
    }

    /// A phrase without values.
    pub fn say(self, phrase: &Phrase) -> &'static str {
        match self {
            Language::English => phrase.en,
            Language::Chinese => phrase.zh,
        }
    }

    /// A phrase with its values.
    pub fn fill(self, phrase: &Phrase, values: &[&str]) -> String {
        let numbered = values.iter().enumerate();
        numbered.fold(self.say(phrase).to_owned(), |text, (i, value)| text.replace(&format!("{{{i}}}"), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_the_language_wants_them() {
        let phrase = Phrase { en: "{0} of {1}", zh: "{1} 中的 {0}" };
        assert_eq!(Language::English.fill(&phrase, &["3", "8"]), "3 of 8");
        assert_eq!(Language::Chinese.fill(&phrase, &["3", "8"]), "8 中的 3");
    }
}
