//! Wallets: paid in, held for leases, charged, given back, corrected.

mod event;
mod payments;
mod state;

pub use event::*;
pub use state::{Payment, Run, State};
pub(crate) use state::{apply, totals_after};

use crate::{Refusal, State as Root};
use units::{TenantId, Ticks, Time};

/// What can be done to a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A payment was opened with the provider and is awaited.
    OpenPayment {
        /// Whose.
        tenant: TenantId,
        /// The provider's id of it.
        payment: String,
        /// How much.
        ticks: Ticks,
    },
    /// The provider says how a payment ended. May be said again, in any order.
    SettlePayment {
        /// Whose.
        tenant: TenantId,
        /// The provider's id of it.
        payment: String,
        /// Whether the money came.
        paid: bool,
    },
    /// Money came in by another way (cash, bank): opened and settled at once.
    TopUp {
        /// Whose.
        tenant: TenantId,
        /// The operator's id of it: a second top-up of the same id is none.
        payment: String,
        /// How much.
        ticks: Ticks,
    },
    /// How far the tenant may owe.
    SetCredit {
        /// Whose.
        tenant: TenantId,
        /// The limit, zero or more.
        limit: Ticks,
    },
    /// A correction: a new posting, never an altered one.
    Adjust {
        /// Whose.
        tenant: TenantId,
        /// In the tenant's favour, or against him if negative.
        ticks: Ticks,
        /// Why, for the tenant to read.
        reason: String,
    },
}

impl Command {
    /// The kind in the entry's header.
    pub fn kind(&self) -> &'static str {
        match self {
            Command::OpenPayment { .. } => "money.open_payment",
            Command::SettlePayment { .. } => "money.settle_payment",
            Command::TopUp { .. } => "money.top_up",
            Command::SetCredit { .. } => "money.set_credit",
            Command::Adjust { .. } => "money.adjust",
        }
    }
}

pub(crate) fn decide(root: &Root, _now: Time, command: &Command) -> Result<Vec<crate::Event>, Refusal> {
    let tenant = match command {
        Command::OpenPayment { tenant, .. }
        | Command::SettlePayment { tenant, .. }
        | Command::TopUp { tenant, .. }
        | Command::SetCredit { tenant, .. }
        | Command::Adjust { tenant, .. } => *tenant,
    };
    if !root.tenancy.tenants.contains_key(&tenant) {
        return Err(Refusal::missing(tenant));
    }
    let money = &root.money;
    let events = match command {
        Command::OpenPayment { payment, ticks, .. } => payments::open(money, tenant, payment, *ticks),
        Command::SettlePayment { payment, paid, .. } => payments::settle(money, tenant, payment, *paid),
        Command::TopUp { payment, ticks, .. } => payments::top_up(money, tenant, payment, *ticks),
        Command::SetCredit { limit, .. } => payments::set_credit(money, tenant, *limit),
        Command::Adjust { ticks, reason, .. } => payments::adjust(money, tenant, *ticks, reason),
    }?;
    Ok(events.into_iter().map(|event| crate::Event::Money(tenant, event)).collect())
}
