//! Runs a simulation or a measurement and prints its report as JSON.
//!
//! ```text
//! cargo run --release -p simulator --example simulate -- faults [SEEDS] [COMMANDS] [FIRST_SEED]
//! ```

use simulator::faults;
use std::process::ExitCode;

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
            let report = faults::run(&options, &|done| if done % 50 == 0 { eprintln!("{done} worlds") });
            print(&report);
            if let Some(broken) = &report.broken {
                eprintln!("{broken}");
                return ExitCode::FAILURE;
            }
        }
        _ => eprintln!("simulate faults [SEEDS] [COMMANDS] [FIRST_SEED]"),
    }
    ExitCode::SUCCESS
}

fn print(report: &impl serde::Serialize) {
    println!("{}", serde_json::to_string_pretty(report).expect("a report is plain data"));
}
