//! The demo believes nothing: the bill is worked out again, and the record is verified.

use super::world::World;
use crate::{
    client::{Call, Target},
    commands::{receipt, verify},
    failure::Failure,
    language::phrases as p,
    output::{money, text_of},
};
use anyhow::{Context as _, anyhow, ensure};
use serde_json::Value;

/// Milliseconds in an hour.
const HOUR_MS: i128 = 3_600_000;
/// Ticks in a micro-yuan.
const TICKS_PER_MICRO: i128 = 324_000_000_000;

/// Price × seconds is the receipt's total, which is what left the wallet; receipt and record are sound.
pub fn check(receipt: &Value, world: &World) -> Result<(), Failure> {
    let screen = &world.tenant.screen;
    let expected = price_times_time(receipt)?;
    let total = ticks(&receipt["total"])?;
    ensure_equal("price × time", expected, "the receipt's total", total)?;
    let charged = ticks(&world.tenant.send(Call::get("/v1/wallet"))?.body["charged"])?;
    ensure_equal("the receipt's total", total, "what the wallet was charged", charged)?;
    screen.say(&p::DEMO_SUM, &[&money(&receipt["total"])]);
    let file = world.folder().join("receipt.json");
    receipt::keep(receipt, &file)?;
    let key = verify::public_key(&world.folder().join("keys").join("log.pub").display().to_string())?;
    for what in [&file, world.folder()] {
        let what = what.display().to_string();
        let verdict = verify::checked(&what, Some(&key), &Target::default())?;
        ensure_sound(verdict.sound(), &what)?;
        screen.say(&p::DEMO_SOUND, &[&what, &verdict.log.parts.to_string()]);
    }
    Ok(())
}

fn ensure_sound(sound: bool, what: &str) -> Result<(), Failure> {
    if sound { Ok(()) } else { Err(Failure::Other(anyhow!("{what} is not sound; see `suanzu verify {what}`"))) }
}

fn ensure_equal(one: &str, a: i128, other: &str, b: i128) -> Result<(), Failure> {
    if a == b { Ok(()) } else { Err(Failure::Other(anyhow!("{one} is {a} ticks, {other} is {b}: the sums do not agree"))) }
}

/// The sum of price an hour × quantity × time over the receipt's lines, by nothing but what they say.
fn price_times_time(receipt: &Value) -> Result<i128, Failure> {
    let lines = receipt["lines"].as_array().filter(|lines| !lines.is_empty());
    let lines = lines.ok_or_else(|| anyhow!("the receipt has no lines"))?;
    Ok(lines.iter().map(amount).sum::<anyhow::Result<i128>>()?)
}

fn amount(line: &Value) -> anyhow::Result<i128> {
    let micro = fixed(&text_of(&line["unit_price"]), 6)?;
    let milli = fixed(&text_of(&line["quantity"]), 3)?;
    let ms = fixed(&text_of(&line["seconds"]), 3)?;
    let product = micro * milli * ms * TICKS_PER_MICRO;
    ensure!(product % (1000 * HOUR_MS) == 0, "a price × time is no whole number of ticks");
    Ok(product / (1000 * HOUR_MS))
}

/// A decimal as an integer of its last place.
fn fixed(text: &str, places: usize) -> anyhow::Result<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    ensure!(part.len() <= places, "'{text}' has more than {places} decimals");
    format!("{whole}{part:0<places$}").parse().with_context(|| format!("'{text}' is no decimal"))
}

fn ticks(value: &Value) -> anyhow::Result<i128> {
    text_of(&value["ticks"]).parse().with_context(|| format!("{value} has no ticks"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_worth_its_price_times_its_time() {
        let line = json!({"unit_price": "0.360000", "quantity": "1", "seconds": "10.500"});
        // 0.36 CNY/h ÷ 3600 × 10.5 s = 0.00105 CNY.
        assert_eq!(amount(&line).unwrap(), 1_050 * TICKS_PER_MICRO);
        let share = json!({"unit_price": "15", "quantity": "0.25", "seconds": "3600"});
        assert_eq!(amount(&share).unwrap(), 3_750_000 * TICKS_PER_MICRO);
    }

    #[test]
    fn a_receipt_that_says_too_much_is_found_out() {
        assert!(ensure_equal("a", 1, "b", 1).is_ok());
        assert!(ensure_equal("a", 1, "b", 2).is_err());
        assert!(price_times_time(&json!({"lines": []})).is_err());
    }
}
