//! The facts of the journal as the auditor reads them: its own field numbers, from `docs/journal-format.md`.
//!
//! Only fields that the audit needs are named; the decoder passes over the others. Numbers, ids and times are plain
//! integers here, so that nothing of the writer's code takes part in reading them.

pub mod fleet;
pub mod lease;
pub mod market;
pub mod money;
pub mod tenancy;

use minicbor::{
    Decode, Decoder,
    decode::{self, Error},
};

/// A fact, by area.
pub enum Fact {
    Fleet(fleet::Fact),
    Market(market::Fact),
    Tenancy(tenancy::Fact),
    Lease(lease::Fact),
    Money(money::Fact),
}

impl Fact {
    /// Reads `[kind, body]`.
    pub fn read(d: &mut Decoder<'_>) -> Result<Fact, Error> {
        if d.array()? != Some(2) {
            return Err(Error::message("an event is [kind, body]"));
        }
        let kind = d.str()?;
        match kind.split_once('.').map_or("", |(area, _)| area) {
            "fleet" => fleet::Fact::read(kind, d).map(Fact::Fleet),
            "market" => market::Fact::read(kind, d).map(Fact::Market),
            "tenancy" => tenancy::Fact::read(kind, d).map(Fact::Tenancy),
            "lease" => lease::Fact::read(kind, d).map(Fact::Lease),
            "money" => money::Fact::read(kind, d).map(Fact::Money),
            _ => Err(unknown(kind)),
        }
    }
}

fn unknown(kind: &str) -> Error {
    Error::message(format!("'{kind}' is no event kind of this format"))
}

/// Declares an area's kinds and the shape of each one's body. `each names its lease;` before them gives `lease()` too, from the
/// field that all of them have.
macro_rules! facts {
    (each names its $field:ident; $($kind:literal => $name:ident)*) => {
        facts! { $($kind => $name)* }

        impl Fact {
            pub fn $field(&self) -> u64 {
                match self {
                    $(Fact::$name(body) => body.$field,)*
                }
            }
        }
    };
    ($($kind:literal => $name:ident)*) => {
        pub enum Fact {
            $($name($name),)*
        }

        impl Fact {
            pub fn read(kind: &str, d: &mut minicbor::Decoder<'_>) -> Result<Fact, minicbor::decode::Error> {
                match kind {
                    $($kind => d.decode().map(Fact::$name),)*
                    _ => Err(super::unknown(kind)),
                }
            }
        }
    };
}
use facts;

/// Amounts of money: sixteen bytes, big-endian, two's complement.
pub mod ticks {
    use super::{Decoder, Error, decode};

    pub fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<i128, decode::Error> {
        let bytes = d.bytes()?.try_into().map_err(|_| Error::message("an amount of money is sixteen bytes"))?;
        Ok(i128::from_be_bytes(bytes))
    }
}

/// Part of one card: permille of its compute, MiB of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
pub struct Share {
    /// Permille of the compute.
    #[n(0)]
    pub compute: u32,
    /// MiB.
    #[n(1)]
    pub memory: u32,
}

/// A share of a named card.
#[derive(Debug, Clone, PartialEq, Eq, Decode)]
pub struct Slice {
    /// The card.
    #[n(0)]
    pub device: u64,
    /// How much of it.
    #[n(1)]
    pub share: Share,
}

/// What a lease has on one node.
#[derive(Debug, Clone, PartialEq, Eq, Decode)]
pub struct Grant {
    /// The node.
    #[n(0)]
    pub node: u64,
    /// Thousandths of a core.
    #[n(1)]
    pub cpu: u32,
    /// Main memory in MiB.
    #[n(2)]
    pub memory: u32,
    /// Cards and shares of cards.
    #[n(3)]
    pub slices: Vec<Slice>,
    /// The whole server is taken.
    #[n(4)]
    pub exclusive: bool,
}

/// What is priced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Decode)]
pub enum Sku {
    /// One card of this model.
    #[n(0)]
    Card(#[n(0)] String),
    /// One server with cards of this model.
    #[n(1)]
    Server(#[n(0)] String),
    /// One TFLOPS.
    #[n(2)]
    Tflops,
    /// One core.
    #[n(3)]
    Cpu,
}
