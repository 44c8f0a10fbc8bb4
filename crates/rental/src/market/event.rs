//! Facts about the market. They stand in the operator's part.

use super::Policy;
use crate::event::events;
use billing::PriceItem;
use minicbor::{Decode, Encode};
use serde::Serialize;
use units::{PriceListId, Time};

events! {
    /// A fact about the market.
    PricesPublished = "market.prices_published/1"
    PolicySet = "market.policy_set/1"
}

/// A price list was published.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct PricesPublished {
    /// The list.
    #[n(0)]
    pub list: PriceListId,
    /// From when it holds.
    #[n(1)]
    pub from: Time,
    /// Its prices, in CNY.
    #[n(2)]
    pub items: Vec<PriceItem>,
}

/// The policy was set.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct PolicySet {
    /// The rules in force from here on.
    #[n(0)]
    pub policy: Policy,
}
