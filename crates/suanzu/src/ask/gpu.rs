//! Which cards and how many: `A100`, `A100:8`, `H100:80GB:2`, `gpu>=24GB:4`, and a share of one card `A100:0.25,20GB`.

use super::memory::{card_mib, mib};
use std::str::FromStr;

/// Cards as a person names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Which.
    pub card: Card,
    /// How much of them.
    pub quantity: Quantity,
}

/// Which cards are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Card {
    /// Any card with at least so much memory.
    AtLeast {
        /// In MiB.
        mib: u32,
    },
    /// A model by its full name (`A100-80GB`) or its family (`A100`), where given only those of this nominal memory.
    Model {
        /// As written.
        name: String,
        /// Such as `80GB`, as written.
        memory: Option<String>,
    },
}

/// How much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// Whole cards.
    Cards(u32),
    /// Part of one card.
    Share {
        /// Permille of its compute.
        compute: u32,
        /// Memory in MiB.
        memory_mib: u32,
    },
}

impl Card {
    /// The name that was written, unless any card will do.
    pub fn name(&self) -> Option<&str> {
        match self {
            Card::AtLeast { .. } => None,
            Card::Model { name, .. } => Some(name),
        }
    }

    /// The least memory in MiB, where that was asked for instead of a model.
    pub fn least_mib(&self) -> Option<u32> {
        match self {
            Card::AtLeast { mib } => Some(*mib),
            Card::Model { .. } => None,
        }
    }

    /// Whether a card of this model and memory is meant.
    pub fn accepts(&self, model: &str, memory_mib: u32) -> bool {
        match self {
            Card::AtLeast { mib } => memory_mib >= *mib,
            Card::Model { name, memory } => is_of(model, name) && memory.as_deref().is_none_or(|gb| nominal(gb, memory_mib)),
        }
    }
}

/// `A100` names `A100-80GB` and `A100-40GB`, but not `A1000`.
fn is_of(model: &str, name: &str) -> bool {
    let (model, name) = (model.to_ascii_lowercase(), name.to_ascii_lowercase());
    model.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// A card's memory is within a tenth above its nominal size in powers of ten.
fn nominal(gb: &str, memory_mib: u32) -> bool {
    card_mib(gb).is_ok_and(|least| (least..least + least / 10).contains(&memory_mib))
}

impl FromStr for Gpu {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("'{text}' names no cards: write A100:8, H100:80GB:2, 'gpu>=24GB' (quoted, for the shell) or A100:0.25,20GB")
        };
        let mut words = text.split(':').map(str::trim);
        let first = words.next().filter(|word| !word.is_empty()).ok_or_else(wrong)?;
        let rest: Vec<&str> = words.collect();
        let (memory, quantity) = match rest[..] {
            [] => (None, Quantity::Cards(1)),
            [only] => match quantity(only) {
                Some(quantity) => (None, quantity),
                None => (Some(only), Quantity::Cards(1)),
            },
            [memory, count] => (Some(memory), quantity(count).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        let card = card(first, memory).ok_or_else(wrong)?;
        Ok(Gpu { card, quantity })
    }
}

fn card(name: &str, memory: Option<&str>) -> Option<Card> {
    if let Some((word, least)) = name.split_once(">=") {
        let any = word.trim().eq_ignore_ascii_case("gpu") && memory.is_none();
        return any.then(|| card_mib(least.trim()).ok()).flatten().map(|mib| Card::AtLeast { mib });
    }
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !plain || memory.is_some_and(|gb| card_mib(gb).is_err()) {
        return None;
    }
    // `gpu:2` is any two cards.
    if name.eq_ignore_ascii_case("gpu") && memory.is_none() {
        return Some(Card::AtLeast { mib: 0 });
    }
    Some(Card::Model { name: name.into(), memory: memory.map(Into::into) })
}

fn quantity(word: &str) -> Option<Quantity> {
    match word.split_once(',') {
        None if word.bytes().all(|b| b.is_ascii_digit()) => word.parse().ok().filter(|n| *n > 0).map(Quantity::Cards),
        None => None,
        Some((amount, memory)) => {
            Some(Quantity::Share { compute: permille(amount.trim())?, memory_mib: mib(memory.trim()).ok()? })
        }
    }
}

/// `0.25` or `25%` of a card.
fn permille(amount: &str) -> Option<u32> {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let permille = if let Some(percent) = amount.strip_suffix('%') {
        percent.parse::<u32>().ok().filter(|_| digits(percent))?.checked_mul(10)?
    } else {
        let (whole, part) = amount.split_once('.').unwrap_or((amount, "0"));
        if !digits(whole) || !digits(part) || part.len() > 3 {
            return None;
        }
        whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(format!("{part:0<3}").parse().ok()?)?
    };
    (1..=1000).contains(&permille).then_some(permille)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, memory: Option<&str>) -> Card {
        Card::Model { name: name.into(), memory: memory.map(Into::into) }
    }

    #[test]
    fn cards_are_read_as_people_write_them() {
        let share = |compute, memory_mib| Quantity::Share { compute, memory_mib };
        for (text, card, quantity) in [
            ("A100", model("A100", None), Quantity::Cards(1)),
            ("A100:8", model("A100", None), Quantity::Cards(8)),
            ("A100-80GB:8", model("A100-80GB", None), Quantity::Cards(8)),
            ("H100:80GB:2", model("H100", Some("80GB")), Quantity::Cards(2)),
            ("H100:80GB", model("H100", Some("80GB")), Quantity::Cards(1)),
            ("gpu>=24GB", Card::AtLeast { mib: 22_888 }, Quantity::Cards(1)),
            ("gpu >= 24GB:4", Card::AtLeast { mib: 22_888 }, Quantity::Cards(4)),
            ("gpu:2", Card::AtLeast { mib: 0 }, Quantity::Cards(2)),
            ("A100:0.25,20GB", model("A100", None), share(250, 20_480)),
            ("A100:10%,4GB", model("A100", None), share(100, 4_096)),
            ("A100:1,40GB", model("A100", None), share(1000, 40_960)),
            ("A100:80GB:0.5,40GB", model("A100", Some("80GB")), share(500, 40_960)),
        ] {
            assert_eq!(text.parse(), Ok(Gpu { card, quantity }), "{text}");
        }
    }

    #[test]
    fn what_names_no_cards_is_refused_with_examples() {
        for wrong in [
            "",
            ":8",
            "A100:0",
            "A100:0.25",
            "A100:1.5,4GB",
            "A100:0.0001,4GB",
            "A100:x",
            "A100:80GB:2:3",
            "gpu>=",
            "gpu>=24",
            "A 100",
            "A100:110%,4GB",
        ] {
            let error = wrong.parse::<Gpu>().unwrap_err();
            assert!(error.contains("A100:8"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_family_names_its_models_and_no_others() {
        let of = |text: &str, name: &str, mib| text.parse::<Gpu>().unwrap().card.accepts(name, mib);
        assert!(of("a100", "A100-80GB", 81_920));
        assert!(of("A100", "A100-40GB", 40_960));
        assert!(!of("A10", "A100-80GB", 81_920));
        assert!(of("H100:80GB", "H100-80GB", 81_559));
        assert!(!of("A100:80GB", "A100-40GB", 40_960));
        assert!(!of("A100:40GB", "A100-80GB", 81_920));
        assert!(of("gpu>=24GB", "L4", 23_034));
    }
}
