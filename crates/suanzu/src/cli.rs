//! The command line: a noun, a verb, and the options that every command takes.

use crate::{
    client::{Given, Mode},
    commands::*,
    language::Language,
    output::Format,
};
use clap::{ArgGroup, Args, Parser, Subcommand};
use std::path::PathBuf;

/// Rents out GPUs and CPUs and rents them: places, meters, bills, and proves what it billed.
#[derive(Debug, Parser)]
#[command(name = "suanzu", version, propagate_version = true, arg_required_else_help = true, max_term_width = 120)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What is to be done.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere", group(ArgGroup::new("shown_only").args(["explain", "curl"])))]
pub struct Global {
    /// Address of the server; else SUANZU_URL
    #[arg(long, global = true, value_name = "URL")]
    pub url: Option<String>,
    /// The key's secret; else SUANZU_KEY
    #[arg(long, global = true, value_name = "SECRET")]
    pub key: Option<String>,
    /// A context by name instead of the current one
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// Certificate (PEM) of a server that made its own; else SUANZU_CA
    #[arg(long, global = true, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// The data folder of a server on this machine; else SUANZU_DATA
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The tenant that the operator means
    #[arg(long, global = true, value_name = "ID")]
    pub tenant: Option<String>,
    /// Form of the answer; a table on a terminal, JSON on a pipe
    #[arg(short, long, global = true, value_name = "FORM")]
    pub output: Option<Format>,
    /// The same as --output json
    #[arg(long, global = true, conflicts_with = "output")]
    pub json: bool,
    /// Ids only, one on a line
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show it again whenever it changes
    #[arg(long, global = true)]
    pub watch: bool,
    /// Wait until it is done, at most so long
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "10m", value_name = "TIME")]
    pub wait: Option<String>,
    /// Ask nothing, take yes for the answer
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Show which call of the API this is, and send nothing
    #[arg(long, global = true)]
    pub explain: bool,
    /// Show the call as a curl line, and send nothing
    #[arg(long, global = true)]
    pub curl: bool,
    /// Language; by default that of the locale
    #[arg(long, global = true, value_name = "LANG")]
    pub lang: Option<Language>,
}

impl Global {
    /// What is done with calls.
    pub fn mode(&self) -> Mode {
        match (self.explain, self.curl) {
            (true, _) => Mode::Explain,
            (_, true) => Mode::Curl,
            _ => Mode::Send,
        }
    }

    /// The data folder, where one is named.
    pub fn data(&self) -> Option<PathBuf> {
        self.data.clone().or_else(|| set("SUANZU_DATA").map(Into::into))
    }

    /// What was said about the server.
    pub fn given(&self) -> Given {
        Given {
            url: self.url.clone().or_else(|| set("SUANZU_URL")),
            key: self.key.clone().or_else(|| set("SUANZU_KEY")),
            ca_file: self.ca.clone().or_else(|| set("SUANZU_CA").map(Into::into)),
            tenant: self.tenant.clone(),
            context: self.context.clone(),
            data: self.data(),
        }
    }
}

/// A variable of the environment; an empty one counts as none. The parser does not read them: what it reads it takes for
/// typed, shows in usage lines, and shows no help for a bare noun.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The nouns, and the few verbs that need none.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// What can be rented: price, stock, smallest share
    #[command(subcommand)]
    Offer(offer::Verb),
    /// What an order would cost and where it would run; nothing is ordered
    Quote(order::Order),
    /// Order, look after and end leases
    #[command(subcommand)]
    Lease(lease::Verb),
    /// Order, attach, stop, and show the receipt; ends with the child's exit code
    Run(order::Order),
    /// Pools of servers
    #[command(subcommand)]
    Pool(pool::Verb),
    /// Servers
    #[command(subcommand)]
    Node(node::Verb),
    /// Cards
    #[command(subcommand)]
    Device(device::Verb),
    /// Price lists
    #[command(subcommand)]
    Price(price::Verb),
    /// The rules of the house
    #[command(subcommand)]
    Policy(policy::Verb),
    /// Balance, statement, payments
    #[command(subcommand)]
    Wallet(wallet::Verb),
    /// What was used and what it cost
    Usage(usage::Query),
    /// Who rents
    #[command(subcommand)]
    Tenant(tenant::Verb),
    /// Parts of a tenant
    #[command(subcommand)]
    Project(project::Verb),
    /// People and their roles
    #[command(subcommand)]
    User(user::Verb),
    /// API keys
    #[command(subcommand)]
    Key(key::Verb),
    /// What happened
    #[command(subcommand)]
    Event(event::Verb),
    /// Check a receipt, a data folder or a published log; needs no server
    Verify(verify::Args),
    /// The record that everything is folded from
    #[command(subcommand)]
    Journal(journal::Verb),
    /// Look for what is wrong here, and say what to do
    Doctor,
    /// Servers and keys that this user knows
    #[command(subcommand)]
    Context(context::Verb),
    /// Make a link that signs a browser in once, with the rights of this key
    Console,
    /// Run the server
    Serve(serve::Args),
    /// Run an agent on this machine, or let one join
    Agent(agent::Args),
    /// A rental from the order to the receipt on this machine, in under a minute
    Demo(demo::Args),
    /// Try this build in worlds that exist in memory only
    #[command(subcommand)]
    Simulate(simulate::Verb),
    /// Measure this build on this machine
    #[command(subcommand)]
    Bench(bench::Verb),
    /// Completions for a shell
    Completions(completions::Args),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_holds_together() {
        Cli::command().debug_assert();
    }
}
