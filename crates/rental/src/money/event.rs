//! Facts about money, each with its balanced movements. They stand in the tenant's part, both legs.

use crate::event::events;
use billing::{Move, SkuId};
use minicbor::{Decode, Encode};
use serde::Serialize;
use units::{LeaseId, Micro, Ticks, Time};

events! {
    /// A fact about a tenant's money.
    PaymentOpened = "money.payment_opened/1"
    Paid = "money.paid/1"
    PaymentFailed = "money.payment_failed/1"
    CreditSet = "money.credit_set/1"
    Adjusted = "money.adjusted/1"
    Held = "money.held/1"
    Charged = "money.charged/1"
    Reversed = "money.reversed/1"
    Released = "money.hold_released/1"
    Lost = "money.lost/1"
}

/// A payment is awaited.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct PaymentOpened {
    /// The provider's id.
    #[n(0)]
    pub payment: String,
    /// How much.
    #[n(1)]
    pub ticks: Ticks,
}

/// Money came in.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Paid {
    /// The provider's id.
    #[n(0)]
    pub payment: String,
    /// How much.
    #[n(1)]
    pub ticks: Ticks,
    /// From `cash`: debt first, then the wallet.
    #[n(2)]
    pub moves: Move,
}

/// The provider says that a payment failed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct PaymentFailed {
    /// The provider's id.
    #[n(0)]
    pub payment: String,
    /// It was settled before: the balance stays, the operator must look.
    #[n(1)]
    pub after_settlement: bool,
}

/// How far the tenant may owe.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct CreditSet {
    /// The limit from here on.
    #[n(0)]
    pub limit: Ticks,
}

/// A correction by the operator.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Adjusted {
    /// Why.
    #[n(0)]
    pub reason: String,
    /// Between `adjustments` and the tenant.
    #[n(1)]
    pub moves: Move,
}

/// Money was set aside for a lease.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Held {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// From the wallet, then from credit, to `held`.
    #[n(1)]
    pub moves: Move,
}

/// Use at one price was charged.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Charged {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// First millisecond charged.
    #[n(1)]
    pub from: Time,
    /// First millisecond not charged.
    #[n(2)]
    pub until: Time,
    /// What was used.
    #[n(3)]
    pub sku: SkuId,
    /// How much of it, in thousandths.
    #[n(4)]
    pub milli: u64,
    /// Its price per hour of one whole.
    #[n(5)]
    pub micro: Micro,
    /// `micro × milli × milliseconds × 90`.
    #[n(6)]
    pub ticks: Ticks,
    /// From what was held, then the wallet, then as debt, to `revenue`.
    #[n(7)]
    pub moves: Move,
}

/// A charge was taken back: the service had failed. Same fields as the charge, for the part that is reversed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Reversed {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// First millisecond given back.
    #[n(1)]
    pub from: Time,
    /// First millisecond not given back.
    #[n(2)]
    pub until: Time,
    /// What had been charged.
    #[n(3)]
    pub sku: SkuId,
    /// How much of it, in thousandths.
    #[n(4)]
    pub milli: u64,
    /// The price it was charged at.
    #[n(5)]
    pub micro: Micro,
    /// `micro × milli × milliseconds × 90`.
    #[n(6)]
    pub ticks: Ticks,
    /// From `revenue`: debt first, then the wallet.
    #[n(7)]
    pub moves: Move,
}

/// What was left of a lease's hold went back, and its run is closed.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Released {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// From `held`: debt first, then the wallet.
    #[n(1)]
    pub moves: Move,
}

/// Use that nobody can be charged for.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Lost {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// First millisecond.
    #[n(1)]
    pub from: Time,
    /// First millisecond after it.
    #[n(2)]
    pub until: Time,
    /// What it would have cost.
    #[n(3)]
    pub ticks: Ticks,
    /// Why nobody pays.
    #[n(4)]
    pub reason: String,
    /// From `loss` to `revenue`.
    #[n(5)]
    pub moves: Move,
}
