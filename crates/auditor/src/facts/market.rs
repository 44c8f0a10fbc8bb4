//! Facts about prices and policy, in the operator's part.

use super::{Sku, facts};
use minicbor::Decode;

facts! {
    "market.prices_published/1" => PricesPublished
    "market.policy_set/1" => PolicySet
}

#[derive(Decode)]
pub struct PricesPublished {
    #[n(0)]
    pub list: u64,
    #[n(1)]
    pub from: i64,
    #[n(2)]
    pub items: Vec<PriceItem>,
}

#[derive(Decode)]
pub struct PriceItem {
    #[n(0)]
    pub id: u32,
    #[n(1)]
    pub sku: Sku,
    /// Millionths of a yuan an hour.
    #[n(2)]
    pub micro: i64,
}

#[derive(Decode)]
pub struct PolicySet {
    #[n(0)]
    pub policy: Policy,
}

#[derive(Decode)]
pub struct Policy {
    #[n(0)]
    pub arrears_grace: i64,
}
