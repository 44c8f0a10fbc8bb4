//! Abstract compute: `100tflops`, `12.5 tflops`, `4cpu`.

use std::str::FromStr;

/// An amount of abstract compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    /// `tflops` or `cpu`, as the API spells it.
    pub kind: &'static str,
    /// A decimal with at most three places.
    pub amount: String,
}

impl FromStr for Units {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no amount of compute: write 100tflops or 4cpu");
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, kind) = text.split_at(digits);
        let kind = match kind.trim().to_ascii_lowercase().as_str() {
            "tflops" | "tf" => "tflops",
            "cpu" | "cpus" | "core" | "cores" => "cpu",
            _ => return Err(wrong()),
        };
        Ok(Units { kind, amount: thousandths(number).ok_or_else(wrong)? })
    }
}

/// A positive decimal with at most three places, as it was written.
pub fn thousandths(text: &str) -> Option<String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let positive = text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    (digits(whole) && digits(part) && part.len() <= 3 && positive).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compute_is_read_with_its_unit() {
        let read = |text: &str| text.parse::<Units>().map(|u| (u.kind, u.amount));
        assert_eq!(read("100tflops"), Ok(("tflops", "100".into())));
        assert_eq!(read("12.5 TFLOPS"), Ok(("tflops", "12.5".into())));
        assert_eq!(read("0.125cpu"), Ok(("cpu", "0.125".into())));
        assert_eq!(read("4 cores"), Ok(("cpu", "4".into())));
    }

    #[test]
    fn finer_than_a_thousandth_and_nothing_at_all_are_refused() {
        for wrong in ["100", "tflops", "0cpu", "0.0cpu", "1.2345cpu", "1..2cpu", "5gpus", "-1cpu"] {
            assert!(wrong.parse::<Units>().is_err(), "{wrong}");
        }
    }
}
