//! Runs a simulation or a measurement and prints its report as JSON.
//!
//! ```text
//! cargo run --release -p simulator --example simulate -- faults [SEEDS] [COMMANDS] [FIRST_SEED]
//! cargo run --release -p simulator --example simulate -- trace PATH [DIVIDE_BY] [SEED] [NODES]
//! cargo run --release -p simulator --example simulate -- core
//! cargo run --release -p simulator --example simulate -- fold [ENTRIES] [LIVE] [FOLDER]
//! ```

use simulator::{bench, faults, replay};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |n| n.parse().expect("a number"));
    match arguments.first().map(String::as_str) {
        Some("faults") => {
            let options = faults::Options {
                seeds: number(1, 100),
                commands: u32::try_from(number(2, 2_000)).expect("a small number"),
                first_seed: number(3, 1),
                ..faults::Options::default()
            };
            let report = faults::run(&options, &|done| {
                if done % 50 == 0 {
                    eprintln!("{done} worlds")
                }
            });
            print(&report);
            if let Some(broken) = &report.broken {
                eprintln!("{broken}");
                return ExitCode::FAILURE;
            }
        }
        Some("trace") => {
            let options = replay::Options {
                divide_by: i64::try_from(number(2, 10)).expect("a small number"),
                seed: number(3, 1),
                nodes: arguments.get(4).map(|n| n.parse().expect("a number of nodes")),
                ..replay::Options::new(arguments.get(1).expect("PATH"))
            };
            match replay::run(&options, &|_, _| {}) {
                Ok(report) => println!("{report}"),
                Err(error) => {
                    eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            }
        }
        Some("core") => print(&bench::core(&bench::CoreOptions::default())),
        Some("fold") => {
            let exec = std::env::current_exe().expect("this program has a path");
            let options = bench::replay::Options {
                entries: number(1, 1_000_000),
                live: number(2, 100_000),
                folder: arguments.get(3).map(Into::into),
                exec: Some(vec![exec.into(), "open".into()]),
                ..bench::replay::Options::default()
            };
            print(&bench::replay::replay(&options, &|_| {}).expect("the benchmark runs"));
        }
        Some("open") => {
            let with_snapshots = arguments.get(1).is_some_and(|word| word == "with");
            bench::replay::open_and_say_ready(arguments[2].as_ref(), with_snapshots).expect("the journal opens");
        }
        _ => eprintln!("simulate faults [SEEDS] [COMMANDS] [FIRST_SEED]"),
    }
    ExitCode::SUCCESS
}

fn print(report: &impl serde::Serialize) {
    println!("{}", serde_json::to_string_pretty(report).expect("a report is plain data"));
}
