//! `suanzu node`: servers, what runs on them, and whether they are on offer.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use units::NodeId;

/// What can be done with nodes.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List nodes with what is taken of them
    List,
    /// Show one node with its cards and leases
    Show(Which),
    /// Take nothing new; what runs there runs on
    Drain(Which),
    /// Offer it again
    Return(Which),
    /// Give it up: its leases end at their last proof of service
    Lose(Which),
    /// Take an empty node out of the fleet
    Remove(Which),
}

/// Which node.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Which {
    /// Id of the node, such as node-3
    node: NodeId,
}

/// Fields of a node.
pub const COLUMNS: &[Column] = &[
    Column::new(&p::ID, "/id", Show::Text),
    Column::new(&p::NAME, "/name", Show::Text),
    Column::new(&p::POOL, "/pool", Show::Text),
    Column::new(&p::MARK, "/mark", Show::Word),
    Column::new(&p::CPU_USED, "/cpu", Show::Taken),
    Column::new(&p::MAIN_MEMORY, "/memory_mib/total", Show::Mib),
    Column::new(&p::DEVICES, "/devices", Show::Cards),
    Column::new(&p::LEASES, "/leases", Show::Text),
    Column::new(&p::LABELS, "/labels", Show::Labels),
    Column::new(&p::LAST_HEARD, "/last_heard", Show::Time),
    Column::new(&p::CLOCK_OFF, "/clock_off_ms", Show::Text),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/nodes"), COLUMNS),
        Verb::Show(Which { node }) => app.object(Call::get(format!("/v1/nodes/{node}")), COLUMNS),
        Verb::Drain(which) => mark(*which, "drain", app),
        Verb::Return(which) => mark(*which, "return", app),
        Verb::Lose(which) => {
            app.confirm(&p::ASK_LOSE)?;
            mark(*which, "lose", app)
        }
        Verb::Remove(which) => mark(*which, "remove", app),
    }
}

fn mark(Which { node }: Which, verb: &str, app: &App) -> Done {
    app.object(Call::post(format!("/v1/nodes/{node}/{verb}")), COLUMNS)
}
