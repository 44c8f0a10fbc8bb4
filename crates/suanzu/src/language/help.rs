//! The help texts in Chinese, found by their English ones.

use super::{Language, chinese::HELP};
use clap::{Arg, ArgAction, Command};

/// The command with its help in this language.
pub fn translate(command: Command, language: Language) -> Command {
    match language {
        Language::English => command,
        Language::Chinese => translated(command),
    }
}

fn translated(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).help("显示帮助").help_heading("选项");
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version).help("显示版本").help_heading("选项");
    let has_children = command.has_subcommands();
    let about = command.get_about().and_then(|about| chinese(&about.to_string()));
    let mut command = command
        .mut_args(argument)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .arg(help)
        .arg(version)
        .help_template("{about}\n\n用法：{usage}\n\n{all-args}")
        .mut_subcommands(translated);
    if has_children {
        command = command.subcommand_help_heading("命令");
    }
    match about {
        Some(about) => command.about(about),
        None => command,
    }
}

fn argument(arg: Arg) -> Arg {
    let help = arg.get_help().and_then(|help| chinese(&help.to_string()));
    let heading = match arg.get_help_heading() {
        Some(heading) => chinese(heading).unwrap_or("选项"),
        None if arg.is_positional() => "参数",
        None => "选项",
    };
    let arg = arg.help_heading(heading);
    match help {
        Some(help) => arg.help(help),
        None => arg,
    }
}

/// The Chinese text. Without one the English stays; the test below sees to it that there is one.
fn chinese(english: &str) -> Option<&'static str> {
    HELP.iter().find(|(en, _)| *en == english).map(|(_, zh)| *zh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn texts(command: &Command, found: &mut Vec<String>) {
        found.extend(command.get_about().map(ToString::to_string));
        for arg in command.get_arguments() {
            found.extend(arg.get_help().map(ToString::to_string));
            found.extend(arg.get_help_heading().map(Into::into));
        }
        command.get_subcommands().for_each(|child| texts(child, found));
    }

    #[test]
    fn every_help_text_is_there_in_both_languages() {
        let mut found = Vec::new();
        texts(&Cli::command(), &mut found);
        found.sort();
        found.dedup();
        let missing: Vec<&String> = found.iter().filter(|text| chinese(text).is_none()).collect();
        assert!(missing.is_empty(), "without a Chinese text: {missing:#?}");
        let unused: Vec<_> = HELP.iter().filter(|(en, _)| !found.iter().any(|text| text == en)).collect();
        assert!(unused.is_empty(), "of no English text: {unused:#?}");
    }

    #[test]
    fn chinese_help_has_no_english_heading() {
        let mut command = translate(Cli::command(), Language::Chinese);
        let help = command.render_long_help().to_string();
        assert!(help.contains("--version") && !help.contains("Options"), "{help}");
    }

    #[test]
    fn the_chinese_grammar_holds_together_as_the_english_one_does() {
        translate(Cli::command(), Language::Chinese).debug_assert();
    }
}
