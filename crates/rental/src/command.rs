//! The commands, by area, and the one function that answers them.

use crate::{Event, Refusal, State, fleet, lease, market, money, tenancy};
use units::Time;

/// What somebody wants to happen.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Servers and cards.
    Fleet(fleet::Command),
    /// Prices and policies.
    Market(market::Command),
    /// Tenants, projects, members, keys.
    Tenancy(tenancy::Command),
    /// What is rented.
    Lease(lease::Command),
    /// Wallets.
    Money(money::Command),
}

impl Command {
    /// The kind that stands in the entry's header, such as `lease.request`.
    pub fn kind(&self) -> &'static str {
        match self {
            Command::Fleet(c) => c.kind(),
            Command::Market(c) => c.kind(),
            Command::Tenancy(c) => c.kind(),
            Command::Lease(c) => c.kind(),
            Command::Money(c) => c.kind(),
        }
    }
}

/// Answers a command with the events that carry it out.
///
/// `now` is the time of the entry to be; it must not be before the last entry's. No event means that the wish is already
/// the case, and nothing is written. A refusal changes nothing.
pub fn decide(state: &State, now: Time, command: &Command) -> Result<Vec<Event>, Refusal> {
    debug_assert!(now >= state.time, "entry time never decreases");
    match command {
        Command::Fleet(c) => fleet::decide(state, c),
        Command::Market(c) => market::decide(state, now, c),
        Command::Tenancy(c) => tenancy::decide(state, now, c),
        Command::Lease(c) => lease::decide(state, now, c),
        Command::Money(c) => money::decide(state, now, c),
    }
}
