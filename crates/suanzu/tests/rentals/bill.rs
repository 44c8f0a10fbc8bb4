//! A receipt worked out again from nothing but its own lines.

use serde_json::Value;
use units::{Micro, Ticks, Time};

fn ticks(value: &Value) -> i128 {
    value["ticks"].as_str().unwrap().parse().unwrap()
}

fn milli(text: &Value) -> i128 {
    let (whole, part) = text.as_str().unwrap().split_once('.').unwrap_or((text.as_str().unwrap(), ""));
    format!("{whole}{part:0<3}").parse().unwrap()
}

/// Asserts that every line is price × quantity × time, that the lines lie end to end, and that the total is their sum.
/// Gives the first line's start and the last one's end.
pub fn check(receipt: &Value) -> (Time, Time) {
    let lines = receipt["lines"].as_array().unwrap();
    assert!(!lines.is_empty(), "nothing was billed");
    let mut total = 0;
    let mut last: Option<Time> = None;
    for line in lines {
        let time = |field: &str| line[field].as_str().unwrap().parse::<Time>().unwrap();
        let (from, until) = (time("from"), time("until"));
        assert!(last.is_none_or(|last| last == from), "time is billed once, without a gap");
        last = Some(until);
        let ms = i128::from(until.since(from));
        assert_eq!(ms, milli(&line["seconds"]), "the seconds are those between the two instants");
        let price: Micro = line["unit_price"].as_str().unwrap().parse().unwrap();
        // CNY an hour × permille × milliseconds: 3.6 million milliseconds an hour, a thousand permille a whole.
        let exact = i128::from(price.0) * Ticks::PER_MICRO * milli(&line["quantity"]) * ms;
        assert_eq!(exact % 3_600_000_000, 0);
        assert_eq!(ticks(&line["amount"]), exact / 3_600_000_000, "price × seconds");
        total += ticks(&line["amount"]);
    }
    assert_eq!(ticks(&receipt["total"]), total);
    let first = lines[0]["from"].as_str().unwrap().parse().unwrap();
    (first, last.unwrap())
}
