//! Money as integers. The unit is the tick: 1 CNY = 324 × 10¹⁵ ticks.
//!
//! The tick is chosen so that a price with six decimals per hour, times a permille share, times a millisecond is
//! a whole number of ticks (90), and so is a price per GB-month of 30 × 24 h. Rating is multiplication only;
//! cutting an interval anywhere cannot change a sum.

use minicbor::{Decode, Decoder, Encode, Encoder, decode, encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign, Neg, Sub, SubAssign},
    str::FromStr,
};

/// An amount of money in ticks. Stored as 16 bytes, big-endian; spoken in JSON as a decimal string of ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub i128);

impl Ticks {
    /// Nothing.
    pub const ZERO: Ticks = Ticks(0);
    /// Ticks in one CNY.
    pub const PER_CNY: i128 = 324_000_000_000_000_000;
    /// Ticks in one fen (0.01 CNY).
    pub const PER_FEN: i128 = Self::PER_CNY / 100;
    /// Ticks in one micro-yuan (0.000001 CNY).
    pub const PER_MICRO: i128 = Self::PER_CNY / 1_000_000;

    /// Whole yuan as ticks.
    pub const fn from_cny(cny: i64) -> Ticks {
        Ticks(cny as i128 * Self::PER_CNY)
    }

    /// Whole fen as ticks.
    pub const fn from_fen(fen: i64) -> Ticks {
        Ticks(fen as i128 * Self::PER_FEN)
    }

    /// The amount in fen, rounded half up (away from zero below zero). Only an invoice line may round so.
    pub fn to_fen_half_up(self) -> i128 {
        round_half_away(self.0, Self::PER_FEN)
    }

    /// The amount in CNY with six decimals, half up: `"12.345678"`. For people and JSON; not for arithmetic.
    pub fn amount(self) -> String {
        let micro = round_half_away(self.0, Self::PER_MICRO);
        decimal(micro, 6)
    }

    /// The amount in CNY with two decimals, half up: `"12.35"`.
    pub fn yuan(self) -> String {
        decimal(self.to_fen_half_up(), 2)
    }

    /// Reads a decimal amount of CNY with at most six decimals, such as `500` or `0.25`.
    pub fn parse_cny(text: &str) -> Result<Ticks, ParseMoneyError> {
        Ok(Ticks(i128::from(parse_micro(text)?) * Self::PER_MICRO))
    }

    /// Sixteen bytes, big-endian, two's complement: the form in the journal and in SQL.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The reverse of [`Ticks::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Ticks {
        Ticks(i128::from_be_bytes(bytes))
    }

    /// The smaller of the two.
    pub fn min(self, other: Ticks) -> Ticks {
        Ticks(self.0.min(other.0))
    }

    /// The amount, or nothing where it is negative.
    pub fn or_zero(self) -> Ticks {
        Ticks(self.0.max(0))
    }

    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.0 > 0
    }
}

fn round_half_away(value: i128, unit: i128) -> i128 {
    let magnitude = (value.abs() + unit / 2) / unit;
    if value < 0 { -magnitude } else { magnitude }
}

fn decimal(value: i128, places: u32) -> String {
    let scale = 10_i128.pow(places);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}.{:0width$}", value.abs() / scale, value.abs() % scale, width = places as usize)
}

fn parse_micro(text: &str) -> Result<i64, ParseMoneyError> {
    let wrong = || ParseMoneyError { given: text.chars().take(40).collect() };
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let dotted = digits.contains('.');
    let plain = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(part) || part.len() > 6 || (dotted && part.is_empty()) {
        return Err(wrong());
    }
    let whole: i64 = whole.parse().map_err(|_| wrong())?;
    let part: i64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000_000).and_then(|w| w.checked_add(part)).map(|m| sign * m).ok_or_else(wrong)
}

/// A text that is not an amount of money with at most six decimals.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{given}' is not an amount: write digits with at most six decimals, such as 12.5")]
pub struct ParseMoneyError {
    /// What was given, cut to 40 characters.
    pub given: String,
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.amount())
    }
}

impl Add for Ticks {
    type Output = Ticks;
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0 + other.0)
    }
}

impl Sub for Ticks {
    type Output = Ticks;
    fn sub(self, other: Ticks) -> Ticks {
        Ticks(self.0 - other.0)
    }
}

impl Neg for Ticks {
    type Output = Ticks;
    fn neg(self) -> Ticks {
        Ticks(-self.0)
    }
}

impl AddAssign for Ticks {
    fn add_assign(&mut self, other: Ticks) {
        self.0 += other.0;
    }
}

impl SubAssign for Ticks {
    fn sub_assign(&mut self, other: Ticks) {
        self.0 -= other.0;
    }
}

impl Sum for Ticks {
    fn sum<I: Iterator<Item = Ticks>>(all: I) -> Ticks {
        all.fold(Ticks::ZERO, Add::add)
    }
}

