//! Durations as people write and read them: `1h30m`, `45s`, `2d`.

use jiff::SignedDuration;

/// Milliseconds of a duration such as `1h30m`; above zero.
pub fn milliseconds(text: &str) -> Result<i64, String> {
    let wrong = || format!("'{text}' is no duration: write 1h30m, 45s or 2d");
    // A day is 24 hours here: bills are by the second, not by the calendar.
    let (days, rest) = match text.split_once('d') {
        Some((days, rest)) => (days.parse::<u32>().map_err(|_| wrong())?, rest),
        None => (0, text),
    };
    let rest = if rest.is_empty() && days > 0 { SignedDuration::ZERO } else { rest.parse().map_err(|_| wrong())? };
    let duration = SignedDuration::from_hours(24 * i64::from(days)).checked_add(rest).ok_or_else(wrong)?;
    i64::try_from(duration.as_millis()).ok().filter(|ms| *ms > 0).ok_or_else(wrong)
}

/// A duration for people: the two largest units, `1h 30m`, `12s`, `0.4s`.
pub fn spoken(ms: i64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{}.{}s", seconds, (ms % 1000).abs() / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, ms) in [("1h30m", 5_400_000), ("45s", 45_000), ("2d", 172_800_000), ("1d12h", 129_600_000), ("250ms", 250)] {
            assert_eq!(milliseconds(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_or_none_at_all_is_refused() {
        for wrong in ["", "5", "h", "-1h", "0s", "1 fortnight", "xd"] {
            assert!(milliseconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_spoken_with_two_units() {
        for (ms, text) in [(400, "0.4s"), (12_300, "12s"), (61_000, "1m 01s"), (5_400_000, "1h 30m"), (90_000_000, "1d 01h")] {
            assert_eq!(spoken(ms), text);
        }
    }
}
