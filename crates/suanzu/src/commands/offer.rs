//! `suanzu offer`: what can be rented.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;

/// What can be done with offers.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List what can be rented: model, price an hour, free and total, smallest share
    List,
}

/// Fields of an offer.
pub const COLUMNS: &[Column] = &[
    Column::new(&p::SKU, "/sku", Show::Text),
    Column::new(&p::MEMORY, "/memory_mib", Show::Mib),
    Column::new(&p::PRICE_HOUR, "/price_per_hour", Show::Money),
    Column::new(&p::FREE, "/free", Show::Text),
    Column::new(&p::TOTAL, "/total", Show::Text),
    Column::new(&p::SMALLEST_SHARE, "/smallest_share/compute", Show::Permille),
    Column::new(&p::ISOLATION, "/isolation", Show::Word),
    Column::new(&p::SIMULATED, "/simulated", Show::Simulated),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/offers"), COLUMNS),
    }
}
