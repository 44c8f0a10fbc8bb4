//! One file a noun. A command turns options into calls, and answers into tables; it decides nothing.

pub mod agent;
pub mod bench;
pub mod completions;
pub mod console;
pub mod context;
pub mod demo;
pub mod device;
pub mod doctor;
pub mod event;
pub mod exec;
pub mod follow;
#[cfg(test)]
mod golden;
pub mod journal;
pub mod key;
pub mod lease;
pub mod node;
pub mod offer;
pub mod order;
pub mod policy;
pub mod pool;
pub mod price;
pub mod project;
pub mod quote;
pub mod receipt;
pub mod run;
pub mod serve;
pub mod settings;
pub mod simulate;
pub mod statement;
pub mod tenant;
pub mod usage;
pub mod user;
pub mod verify;
pub mod wallet;

use crate::{
    app::{App, Done},
    cli::Command,
};

/// Carries a command out.
pub fn run(command: Command, app: &App) -> Done {
    match command {
        Command::Offer(verb) => offer::run(&verb, app),
        Command::Quote(order) => quote::run(&order, app),
        Command::Lease(verb) => lease::run(verb, app),
        Command::Run(order) => run::run(&order, app),
        Command::Pool(verb) => pool::run(&verb, app),
        Command::Node(verb) => node::run(&verb, app),
        Command::Device(verb) => device::run(&verb, app),
        Command::Price(verb) => price::run(&verb, app),
        Command::Policy(verb) => policy::run(&verb, app),
        Command::Wallet(verb) => wallet::run(&verb, app),
        Command::Usage(query) => usage::run(&query, app),
        Command::Tenant(verb) => tenant::run(&verb, app),
        Command::Project(verb) => project::run(&verb, app),
        Command::User(verb) => user::run(&verb, app),
        Command::Key(verb) => key::run(&verb, app),
        Command::Event(verb) => event::run(&verb, app),
        Command::Verify(args) => verify::run(&args, app),
        Command::Journal(verb) => journal::run(&verb, app),
        Command::Doctor => doctor::run(app),
        Command::Context(verb) => context::run(&verb, app),
        Command::Console => console::run(app),
        Command::Serve(args) => serve::run(&args, app),
        Command::Agent(args) => agent::run(args, app),
        Command::Demo(args) => demo::run(&args, app),
        Command::Bench(verb) => bench::run(&verb, app),
        Command::Simulate(verb) => simulate::run(&verb, app),
        Command::Completions(args) => completions::run(&args, app),
    }
}
