//! Facts about money, in the tenant's part, both legs of every movement.

use super::{facts, ticks};
use minicbor::Decode;

facts! {
    "money.payment_opened/1" => PaymentOpened
    "money.paid/1" => Paid
    "money.payment_failed/1" => PaymentFailed
    "money.credit_set/1" => CreditSet
    "money.adjusted/1" => Adjusted
    "money.held/1" => Held
    "money.charged/1" => Charged
    "money.reversed/1" => Reversed
    "money.hold_released/1" => Released
    "money.lost/1" => Lost
}

impl Fact {
    /// The lease that it is for, if it is for one.
    pub fn lease(&self) -> Option<u64> {
        match self {
            Fact::Held(e) => Some(e.lease),
            Fact::Charged(e) | Fact::Reversed(e) => Some(e.lease),
            Fact::Released(e) => Some(e.lease),
            Fact::Lost(e) => Some(e.lease),
            Fact::PaymentOpened(_) | Fact::Paid(_) | Fact::PaymentFailed(_) | Fact::CreditSet(_) | Fact::Adjusted(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Decode)]
#[cbor(index_only)]
pub enum Account {
    #[n(0)]
    Cash,
    #[n(1)]
    Wallet,
    #[n(2)]
    Held,
    #[n(3)]
    Receivable,
    #[n(4)]
    Revenue,
    #[n(5)]
    Loss,
    #[n(6)]
    Adjustments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
pub struct Movement {
    #[n(0)]
    pub from: Account,
    #[n(1)]
    pub to: Account,
    #[cbor(n(2), with = "ticks")]
    pub ticks: i128,
}

#[derive(Decode)]
pub struct PaymentOpened {
    #[n(0)]
    pub payment: String,
    #[cbor(n(1), with = "ticks")]
    pub ticks: i128,
}

#[derive(Decode)]
pub struct Paid {
    #[n(0)]
    pub payment: String,
    #[cbor(n(1), with = "ticks")]
    pub ticks: i128,
    #[n(2)]
    pub moves: Vec<Movement>,
}

#[derive(Decode)]
pub struct PaymentFailed {
    #[n(0)]
    pub payment: String,
    #[n(1)]
    pub after_settlement: bool,
}

#[derive(Decode)]
pub struct CreditSet {
    #[cbor(n(0), with = "ticks")]
    pub limit: i128,
}

#[derive(Decode)]
pub struct Adjusted {
    #[n(1)]
    pub moves: Vec<Movement>,
}

#[derive(Decode)]
pub struct Held {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub moves: Vec<Movement>,
}

/// A stretch of use at one price; charged, or given back.
#[derive(Decode)]
pub struct Line {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub from: i64,
    #[n(2)]
    pub until: i64,
    #[n(3)]
    pub sku: u32,
    #[n(4)]
    pub milli: u64,
    #[n(5)]
    pub micro: i64,
    #[cbor(n(6), with = "ticks")]
    pub ticks: i128,
    #[n(7)]
    pub moves: Vec<Movement>,
}

pub type Charged = Line;
pub type Reversed = Line;

#[derive(Decode)]
pub struct Released {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub moves: Vec<Movement>,
}

#[derive(Decode)]
pub struct Lost {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub from: i64,
    #[n(2)]
    pub until: i64,
    #[cbor(n(3), with = "ticks")]
    pub ticks: i128,
    #[n(5)]
    pub moves: Vec<Movement>,
}
