//! Prices and policies: everything a decision reads beside the fleet and the wallets.

mod event;
mod policy;
mod publish;

pub use event::{Event, PolicySet, PricesPublished};
pub use policy::Policy;
pub use publish::Price;

use crate::Refusal;
use billing::PriceBook;
use serde::{Deserialize, Serialize};
use units::{PriceListId, Time};

/// What can be set on the market.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A price list that holds from a time on.
    PublishPrices {
        /// From when; now or later.
        from: Time,
        /// The prices. SKUs that are not in it keep theirs.
        prices: Vec<Price>,
    },
    /// The rules of the house.
    SetPolicy(Policy),
}

impl Command {
    /// The kind in the entry's header.
    pub fn kind(&self) -> &'static str {
        match self {
            Command::PublishPrices { .. } => "market.publish_prices",
            Command::SetPolicy(_) => "market.set_policy",
        }
    }
}

/// Prices and policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// All prices by time.
    pub prices: PriceBook,
    /// Number of the last list.
    pub last_list: u64,
    /// The rules in force.
    pub policy: Policy,
}

pub(crate) fn decide(root: &crate::State, now: Time, command: &Command) -> Result<Vec<crate::Event>, Refusal> {
    let market = &root.market;
    let event = match command {
        Command::PublishPrices { from, prices } => publish::decide(market, now, *from, prices)?,
        Command::SetPolicy(policy) if *policy == market.policy => return Ok(Vec::new()),
        Command::SetPolicy(policy) => {
            policy.check()?;
            PolicySet { policy: policy.clone() }.into()
        }
    };
    Ok(vec![crate::Event::Market(event)])
}

pub(crate) fn apply(market: &mut State, event: &Event, room: &mut u64) {
    *room += 1;
    match event {
        Event::PricesPublished(e) => {
            market.last_list = e.list.0;
            market.prices.publish(PriceListId(e.list.0), e.from, &e.items);
        }
        Event::PolicySet(e) => market.policy = e.policy.clone(),
    }
}
