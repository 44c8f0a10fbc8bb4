//! What a quantity of a SKU costs over an interval: one line per price that was in force.

use crate::{PriceBook, SkuId};
use units::{Micro, Share, Ticks, Time};

/// A stretch of use at one price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// First millisecond charged.
    pub from: Time,
    /// First millisecond not charged.
    pub until: Time,
    /// Price per hour of one whole.
    pub micro: Micro,
    /// The exact amount.
    pub ticks: Ticks,
}

/// The lines for `milli` thousandths of `sku` over `[from, until)`, ascending and without a gap.
///
/// A lease can only have been placed at a price, so there is one at `from`; without any the result is empty.
pub fn rate(prices: &PriceBook, sku: SkuId, milli: u64, from: Time, until: Time) -> impl Iterator<Item = Line> {
    let line = move |(from, until, micro): (Time, Time, Micro)| {
        let ticks = micro.rate(milli).over(until.since(from));
        Line { from, until, micro, ticks }
    };
    stretches(prices, sku, from, until).map(line)
}

/// The stretches of `[from, until)` at one price each, without their cost: the last may have no end.
fn stretches(prices: &PriceBook, sku: SkuId, from: Time, until: Time) -> impl Iterator<Item = (Time, Time, Micro)> {
    let first = prices.at(sku, from).filter(|_| from < until).map(|p| (from, p.micro));
    let changes = prices.changes(sku, from, until);
    let mut starts = first.into_iter().chain(changes.iter().map(|p| (p.from, p.micro))).peekable();
    std::iter::from_fn(move || {
        let (start, micro) = starts.next()?;
        Some((start, starts.peek().map_or(until, |next| next.0), micro))
    })
}

/// Until when `money` pays for `milli` thousandths of `sku` from `from` on: the end of the last whole millisecond that it
/// covers, at the prices known today. [`Time::MAX`] where it never ends.
pub fn affords(prices: &PriceBook, sku: SkuId, milli: u64, from: Time, money: Ticks) -> Time {
    let mut left = money.or_zero();
    let mut last = from;
    for (start, end, micro) in stretches(prices, sku, from, Time::MAX) {
        let rate = micro.rate(milli);
        match rate.affords(left) {
            Some(ms) if start.plus_ms(ms) < end => return start.plus_ms(ms),
            // Priced only now that it is known to be paid for: a price that holds for ever has no cost.
            _ if end < Time::MAX => left -= rate.over(end.since(start)),
            _ => {}
        }
        last = end;
    }
    last
}

/// The part of a card that a share is billed and counted as, in permille: the larger of its compute and its memory.
///
/// `card_mib` is the card's whole memory; a started permille of memory counts.
pub fn share_milli(share: Share, card_mib: u32) -> u64 {
    let memory = (u64::from(share.memory_mib) * 1000).div_ceil(u64::from(card_mib.max(1)));
    u64::from(share.compute).max(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PriceItem, Sku};
    use units::{HOUR_MS, PriceListId};

    fn book(prices: &[(i64, i64)]) -> PriceBook {
        let mut book = PriceBook::default();
        for (n, (from, cny)) in prices.iter().enumerate() {
            let item = PriceItem { id: SkuId(0), sku: Sku::Cpu, price: Micro::from_cny(*cny) };
            book.publish(PriceListId(n as u64), Time(*from), &[item]);
        }
        book
    }

    fn total(book: &PriceBook, from: i64, until: i64) -> Ticks {
        rate(book, SkuId(0), 1000, Time(from), Time(until)).map(|l| l.ticks).sum()
    }

    #[test]
    fn a_price_change_splits_the_line_at_its_instant() {
        let day = 24 * HOUR_MS;
        let book = book(&[(0, 20), (day, 25)]);
        let lines: Vec<Line> = rate(&book, SkuId(0), 1000, Time(0), Time(2 * day)).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].until, Time(day));
        assert_eq!(lines[0].ticks + lines[1].ticks, Ticks::from_cny(24 * 20 + 24 * 25));
    }

    #[test]
    fn money_lasts_as_long_as_the_prices_to_come_allow() {
        let book = book(&[(0, 20), (HOUR_MS, 40)]);
        let lasts = |cny| affords(&book, SkuId(0), 1000, Time(0), Ticks::from_cny(cny));
        assert_eq!(lasts(0), Time(0));
        assert_eq!(lasts(10), Time(HOUR_MS / 2));
        assert_eq!(lasts(40), Time(HOUR_MS + HOUR_MS / 2));
        let free = super::tests::book(&[(0, 0)]);
        assert_eq!(affords(&free, SkuId(0), 1000, Time(0), Ticks::ZERO), Time::MAX);
    }

    #[test]
    fn the_dearest_price_of_the_largest_quantity_has_an_end_that_can_be_told() {
        let book = book(&[(0, 10_000_000), (i64::MAX - 1, 9_000_000)]);
        let million_cards = 1_000_000_000;
        let lasts = affords(&book, SkuId(0), million_cards, Time(0), Ticks::from_cny(10_000_000_000_000));
        assert_eq!(lasts, Time(HOUR_MS));
        let few = affords(&book, SkuId(0), million_cards, Time(i64::MAX - 2), Ticks::from_cny(1));
        assert_eq!(few, Time(i64::MAX - 2));
    }

    #[test]
    fn an_empty_interval_has_no_line() {
        let book = book(&[(0, 20)]);
        assert_eq!(rate(&book, SkuId(0), 1000, Time(5), Time(5)).count(), 0);
        assert_eq!(rate(&book, SkuId(0), 1000, Time(6), Time(5)).count(), 0);
    }

    proptest::proptest! {
        #[test]
        fn a_cut_anywhere_changes_no_sum(change in 1i64..9_000, until in 2i64..10_000, cut in 0i64..10_000) {
            let book = book(&[(0, 7), (change, 9)]);
            let cut = cut.min(until);
            proptest::prop_assert_eq!(total(&book, 0, until), total(&book, 0, cut) + total(&book, cut, until));
        }
    }

    #[test]
    fn a_share_is_billed_by_the_larger_of_compute_and_memory() {
        assert_eq!(share_milli(Share { compute: 250, memory_mib: 20_480 }, 81_920), 250);
        assert_eq!(share_milli(Share { compute: 100, memory_mib: 40_961 }, 81_920), 501);
        assert_eq!(share_milli(Share { compute: 1000, memory_mib: 0 }, 81_920), 1000);
    }
}
