//! Amounts that people add up.

use super::text_of;
use serde_json::Value;
use units::{Micro, Ticks};

/// Rounds the rows' amounts so that what is shown adds up to the rounded total: each is what it adds to the rounded sum so
/// far. An exact amount need not end at the sixth decimal, so rounding each by itself would miss the total.
pub fn add_up(rows: &mut [Value], at: &str) {
    let (mut exact, mut shown) = (Ticks::ZERO, Micro(0));
    for amount in rows.iter_mut().filter_map(|row| row.pointer_mut(at)) {
        let Ok(ticks) = text_of(&amount["ticks"]).parse() else { return };
        exact += Ticks(ticks);
        let Ok(sum) = exact.amount().parse::<Micro>() else { return };
        amount["amount"] = Micro(sum.0 - shown.0).to_string().into();
        shown = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_shown_of_the_lines_adds_up_to_what_is_shown_of_the_total() {
        // 4,583.4 and 6.4 millionths of a yuan: by themselves 4,583 and 6, together 4,590.
        let ticks = |tenths: i128| json!({ "amount": "", "ticks": (tenths * Ticks::PER_MICRO / 10).to_string() });
        let mut rows = [json!({ "amount": ticks(45_834) }), json!({ "amount": ticks(64) })];
        add_up(&mut rows, "/amount");
        let shown: Vec<i64> = rows.iter().map(|row| text_of(&row["amount"]["amount"]).parse::<Micro>().unwrap().0).collect();
        assert_eq!((shown[0] + shown[1], Ticks(45_898 * Ticks::PER_MICRO / 10).amount()), (4_590, "0.004590".into()));
    }
}
