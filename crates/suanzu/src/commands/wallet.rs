//! `suanzu wallet`: what is there, what is held, what came and went.

use super::statement;
use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::{Value, json};
use units::TenantId;

/// What can be done with a wallet.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show balance, holds and credit
    Show,
    /// List what came and went
    Statement,
    /// Put money in that came by another way (operator)
    TopUp {
        #[command(flatten)]
        payment: Payment,
    },
    /// Open a payment, to be settled when the money comes
    Pay {
        #[command(flatten)]
        payment: Payment,
    },
    /// Say how a payment ended (operator)
    Settle {
        /// Its id at the provider
        payment: String,
        /// Whether the money came
        #[arg(value_parser = ["succeeded", "failed"])]
        outcome: String,
    },
    /// Set how far the tenant may owe (operator)
    Credit {
        /// In CNY
        limit: String,
    },
    /// Correct the balance by a posting of its own (operator)
    Adjust {
        /// In CNY, negative to take
        #[arg(allow_negative_numbers = true)]
        amount: String,
        /// Why, for the tenant to read
        #[arg(long)]
        reason: String,
    },
}

/// A payment.
#[derive(Debug, Clone, clap::Args)]
pub struct Payment {
    /// In CNY
    pub amount: String,
    /// Its id at the provider: a second payment of the same id is none
    #[arg(long, value_name = "ID")]
    pub payment: String,
}

/// Fields of a wallet.
pub const COLUMNS: &[Column] = &[
    Column::new(&p::TENANT, "/tenant", Show::Text),
    Column::new(&p::AVAILABLE, "/available", Show::Money),
    Column::new(&p::WALLET, "/wallet", Show::Money),
    Column::new(&p::HELD, "/held", Show::Money),
    Column::new(&p::OWED, "/owed", Show::Money),
    Column::new(&p::CREDIT_LIMIT, "/credit_limit", Show::Money),
    Column::new(&p::CHARGED, "/charged", Show::Money),
    Column::new(&p::PAID, "/paid", Show::Money),
];

/// Fields of a payment, with what the wallet holds now.
const PAYMENT: &[Column] = &[
    Column::new(&p::PAYMENT, "/payment", Show::Text),
    Column::new(&p::AMOUNT, "/amount", Show::Money),
    Column::new(&p::STATE, "/state", Show::Word),
    Column::new(&p::AVAILABLE, "/wallet/available", Show::Money),
];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    let call = match verb {
        Verb::Show => Call::get("/v1/wallet").of_tenant(),
        Verb::Statement => return statement::run(app),
        Verb::TopUp { payment } => top_up(tenant(app)?, payment),
        Verb::Pay { payment: Payment { payment, amount } } => {
            Call::post("/v1/wallet/payments").of_tenant().body(json!({ "payment": payment, "amount": amount }))
        }
        Verb::Settle { payment, outcome } => {
            let body = for_tenant(app, json!({ "outcome": outcome }))?;
            Call::post(format!("/v1/wallet/payments/{payment}/settle")).body(body)
        }
        Verb::Credit { limit } => Call::put("/v1/wallet/credit").body(for_tenant(app, json!({ "limit": limit }))?),
        Verb::Adjust { amount, reason } => {
            let body = for_tenant(app, json!({ "amount": amount, "reason": reason }))?;
            Call::post("/v1/wallet/adjustments").body(body)
        }
    };
    let columns = if matches!(verb, Verb::TopUp { .. } | Verb::Pay { .. } | Verb::Settle { .. }) { PAYMENT } else { COLUMNS };
    app.object(call, columns)
}

/// The call that tops a wallet up.
pub fn top_up(tenant: TenantId, Payment { amount, payment }: &Payment) -> Call {
    Call::post("/v1/wallet/top-ups").body(json!({ "tenant": tenant, "payment": payment, "amount": amount }))
}

fn tenant(app: &App) -> Result<TenantId, Failure> {
    let named = app.client.target().tenant.as_deref();
    let named = named.ok_or_else(|| Failure::Usage(app.screen.language.say(&p::NAME_A_TENANT).into()))?;
    named.parse().map_err(|error: units::ParseIdError| Failure::Usage(error.to_string()))
}

fn for_tenant(app: &App, mut body: Value) -> Result<Value, Failure> {
    body["tenant"] = json!(tenant(app)?);
    Ok(body)
}
