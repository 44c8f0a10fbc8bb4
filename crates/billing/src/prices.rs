//! The price book: every published price of every SKU, by the time from which it holds. Nothing is ever overwritten.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, str::FromStr};
use units::{Micro, PriceListId, Time};

/// What a price is for. One whole card, one server, one unit of compute or one core, for an hour.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
pub enum Sku {
    /// One card of this model; a share costs its part.
    #[n(0)]
    Card(#[n(0)] String),
    /// One whole server with cards of this model. Without such a price a server costs its cards.
    #[n(1)]
    Server(#[n(0)] String),
    /// One dense FP16 TFLOPS.
    #[n(2)]
    Tflops,
    /// One CPU core.
    #[n(3)]
    Cpu,
}

impl Sku {
    /// The model of card that it is about, if it is about one.
    pub fn model(&self) -> Option<&str> {
        match self {
            Sku::Card(model) | Sku::Server(model) => Some(model),
            Sku::Tflops | Sku::Cpu => None,
        }
    }
}

impl fmt::Display for Sku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sku::Card(model) => write!(f, "card/{model}"),
            Sku::Server(model) => write!(f, "server/{model}"),
            Sku::Tflops => f.write_str("unit/tflops"),
            Sku::Cpu => f.write_str("unit/cpu"),
        }
    }
}

impl FromStr for Sku {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some(("card", model)) if !model.is_empty() => Ok(Sku::Card(model.into())),
            Some(("server", model)) if !model.is_empty() => Ok(Sku::Server(model.into())),
            Some(("unit", "tflops")) => Ok(Sku::Tflops),
            Some(("unit", "cpu")) => Ok(Sku::Cpu),
            _ => Err(format!("'{text}' is not card/MODEL, server/MODEL, unit/tflops or unit/cpu")),
        }
    }
}

/// A SKU's number: its place in the order of first publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(transparent)]
#[serde(transparent)]
pub struct SkuId(#[n(0)] pub u32);

/// One line of a published price list.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
pub struct PriceItem {
    /// The SKU's number.
    #[n(0)]
    pub id: SkuId,
    /// What it is.
    #[n(1)]
    pub sku: Sku,
    /// Its price per hour.
    #[n(2)]
    pub price: Micro,
}

/// A price with the list that set it and the time from which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// From when on.
    pub from: Time,
    /// Per hour.
    pub micro: Micro,
    /// The list that set it.
    pub list: PriceListId,
}

/// All prices, past and to come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceBook {
    numbers: BTreeMap<Sku, SkuId>,
    /// By SKU number, ascending by time. A later list for the same instant replaces the earlier one from there on.
    history: Vec<Vec<Price>>,
}

impl PriceBook {
    /// The SKU's number, if it was ever priced.
    pub fn number(&self, sku: &Sku) -> Option<SkuId> {
        self.numbers.get(sku).copied()
    }

    /// Every SKU with its number, in the order of the SKU.
    pub fn skus(&self) -> impl Iterator<Item = (&Sku, SkuId)> {
        self.numbers.iter().map(|(sku, id)| (sku, *id))
    }

    /// How many SKUs there are; the next new one gets this number.
    pub fn len(&self) -> u32 {
        u32::try_from(self.history.len()).expect("fewer than 2^32 SKUs")
    }

    /// Whether nothing was ever priced.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// The price in force at `time`.
    pub fn at(&self, sku: SkuId, time: Time) -> Option<Price> {
        let prices = self.history.get(sku.0 as usize)?;
        let after = prices.partition_point(|p| p.from <= time);
        after.checked_sub(1).map(|i| prices[i])
    }

    /// Prices of a SKU that begin inside `(from, until)`, ascending.
    pub fn changes(&self, sku: SkuId, from: Time, until: Time) -> &[Price] {
        let Some(prices) = self.history.get(sku.0 as usize) else { return &[] };
        let first = prices.partition_point(|p| p.from <= from);
        let last = prices.partition_point(|p| p.from < until);
        &prices[first.min(last)..last]
    }

    /// The first instant after `time` at which any price changes.
    pub fn next_change(&self, time: Time) -> Option<Time> {
        let next = |prices: &Vec<Price>| prices.get(prices.partition_point(|p| p.from <= time)).map(|p| p.from);
        self.history.iter().filter_map(next).min()
    }

    /// Enters a list that holds from `from` on.
    pub fn publish(&mut self, list: PriceListId, from: Time, items: &[PriceItem]) {
        for item in items {
            let at = item.id.0 as usize;
            if at >= self.history.len() {
                self.history.resize_with(at + 1, Vec::new);
            }
            self.numbers.insert(item.sku.clone(), item.id);
            let prices = &mut self.history[at];
            let place = prices.partition_point(|p| p.from < from);
            let price = Price { from, micro: item.price, list };
            if prices.get(place).is_some_and(|p| p.from == from) {
                prices[place] = price;
            } else {
                prices.insert(place, price);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(price: i64) -> PriceItem {
        PriceItem { id: SkuId(0), sku: Sku::Card("A100".into()), price: Micro::from_cny(price) }
    }

    #[test]
    fn the_price_is_the_one_in_force_at_the_time_of_use() {
        let mut book = PriceBook::default();
        book.publish(PriceListId(1), Time(100), &[item(20)]);
        book.publish(PriceListId(2), Time(200), &[item(25)]);
        assert_eq!(book.at(SkuId(0), Time(99)), None);
        assert_eq!(book.at(SkuId(0), Time(199)).unwrap().micro, Micro::from_cny(20));
        assert_eq!(book.at(SkuId(0), Time(200)).unwrap().micro, Micro::from_cny(25));
        assert_eq!(book.changes(SkuId(0), Time(100), Time(200)), []);
        assert_eq!(book.changes(SkuId(0), Time(100), Time(201)).len(), 1);
        assert_eq!(
            [99, 100, 199, 200].map(|t| book.next_change(Time(t))),
            [Some(Time(100)), Some(Time(200)), Some(Time(200)), None]
        );
    }

    #[test]
    fn a_sku_is_read_back_as_it_is_spoken() {
        for text in ["card/A100-80GB", "server/H100", "unit/tflops", "unit/cpu"] {
            assert_eq!(text.parse::<Sku>().unwrap().to_string(), text);
        }
        assert!("card/".parse::<Sku>().is_err());
        assert!("unit/gpu".parse::<Sku>().is_err());
    }
}
