//! A receipt against the record it carries: every line must stand in a proven part, and cost price × time.
//!
//! The parts are read by what `docs/journal-format.md` says, and by nothing else.

use journal::Bundle;
use minicbor::{Decoder, decode::Error};
use serde_json::Value;
use units::{LeaseId, Ticks};

/// What the record says was booked for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Booked {
    kind: &'static str,
    milli: u64,
    micro: i64,
    ms: i64,
    ticks: Ticks,
}

/// What is wrong with a receipt whose bundle has been checked.
pub fn findings(receipt: &Value, bundle: &Bundle) -> Vec<String> {
    let mut found = Vec::new();
    let lease = receipt.pointer("/lease/id").and_then(Value::as_str).and_then(|id| id.parse::<LeaseId>().ok());
    let Some(lease) = lease else { return vec!["the receipt names no lease".into()] };
    let mut booked = Vec::new();
    for part in &bundle.parts {
        match lines(&part.bytes, lease) {
            Ok(lines) => booked.extend(lines),
            Err(error) => found.push(format!("entry {}: the part cannot be read: {error}", part.seq)),
        }
    }
    for line in &booked {
        // Micro-yuan an hour × permille × milliseconds × 90 are ticks.
        let exact = i128::from(line.micro) * i128::from(line.milli) * i128::from(line.ms) * 90;
        if exact != line.ticks.0 {
            found.push(format!("a line of {} CNY is not price × quantity × time", line.ticks));
        }
    }
    compare(receipt, &booked, &mut found);
    found
}

fn compare(receipt: &Value, booked: &[Booked], found: &mut Vec<String>) {
    let shown: Vec<&Value> = receipt["lines"].as_array().into_iter().flatten().filter(|line| line["kind"] != "lost").collect();
    if shown.len() != booked.len() {
        found.push(format!("the receipt has {} lines, the record {}", shown.len(), booked.len()));
    }
    for (number, (shown, booked)) in (1..).zip(shown.iter().zip(booked)) {
        if ticks(&shown["amount"]) != Some(booked.signed()) || shown["kind"] != booked.kind {
            found.push(format!("line {number}: the record says {} {} CNY", booked.kind, booked.signed()));
        }
    }
    let total: Ticks = booked.iter().map(Booked::signed).sum();
    if ticks(&receipt["total"]) != Some(total) {
        found.push(format!("the total of the record is {total} CNY"));
    }
}

impl Booked {
    /// What it adds to the bill.
    fn signed(&self) -> Ticks {
        if self.kind == "reversed" { -self.ticks } else { self.ticks }
    }
}

fn ticks(money: &Value) -> Option<Ticks> {
    money["ticks"].as_str()?.parse().ok().map(Ticks)
}

/// The charges and reversals of a lease in one part: `[seq, time, part_seq, totals, [[kind, body], …]]`.
fn lines(part: &[u8], lease: LeaseId) -> Result<Vec<Booked>, Error> {
    let mut d = Decoder::new(part);
    d.array()?;
    for _ in 0..4 {
        d.skip()?;
    }
    let mut booked = Vec::new();
    for _ in 0..d.array()?.unwrap_or(0) {
        d.array()?;
        match d.str()? {
            "money.charged/1" => booked.extend(line(&mut d, "charged", lease)?),
            "money.reversed/1" => booked.extend(line(&mut d, "reversed", lease)?),
            _ => d.skip()?,
        }
    }
    Ok(booked)
}

/// `[lease, from, until, sku, milli, micro, ticks, moves]`.
fn line(d: &mut Decoder<'_>, kind: &'static str, wanted: LeaseId) -> Result<Option<Booked>, Error> {
    let fields = d.array()?.unwrap_or(0);
    let lease = LeaseId(d.u64()?);
    let (from, until) = (d.i64()?, d.i64()?);
    d.skip()?;
    let (milli, micro) = (d.u64()?, d.i64()?);
    let ticks = Ticks::from_bytes(d.bytes()?.try_into().map_err(|_| Error::message("ticks are 16 bytes"))?);
    for _ in 7..fields {
        d.skip()?;
    }
    Ok((lease == wanted).then_some(Booked { kind, milli, micro, ms: until - from, ticks }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn charge(ticks: i128) -> Booked {
        Booked { kind: "charged", milli: 250, micro: 12_000_000, ms: 1_800_000, ticks: Ticks(ticks) }
    }

    fn part() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut e = minicbor::Encoder::new(&mut bytes);
        let money = Ticks(486_000_000_000_000_000).to_bytes();
        let encoded = e.array(5).and_then(|e| e.u64(13)).and_then(|e| e.i64(1)).and_then(|e| e.u64(6)).and_then(|e| e.null());
        let encoded = encoded.and_then(|e| e.array(2)).and_then(|e| e.array(2)).and_then(|e| e.str("money.charged/1"));
        let encoded =
            encoded.and_then(|e| e.array(8)).and_then(|e| e.u64(1)).and_then(|e| e.i64(0)).and_then(|e| e.i64(1_800_000));
        let encoded = encoded.and_then(|e| e.u64(0)).and_then(|e| e.u64(250)).and_then(|e| e.i64(12_000_000));
        let encoded = encoded.and_then(|e| e.bytes(&money)).and_then(|e| e.array(0));
        encoded
            .and_then(|e| e.array(2))
            .and_then(|e| e.str("lease.stopping/1"))
            .and_then(|e| e.array(0))
            .expect("a Vec takes all");
        bytes
    }

    #[test]
    fn a_charge_is_read_from_a_part_and_other_leases_are_passed_over() {
        assert_eq!(lines(&part(), LeaseId(1)).unwrap(), [charge(486_000_000_000_000_000)]);
        assert_eq!(lines(&part(), LeaseId(2)).unwrap(), []);
        assert!(lines(&part()[..20], LeaseId(1)).is_err());
    }

    #[test]
    fn a_receipt_that_says_more_than_the_record_is_found_out() {
        let receipt = |line: &str, total: &str| json!({ "lines": [{ "kind": "charged", "amount": { "ticks": line } }], "total": { "ticks": total } });
        let found = |receipt: &Value| {
            let mut found = Vec::new();
            compare(receipt, &[charge(486)], &mut found);
            found.len()
        };
        assert_eq!(found(&receipt("486", "486")), 0);
        assert_eq!(found(&receipt("487", "486")), 1);
        assert_eq!(found(&receipt("487", "487")), 2);
        assert_eq!(found(&json!({ "lines": [], "total": { "ticks": "0" } })), 2);
    }
}
