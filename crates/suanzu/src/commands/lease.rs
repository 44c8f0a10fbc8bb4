//! `suanzu lease`: from the order to the receipt.

use super::{exec, follow, order::Order, quote, receipt};
use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::{Phrase, phrases as p},
    output::{Column, Show, money},
};
use clap::Subcommand;
use serde_json::{Value, json};
use std::process::ExitCode;

/// What can be done with leases.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Order; shows the price first and asks
    Create(Order),
    /// List leases
    List {
        /// Ended ones too
        #[arg(long, conflicts_with = "state")]
        all: bool,
        /// Only those in this state
        #[arg(long, value_name = "STATE")]
        state: Option<String>,
    },
    /// Show one lease, with its cost so far
    Show(Which),
    /// End the workload and its charge; the lease may be started again, its files and output are deleted
    Stop(Which),
    /// Start a stopped lease again
    Start {
        #[command(flatten)]
        which: Which,
        /// Wait in the queue where there is no room now
        #[arg(long)]
        queue: bool,
    },
    /// End the lease for good
    Destroy(Which),
    /// Move the end of a lease
    Extend {
        #[command(flatten)]
        which: Which,
        /// Until this instant (RFC 3339), or never to let it run until it is stopped
        #[arg(value_name = "INSTANT")]
        until: String,
    },
    /// Change the size of a lease
    Resize {
        #[command(flatten)]
        which: Which,
        /// The new size, as in an order
        #[command(flatten)]
        order: Order,
    },
    /// Read what the workload wrote
    Logs {
        #[command(flatten)]
        which: Which,
        /// Go on reading until it ends
        #[arg(short, long)]
        follow: bool,
        /// Only the last lines
        #[arg(long, value_name = "LINES")]
        tail: Option<u32>,
    },
    /// Run a command beside the workload; ends with its exit code
    Exec(exec::Args),
    /// Say why it waits, stopped, costs or stands where it does
    Why(Which),
    /// What was charged, why, and the proof
    Receipt {
        #[command(flatten)]
        which: Which,
        /// Keep receipt and proof in a file that `suanzu verify` checks
        #[arg(long, value_name = "FILE")]
        save: Option<std::path::PathBuf>,
    },
}

/// Which lease.
#[derive(Debug, Clone, clap::Args)]
pub struct Which {
    /// Id of the lease, such as lease-1042
    #[arg(value_name = "LEASE")]
    pub lease: units::LeaseId,
}

impl Which {
    /// The path of its resource, or of what lies beneath it.
    pub fn path(&self, beneath: &str) -> String {
        format!("/v1/leases/{}{beneath}", self.lease)
    }
}

/// Fields of a lease in a list.
pub const ROWS: &[Column] = &[
    Column::new(&p::ID, "/id", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::STATE, "/state", Show::Word),
    Column::new(&p::ASK, "/ask", Show::Ask),
    Column::new(&p::PRICE_HOUR, "/price_per_hour", Show::Money),
    Column::new(&p::COST_SO_FAR, "/cost_so_far", Show::Money),
    Column::new(&p::SINCE, "/since", Show::Time),
    Column::new(&p::SIMULATED, "/simulated", Show::Simulated),
];

/// Fields of one lease.
pub const SHEET: &[Column] = &[
    Column::new(&p::ID, "/id", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::PROJECT, "/project", Show::Text),
    Column::new(&p::STATE, "/state", Show::Word),
    Column::new(&p::PROGRESS, "/progress", Show::Text),
    Column::new(&p::PLACE_IN_QUEUE, "/place_in_queue", Show::Text),
    Column::new(&p::REASON, "/reason", Show::Word),
    Column::new(&p::DETAIL, "/detail", Show::Text),
    Column::new(&p::ASK, "/ask", Show::Ask),
    Column::new(&p::PLACEMENT, "/grants", Show::Grants),
    Column::new(&p::SIMULATED, "/simulated", Show::Simulated),
    Column::new(&p::PRICE_HOUR, "/price_per_hour", Show::Money),
    Column::new(&p::COST_SO_FAR, "/cost_so_far", Show::Money),
    Column::new(&p::REQUESTED, "/requested", Show::Time),
    Column::new(&p::READY, "/ready", Show::Time),
    Column::new(&p::ENDED, "/ended", Show::Time),
    Column::new(&p::FUNDED_UNTIL, "/funded_until", Show::Time),
    Column::new(&p::UNTIL, "/until", Show::Time),
    Column::new(&p::LAST_SEEN, "/last_seen", Show::Time),
    Column::new(&p::ACTIONS, "/actions", Show::Word),
];

/// Sentences on why something is as it is.
const WHY: &[Column] = &[Column::new(&p::WHY, "", Show::Text)];

