//! Instants and half-open intervals, in milliseconds since 1970-01-01T00:00:00Z.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// Milliseconds in an hour: the unit a lease is held and renewed by.
pub const HOUR_MS: i64 = 3_600_000;

/// An instant: elapsed UTC milliseconds. Spoken as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(transparent)]
pub struct Time(#[n(0)] pub i64);

impl Time {
    /// Later than anything.
    pub const MAX: Time = Time(i64::MAX);

    /// The instant `ms` milliseconds later (earlier if negative); stays within range.
    pub fn plus_ms(self, ms: i64) -> Time {
        Time(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant.
    pub fn since(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => write!(f, "{instant:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl FromStr for Time {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|t| Time(t.as_millisecond()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if s.is_human_readable() { s.collect_str(self) } else { s.serialize_i64(self.0) }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        if d.is_human_readable() {
            String::deserialize(d)?.parse().map_err(D::Error::custom)
        } else {
            i64::deserialize(d).map(Time)
        }
    }
}

/// `[from, until)`: the start belongs to it, the end does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Interval {
    /// First instant inside.
    #[n(0)]
    pub from: Time,
    /// First instant after it; `None` while it is open.
    #[n(1)]
    pub until: Option<Time>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_read_with_any_offset_and_spoken_in_utc() {
        let time: Time = "2026-05-01T09:23:20+08:00".parse().unwrap();
        assert_eq!(time.to_string(), "2026-05-01T01:23:20.000Z");
        assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
    }
}
