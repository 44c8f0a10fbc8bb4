//! Where answers go, and in which form: decided once from the options and from whether a person is looking.

use super::{Column, csv, sheet, table, table::rows, text_of};
use crate::{
    failure::Failure,
    language::{Language, Phrase, phrases as p},
};
use serde_json::Value;
use std::io::{BufRead, IsTerminal, Write};

/// Forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Columns for people.
    Table,
    /// As the server sent it.
    Json,
    /// The same as YAML.
    Yaml,
    /// The columns, separated by commas.
    Csv,
}

/// The two streams and what is asked of them.
#[derive(Debug, Clone)]
pub struct Screen {
    /// The form of answers.
    pub format: Format,
    /// Ids only.
    pub ids_only: bool,
    /// The language of what is said.
    pub language: Language,
    /// Whether questions are taken as answered with yes.
    pub yes: bool,
}

impl Screen {
    /// The form where none is asked for: tables on a terminal, JSON on a pipe.
    pub fn format_for_reader() -> Format {
        if std::io::stdout().is_terminal() { Format::Table } else { Format::Json }
    }

    /// Shows a list.
    pub fn list(&self, answer: &Value, columns: &[Column]) -> Result<(), Failure> {
        self.write(&self.rendered(answer, columns, table)?)
    }

    /// Shows one object.
    pub fn object(&self, answer: &Value, columns: &[Column]) -> Result<(), Failure> {
        self.write(&self.rendered(answer, columns, sheet)?)
    }

    fn rendered(
        &self,
        answer: &Value,
        columns: &[Column],
        people: fn(&Value, &[Column], Language, Option<u16>) -> String,
    ) -> Result<String, Failure> {
        if self.ids_only {
            let id = |row: &Value| text_of(row.get("id").or_else(|| row.pointer(first_field(columns))).unwrap_or(row));
            return Ok(rows(answer).into_iter().map(id).collect::<Vec<_>>().join("\n"));
        }
        Ok(match self.format {
            Format::Table => people(answer, columns, self.language, width()),
            Format::Json => serde_json::to_string_pretty(answer).map_err(anyhow::Error::from)?,
            Format::Yaml => serde_saphyr::to_string(answer).map_err(anyhow::Error::from)?,
            Format::Csv => csv(answer, columns)?,
        })
    }

    /// Makes room for the next look where a person is looking.
    pub fn clear(&self) {
        if self.format == Format::Table && std::io::stdout().is_terminal() {
            // ECMA-48: cursor home, erase the display.
            print!("\x1b[H\x1b[2J");
        }
    }

    /// Writes to standard output, with one line end.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        let text = text.trim_end_matches('\n');
        if text.is_empty() {
            return Ok(());
        }
        match writeln!(out, "{text}").and_then(|()| out.flush()) {
            // Whoever reads us has seen enough, as `head` has.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }

    /// Says something beside the answer.
    pub fn note(&self, text: &str) {
        // A terminal that is gone must not keep anybody from ending what costs money.
        let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
    }

    /// Says a phrase beside the answer.
    pub fn say(&self, phrase: &Phrase, values: &[&str]) {
        self.note(&self.language.fill(phrase, values));
    }

    /// Refuses where a question could not be answered: no `--yes`, and nobody to ask.
    pub fn can_confirm(&self) -> Result<(), Failure> {
        if self.yes || (std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            return Ok(());
        }
        Err(Failure::Usage(self.language.say(&p::NOBODY_TO_ASK).into()))
    }

    /// Asks a person, unless `--yes` has answered. Whatever is not yes, an end of input included, is no.
    pub fn confirm(&self, question: &Phrase) -> Result<(), Failure> {
        self.can_confirm()?;
        if self.yes {
            return Ok(());
        }
        eprint!("{} [y/N] ", self.language.say(question));
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer)? == 0 {
            self.note("");
        }
        if is_yes(&answer) { Ok(()) } else { Err(Failure::Declined) }
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "是")
}

fn first_field(columns: &[Column]) -> &str {
    columns.first().map_or("", |column| column.at)
}

/// Columns of the terminal on standard output.
fn width() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col).filter(|columns| *columns > 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(["y\n", "YES\n", " yes ", "是\n"].iter().all(|answer| is_yes(answer)));
        assert!(["", "\n", "n\n", "no\n", "yo\n"].iter().all(|answer| !is_yes(answer)));
    }
}