/// Carries it out.
pub fn run(verb: Verb, app: &App) -> Done {
    match verb {
        Verb::Create(order) => create(&order, app),
        Verb::List { all, state } => {
            let state = state.or_else(|| all.then(|| "all".into()));
            app.list(Call::get("/v1/leases").of_tenant().maybe("state", state), ROWS)
        }
        Verb::Show(which) => app.object(Call::get(which.path("")), SHEET),
        Verb::Stop(which) => end(&which, "/stop", &p::ASK_STOP, app),
        Verb::Start { which, queue } => {
            let call = Call::post(which.path("/start")).body(json!({ "wait": queue }));
            costing(&which, &Value::Null, &p::ASK_START, app)?;
            changed(call, goal("/start"), app)
        }
        Verb::Destroy(which) => end(&which, "/destroy", &p::ASK_DESTROY, app),
        Verb::Extend { which, until } => {
            let until = if until == "never" { Value::Null } else { json!(until) };
            let call = Call::post(which.path("/extend")).body(json!({ "until": until }));
            costing(&which, &Value::Null, &p::ASK_EXTEND, app)?;
            changed(call, goal("/extend"), app)
        }
        Verb::Resize { which, order } => {
            let size = order.body(&[], units::Time(0))?["size"].clone();
            costing(&which, &size, &p::ASK_RESIZE, app)?;
            changed(Call::post(which.path("/resize")).body(json!({ "size": size })), goal("/resize"), app)
        }
        Verb::Logs { which, follow, tail } => {
            let call = Call::get(which.path("/logs")).query("follow", follow.to_string());
            let mut output = app.client.stream(call.maybe("tail", tail.map(|n| n.to_string())))?;
            match std::io::copy(&mut output, &mut std::io::stdout()) {
                // Whoever reads us has seen enough, as `head` has.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
                copied => {
                    copied?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Verb::Exec(args) => exec::run(&args, app),
        Verb::Why(which) => why(&which, app),
        Verb::Receipt { which, save } => receipt::run(&which, save.as_deref(), app),
    }
}

fn create(order: &Order, app: &App) -> Done {
    let lease = app.send(quote::agreed(order, app)?)?.body;
    let lease = follow::asked_for(lease, follow::READY, app)?;
    app.screen.object(&lease, SHEET)?;
    Ok(ExitCode::SUCCESS)
}

fn end(which: &Which, verb: &str, question: &Phrase, app: &App) -> Done {
    app.confirm(question)?;
    changed(Call::post(which.path(verb)).body(json!({})), goal(verb), app)
}

/// Shows what an hour of the lease costs, of this size where it gets another one, and asks.
fn costing(which: &Which, size: &Value, question: &Phrase, app: &App) -> Result<(), Failure> {
    if app.client.only_shows() {
        return Ok(());
    }
    app.screen.can_confirm()?;
    let lease = app.send(Call::get(which.path("")))?.body;
    let mut order = lease["ask"].clone();
    if !size.is_null() {
        order["size"] = size.clone();
    }
    // The answer to the call itself says why it cannot be had, where it cannot.
    let quoted =
        app.send(Call::post("/v1/leases").query("validate_only", "true").maybe("tenant", lease["tenant"].as_str()).body(order));
    let price = quoted.map_or(Value::Null, |quote| quote.body["price_per_hour"].clone());
    let price = if price.is_null() && size.is_null() { &lease["price_per_hour"] } else { &price };
    if !price.is_null() {
        app.screen.say(&p::PRICE_FROM_THEN, &[&money(price)]);
    }
    app.confirm(question)
}

fn changed(call: Call, goal: Option<&'static [&'static str]>, app: &App) -> Done {
    let lease = app.send(call)?.body;
    let lease = match goal {
        Some(goal) => follow::asked_for(lease, goal, app)?,
        None => lease,
    };
    app.screen.object(&lease, SHEET)?;
    Ok(ExitCode::SUCCESS)
}

/// What `--wait` waits for. What moves no lease is done once it is answered.
fn goal(verb: &str) -> Option<&'static [&'static str]> {
    match verb {
        "/start" => Some(follow::READY),
        "/stop" | "/destroy" => Some(follow::AT_REST),
        _ => None,
    }
}

fn why(which: &Which, app: &App) -> Done {
    let answer = app.send(Call::get(which.path("/why")))?.body;
    let sentences = answer.get("sentences").or_else(|| answer.get("why")).or_else(|| answer.get("items")).unwrap_or(&answer);
    app.screen.list(sentences, WHY)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads one lease.
pub fn read(id: &str, app: &App) -> Result<Value, Failure> {
    Ok(app.send(Call::get(format!("/v1/leases/{id}")))?.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_where_the_verb_leads_and_never_begins_where_it_moves_no_lease() {
        assert_eq!(goal("/start"), Some(follow::READY));
        assert_eq!((goal("/stop"), goal("/destroy")), (Some(follow::AT_REST), Some(follow::AT_REST)));
        assert_eq!((goal("/extend"), goal("/resize")), (None, None));
    }
}
