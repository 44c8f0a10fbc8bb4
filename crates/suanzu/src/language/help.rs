//! The help texts in Chinese, found by their English ones.

use super::Language;
use clap::Command;

/// The command with its help in this language.
pub fn translate(command: Command, language: Language) -> Command {
    match language {
        Language::English => command,
        Language::Chinese => translated(command),
    }
}

fn translated(command: Command) -> Command {
    command
}
