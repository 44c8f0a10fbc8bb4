//! Prices by time, and what a stretch of use costs.

use crate::{
    facts::{Sku, market::PricesPublished},
    findings::Findings,
};
use std::collections::BTreeMap;
use units::Time;

/// Ticks that one millionth of a yuan an hour costs for one thousandth of a thing and one millisecond:
/// 324 × 10¹⁵ ticks a yuan ÷ 10⁶ ÷ 1,000 ÷ 3,600,000.
const TICKS: i128 = 90;

/// `micro × milli × milliseconds × 90`; `None` where 128 bits do not hold it.
pub fn amount(micro: i64, milli: u64, from: i64, until: i64) -> Option<i128> {
    let ms = i128::from(until) - i128::from(from);
    i128::from(micro).checked_mul(i128::from(milli))?.checked_mul(ms)?.checked_mul(TICKS)
}

/// Every price ever published, by SKU and by the time from which it holds.
#[derive(Default)]
pub struct Prices {
    lists: u64,
    skus: BTreeMap<u32, History>,
}

struct History {
    sku: Sku,
    /// Price by the first millisecond for which it holds.
    from: BTreeMap<i64, i64>,
}

impl Prices {
    /// The price at a time: that of the latest list that holds by then.
    pub fn at(&self, sku: u32, time: i64) -> Option<i64> {
        let history = self.skus.get(&sku)?;
        history.from.range(..=time).next_back().map(|(_, micro)| *micro)
    }

    /// When a list next sets the price after a time.
    pub fn next_change(&self, sku: u32, after: i64) -> Option<i64> {
        let history = self.skus.get(&sku)?;
        history.from.range(after.saturating_add(1)..).next().map(|(from, _)| *from)
    }

    /// The first millisecond of `[from, until)` whose price is not `micro`, with its price.
    pub fn first_other(&self, sku: u32, micro: i64, from: i64, until: i64) -> Option<(i64, Option<i64>)> {
        let mut at = from;
        while at < until {
            let price = self.at(sku, at);
            if price != Some(micro) {
                return Some((at, price));
            }
            at = self.next_change(sku, at).unwrap_or(until);
        }
        None
    }

    /// What `milli` thousandths cost over `[from, until)`, walked from price to price. `None` where there is no price, or
    /// the sum is beyond 128 bits.
    pub fn cost(&self, sku: u32, milli: u64, from: i64, until: i64) -> Option<i128> {
        let (mut at, mut sum) = (from, 0i128);
        while at < until {
            let end = self.next_change(sku, at).map_or(until, |change| change.min(until));
            sum = sum.checked_add(amount(self.at(sku, at)?, milli, at, end)?)?;
            at = end;
        }
        Some(sum)
    }

    /// The number of a SKU that has a price at a time.
    pub fn in_force(&self, sku: &Sku, time: i64) -> Option<u32> {
        let (number, _) = self.skus.iter().find(|(_, history)| history.sku == *sku)?;
        self.at(*number, time).map(|_| *number)
    }

    /// What a SKU's number stands for.
    pub fn sku(&self, number: u32) -> Option<&Sku> {
        self.skus.get(&number).map(|history| &history.sku)
    }

    /// Enters a list. What is in force already must stay as it is, or a past bill would change.
    pub fn publish(&mut self, list: PricesPublished, now: i64, found: &mut Findings) {
        self.lists += 1;
        found.check(list.list == self.lists, || format!("it is price list {} where {} is next", list.list, self.lists));
        self.lists = list.list;
        found.check(list.from >= now, || {
            format!("a price list changes prices from {} on, before it was published", Time(list.from))
        });
        for item in list.items {
            let next = self.skus.len();
            let history = self.skus.entry(item.id).or_insert_with(|| History { sku: item.sku.clone(), from: BTreeMap::new() });
            let fresh = history.from.is_empty();
            found.check(!fresh || item.id as usize == next, || format!("a new SKU has number {} where {next} is next", item.id));
            found.check(history.sku == item.sku, || format!("SKU {} is {:?} and {:?}", item.id, history.sku, item.sku));
            found.check(item.micro >= 0, || format!("SKU {} has a price below zero", item.id));
            history.from.insert(list.from, item.micro);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::market::PriceItem;

    fn prices(lists: &[(i64, i64)]) -> Prices {
        let (mut prices, mut found) = (Prices::default(), Findings::default());
        for (n, (from, micro)) in (1..).zip(lists) {
            let items = vec![PriceItem { id: 0, sku: Sku::Cpu, micro: *micro }];
            prices.publish(PricesPublished { list: n, from: *from, items }, 0, &mut found);
        }
        assert_eq!(found.all, []);
        prices
    }

    #[test]
    fn a_stretch_costs_what_each_of_its_milliseconds_costs() {
        let prices = prices(&[(0, 3), (4, 5), (9, 0), (2, 7)]);
        let each: i128 = (1..12).map(|ms| amount(prices.at(0, ms).unwrap(), 250, ms, ms + 1).unwrap()).sum();
        assert_eq!(prices.cost(0, 250, 1, 12), Some(each));
        assert_eq!(each, (3 + 2 * 7 + 5 * 5) * 250 * 90);
        assert_eq!(prices.cost(0, 250, -1, 12), None);
    }

    #[test]
    fn a_price_changed_behind_its_back_is_found() {
        let mut prices = prices(&[(0, 3)]);
        let mut found = Findings::default();
        prices.publish(PricesPublished { list: 2, from: 5, items: vec![] }, 6, &mut found);
        assert!(found.all[0].what.contains("before it was published"));
        assert_eq!(prices.first_other(0, 3, 0, 10), None);
        assert_eq!(prices.first_other(0, 4, 2, 10), Some((2, Some(3))));
    }
}
