//! A price list is published. What is in force stays: a price may only change from now on.

use super::{Event, PricesPublished, State};
use crate::Refusal;
use billing::{PriceItem, Sku, SkuId};
use units::{Micro, PriceListId, Time};

/// A price as the operator names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// What for.
    pub sku: Sku,
    /// Per hour.
    pub micro: Micro,
}

/// A list that begins "now" by the operator's clock is some way behind ours when it arrives; it then begins at its entry.
const SLACK_MS: i64 = 60_000;

/// Ten million yuan an hour: no card costs that, and every product of price, quantity and time stays far inside 128 bits.
const MOST: Micro = Micro::from_cny(10_000_000);

/// A model's name is for ever in the price book, and is shown to everybody.
fn plain(model: &str) -> bool {
    (1..=128).contains(&model.len()) && model.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))
}

pub(super) fn decide(market: &State, now: Time, from: Time, prices: &[Price]) -> Result<Event, Refusal> {
    let from = if now.since(from) <= SLACK_MS { from.max(now) } else { from };
    if from < now {
        return Err(Refusal::PriceInForce(format!("the list begins at {from}, and it is {now}")));
    }
    if prices.is_empty() {
        return Err(Refusal::invalid("prices", "a list needs at least one price"));
    }
    if let Some(wrong) = prices.iter().find(|p| p.micro < Micro(0) || p.micro > MOST) {
        return Err(Refusal::invalid("prices", format!("{}: a price is between 0 and {MOST} CNY an hour", wrong.sku)));
    }
    if let Some(wrong) = prices.iter().find(|p| !p.sku.model().is_none_or(plain)) {
        return Err(Refusal::invalid(
            "prices",
            format!("{:?}: a model is 1 to 128 letters, digits, '-', '_', '.' or '+'", wrong.sku),
        ));
    }
    let mut next = market.prices.len();
    let mut items: Vec<PriceItem> = Vec::with_capacity(prices.len());
    for price in prices {
        if items.iter().any(|item| item.sku == price.sku) {
            return Err(Refusal::invalid("prices", format!("{} stands twice", price.sku)));
        }
        let id = market.prices.number(&price.sku).unwrap_or_else(|| {
            next += 1;
            SkuId(next - 1)
        });
        items.push(PriceItem { id, sku: price.sku.clone(), price: price.micro });
    }
    Ok(PricesPublished { list: PriceListId(market.last_list + 1), from, items }.into())
}
