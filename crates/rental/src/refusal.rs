//! The world says no: typed, with a stable code and reasons that the asker can act on.

use placement::{Alternative, WhyNot};
use units::{Micro, Ticks};

/// Why a command was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no such object, or the asker may not know of it.
    #[error("there is no {0}")]
    NotFound(String),
    /// The asker's role or key does not allow it.
    #[error("not allowed: {0}")]
    Forbidden(String),
    /// A field of the command makes no sense.
    #[error("{field}: {why}")]
    Invalid {
        /// The field, as the API names it.
        field: &'static str,
        /// What is wrong and what would be right.
        why: String,
    },
    /// Nothing fits now, and the asker does not want to wait.
    #[error("no room now: {why}")]
    NoCapacity {
        /// Counted reasons over all nodes.
        why: WhyNot,
        /// What would fit now.
        alternatives: Vec<Alternative>,
    },
    /// Nothing of this fleet could ever hold it, empty as it may be.
    #[error("no node could ever hold this: {why}")]
    NeverFits {
        /// Counted reasons over all nodes.
        why: WhyNot,
        /// What would fit now.
        alternatives: Vec<Alternative>,
    },
    /// Others wait longer than the policy's bound and go first.
    #[error("{waiting} leases wait longer than the bound and go first")]
    QueueAhead {
        /// How many wait.
        waiting: u32,
    },
    /// The wallet and the credit do not cover the hold.
    #[error("available {available} CNY, needed {needed} CNY for the hold")]
    InsufficientFunds {
        /// What would have to be held.
        needed: Ticks,
        /// What there is.
        available: Ticks,
    },
    /// A limit of the tenant would be passed.
    #[error("limit on {limit}: {used} used and {asked} asked, {allowed} allowed")]
    LimitReached {
        /// Which limit.
        limit: &'static str,
        /// In use now, in the limit's unit.
        used: String,
        /// Asked for.
        asked: String,
        /// Allowed in all.
        allowed: String,
    },
    /// The price is above what the asker accepts.
    #[error("the price is {price} CNY an hour, the most accepted is {most}")]
    TooDear {
        /// Price per hour of the whole lease.
        price: Micro,
        /// The asker's limit.
        most: Micro,
    },
    /// Nobody has published a price for it.
    #[error("there is no price for {0}")]
    NotPriced(String),
    /// A price in force cannot be changed; publish one that holds from a later time.
    #[error("prices in force cannot be changed: {0}")]
    PriceInForce(String),
    /// The object is not in a state in which this can be done.
    #[error("{0}")]
    WrongState(String),
    /// It exists already, with other contents.
    #[error("{0} exists already")]
    Exists(String),
}

impl Refusal {
    /// A stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::NotFound(_) => "not_found",
            Refusal::Forbidden(_) => "forbidden",
            Refusal::Invalid { .. } => "invalid",
            Refusal::NoCapacity { .. } => "no_capacity",
            Refusal::NeverFits { .. } => "never_fits",
            Refusal::QueueAhead { .. } => "queue_ahead",
            Refusal::InsufficientFunds { .. } => "insufficient_funds",
            Refusal::LimitReached { .. } => "limit_reached",
            Refusal::TooDear { .. } => "too_dear",
            Refusal::NotPriced(_) => "not_priced",
            Refusal::PriceInForce(_) => "price_in_force",
            Refusal::WrongState(_) => "wrong_state",
            Refusal::Exists(_) => "exists",
        }
    }

    /// A refusal of one field.
    pub fn invalid(field: &'static str, why: impl Into<String>) -> Refusal {
        Refusal::Invalid { field, why: why.into() }
    }

    /// There is no such object.
    pub fn missing(id: impl std::fmt::Display) -> Refusal {
        Refusal::NotFound(id.to_string())
    }
}