impl<C> Encode<C> for Ticks {
    fn encode<W: encode::Write>(&self, e: &mut Encoder<W>, _: &mut C) -> Result<(), encode::Error<W::Error>> {
        e.bytes(&self.to_bytes())?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Ticks {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, decode::Error> {
        let bytes = d.bytes()?;
        let bytes = <[u8; 16]>::try_from(bytes).map_err(|_| decode::Error::message("ticks are 16 bytes"))?;
        Ok(Ticks::from_bytes(bytes))
    }
}

impl Serialize for Ticks {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if s.is_human_readable() { s.collect_str(&self.0) } else { s.serialize_i128(self.0) }
    }
}

impl<'de> Deserialize<'de> for Ticks {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        if d.is_human_readable() {
            String::deserialize(d)?.parse().map(Ticks).map_err(D::Error::custom)
        } else {
            i128::deserialize(d).map(Ticks)
        }
    }
}

/// A price: micro-yuan (0.000001 CNY) per hour for one whole card, server, unit of compute or vCPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(transparent)]
#[serde(transparent)]
pub struct Micro(#[n(0)] pub i64);

impl Micro {
    /// Whole yuan per hour.
    pub const fn from_cny(cny: i64) -> Micro {
        Micro(cny * 1_000_000)
    }

    /// What `milli` thousandths of the priced thing cost.
    pub fn rate(self, milli: u64) -> Rate {
        Rate(i128::from(self.0) * i128::from(milli) * Rate::TICKS_PER_MICRO_MILLI)
    }
}

impl FromStr for Micro {
    type Err = ParseMoneyError;
    fn from_str(text: &str) -> Result<Self, ParseMoneyError> {
        parse_micro(text).map(Micro)
    }
}

impl fmt::Display for Micro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal(i128::from(self.0), 6))
    }
}

/// Ticks per millisecond.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub i128);

impl Rate {
    /// One micro-yuan an hour for one thousandth of a card is this many ticks per millisecond:
    /// 324 × 10¹⁵ / 10⁶ / 3,600,000 / 1,000.
    pub const TICKS_PER_MICRO_MILLI: i128 = 90;

    /// What `ms` milliseconds cost.
    pub fn over(self, ms: i64) -> Ticks {
        Ticks(self.0 * i128::from(ms))
    }

    /// How many whole milliseconds `money` pays for; `None` where the rate is zero (for ever).
    pub fn affords(self, money: Ticks) -> Option<i64> {
        (self.0 > 0).then(|| i64::try_from((money.0.max(0)) / self.0).unwrap_or(i64::MAX))
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, other: Rate) -> Rate {
        Rate(self.0 + other.0)
    }
}

impl Sub for Rate {
    type Output = Rate;
    fn sub(self, other: Rate) -> Rate {
        Rate(self.0 - other.0)
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Rate>>(all: I) -> Rate {
        all.fold(Rate(0), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_divides_every_listed_price_share_and_millisecond() {
        // One micro-yuan per hour, a permille of a card, one millisecond.
        assert_eq!(Ticks::PER_CNY % (1_000_000 * 1_000 * 3_600_000), 0);
        assert_eq!(Ticks::PER_CNY / (1_000_000 * 1_000 * 3_600_000), Rate::TICKS_PER_MICRO_MILLI);
        // One micro-yuan per GB-month of 30 days of 24 hours, by the second and by the millisecond.
        assert_eq!(Ticks::PER_CNY % (1_000_000 * 30 * 24 * 3_600 * 1_000), 0);
    }

    #[test]
    fn amounts_round_half_up_at_the_sixth_decimal() {
        assert_eq!(Micro::from_cny(24).rate(1000).over(3_661_000).amount(), "24.406667");
        assert_eq!(Micro::from_cny(24).rate(1000).over(3_661_000).yuan(), "24.41");
        assert_eq!(Ticks(-Ticks::PER_MICRO / 2).amount(), "-0.000001");
        assert_eq!(Ticks::from_fen(5).amount(), "0.050000");
    }

    #[test]
    fn cutting_an_interval_changes_no_sum() {
        let rate = Micro(7_200_001).rate(333);
        assert_eq!(rate.over(3_661_007), rate.over(1_234) + rate.over(3_661_007 - 1_234));
    }

    #[test]
    fn amounts_are_read_strictly() {
        assert_eq!(Ticks::parse_cny("500"), Ok(Ticks::from_cny(500)));
        assert_eq!(Ticks::parse_cny("-0.05"), Ok(Ticks::from_fen(-5)));
        assert_eq!("7.2".parse(), Ok(Micro(7_200_000)));
        for wrong in ["", ".", "1.", ".5", "1e3", "1,000", "0.0000001", "+1", "--1", "99999999999999999999", " 1", "NaN"] {
            assert!(Ticks::parse_cny(wrong).is_err(), "{wrong}");
        }
    }
}
