//! The one binary: arguments, wiring, and what people see of it.
//!
//! | module | knows |
//! | --- | --- |
//! | [`cli`], [`commands`] | nouns, verbs and options; one file a noun |
//! | [`ask`] | the grammar of asks, sizes and durations |
//! | [`client`] | contexts and calls |
//! | [`output`], [`language`], [`failure`] | tables and JSON, English and Chinese, exit codes |
//! | [`interrupt`] | Ctrl-C, TERM, and a terminal that is closed |
//! | [`serve`] | a server from a data folder: journal, engine, views, agents, HTTP |
//! | [`agent`] | the loop around `drivers`, in this process or over HTTP |
//! | [`bench`] | measurements that need all of it |
//! | [`demo`] | a rental from the order to the receipt, with its sums checked |

mod agent;
mod app;
mod ask;
mod bench;
mod cli;
mod client;
mod commands;
mod demo;
mod failure;
mod interrupt;
mod language;
mod output;
mod serve;

use crate::{app::App, cli::Cli, language::Language};
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

/// Entries are decoded on one thread and applied on another: memory that crosses threads costs the C library's allocator as
/// much as the folding itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // Shims are many and live long: they take neither options nor anything that is set up below.
    match args.next().and_then(|word| word.into_string().ok()).as_deref() {
        Some("shim") => return drivers::host::shim_main(args.collect()),
        Some("demo-work") => return demo::work(),
        Some(bench::OPEN) => return bench::open(&args.collect::<Vec<_>>()),
        _ => {}
    }
    rustls::crypto::ring::default_provider().install_default().expect("nothing has set up cryptography before main");
    let cli = match parse() {
        Ok(cli) => cli,
        // Help and versions come this way too, and know their own exit code.
        Err(told) => {
            let _ = told.print();
            return ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(1));
        }
    };
    let language = cli.global.lang.unwrap_or_else(Language::of_locale);
    match App::new(&cli.global, language).and_then(|app| commands::run(cli.command, &app)) {
        Ok(code) => code,
        Err(failure) => {
            let text = failure.explained(language);
            if !text.is_empty() {
                eprintln!("{text}");
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn parse() -> Result<Cli, clap::Error> {
    let language = asked_language().unwrap_or_else(Language::of_locale);
    let mut command = language::translate(Cli::command(), language);
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches)
}

/// Help is written before the options are read, so `--lang` is looked for by hand.
fn asked_language() -> Option<Language> {
    let words: Vec<String> = std::env::args().take_while(|word| word != "--").collect();
    let after = words.iter().position(|word| word == "--lang").and_then(|at| words.get(at + 1));
    let named = after.map(String::as_str).or_else(|| words.iter().find_map(|word| word.strip_prefix("--lang=")));
    named.and_then(|name| <Language as clap::ValueEnum>::from_str(name, true).ok())
}
