//! `suanzu device`: single cards, on offer or not.

use super::node;
use crate::{
    app::{App, Done},
    client::Call,
};
use clap::Subcommand;
use units::DeviceId;

/// What can be done with cards.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Offer it no more; what runs on it runs on
    Drain(Which),
    /// Offer it again
    Return(Which),
    /// Say that it is clean, where it cannot be measured
    Clear(Which),
}

/// Which card.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Which {
    /// Id of the card, such as device-12
    device: DeviceId,
}

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let (which, verb) = match verb {
        Verb::Drain(which) => (which, "drain"),
        Verb::Return(which) => (which, "return"),
        Verb::Clear(which) => (which, "clear"),
    };
    app.object(Call::post(format!("/v1/devices/{}/{verb}", which.device)), node::COLUMNS)
}
