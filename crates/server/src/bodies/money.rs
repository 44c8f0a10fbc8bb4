//! Money on the wire.

use crate::Problem;
use serde::{Deserialize, Serialize};
use units::{Micro, Ticks};
use utoipa::ToSchema;

/// An amount of money: rounded for people, exact for programs.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq, ToSchema)]
pub struct Money {
    /// Decimal with six places, half up.
    #[schema(example = "12.345678")]
    pub amount: String,
    /// ISO 4217.
    #[schema(example = "CNY")]
    pub currency: String,
    /// The exact amount: 1 CNY = 324 × 10¹⁵ ticks.
    #[schema(example = "4000000000000000000")]
    pub ticks: String,
}

impl From<Ticks> for Money {
    fn from(ticks: Ticks) -> Money {
        Money { amount: ticks.amount(), currency: "CNY".into(), ticks: ticks.0.to_string() }
    }
}

/// Reads a decimal amount of CNY from a body's field.
pub(crate) fn cny(pointer: &str, text: &str) -> Result<Ticks, Problem> {
    Ticks::parse_cny(text).map_err(|error| Problem::field(pointer, error.to_string()))
}

/// Reads a price in CNY an hour from a body's field.
pub(crate) fn price(pointer: &str, text: &str) -> Result<Micro, Problem> {
    let price: Micro = text.parse().map_err(|error: units::ParseMoneyError| Problem::field(pointer, error.to_string()))?;
    if price < Micro(0) { Err(Problem::field(pointer, "a price is not negative")) } else { Ok(price) }
}
