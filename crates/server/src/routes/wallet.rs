//! `/v1/wallet`: balances, payments, credit, corrections.

use crate::{
    App, AtLeast, Body, Caller, OfTenant, Params, Problem, Written,
    bodies::{Money, cny},
    path::Id,
};
use axum::{Json, extract::State};
use engine::{Attach, Idempotency};
use rental::{
    Command, State as Core,
    billing::Account,
    money::{self, Payment},
    tenancy::Act,
};
use serde::{Deserialize, Serialize};
use units::TenantId;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(open))
        .routes(routes!(settle))
        .routes(routes!(top_up))
        .routes(routes!(set_credit))
        .routes(routes!(adjust))
}

/// What a tenant has, owes and has spent.
#[derive(Serialize, ToSchema)]
struct Wallet {
    /// Whose.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// What a new order may hold: wallet and unused credit.
    available: Money,
    /// Own money, free to use.
    wallet: Money,
    /// Set aside for running leases.
    held: Money,
    /// Owed.
    owed: Money,
    /// How far may be owed.
    credit_limit: Money,
    /// Charged over the tenant's life, less what was given back.
    charged: Money,
    /// Paid in over the tenant's life.
    paid: Money,
    /// The entry that this reflects.
    seq: u64,
}

/// A payment.
#[derive(Serialize, ToSchema)]
struct PaymentBody {
    /// The provider's id of it.
    payment: String,
    /// How much.
    amount: Money,
    /// `pending`, `succeeded` or `failed`.
    state: &'static str,
    /// The provider said that it failed after it had succeeded: the balance stays, the operator looks.
    disputed: bool,
    /// The wallet now.
    wallet: Wallet,
    /// The entry.
    seq: u64,
}

/// A tenant's balances.
#[utoipa::path(get, path = "/v1/wallet", tag = "wallet", params(AtLeast, OfTenant), responses((status = OK, body = Wallet)))]
async fn show(State(app): State<App>, caller: Caller, Params(of): Params<OfTenant>) -> Result<Json<Wallet>, Problem> {
    caller.may(Act::Look)?;
    let tenant = caller.tenant(of.tenant)?;
    app.handle().read(|state| known(state, tenant).map(|()| wallet(state, tenant))).map(Json)
}

fn known(state: &Core, tenant: TenantId) -> Result<(), Problem> {
    state.tenancy.tenants.contains_key(&tenant).then_some(()).ok_or_else(|| Problem::not_found(tenant))
}

fn wallet(state: &Core, tenant: TenantId) -> Wallet {
    let book = state.money.book(tenant);
    let totals = book.totals();
    Wallet {
        tenant,
        available: book.available().into(),
        wallet: book.balance(Account::Wallet).into(),
        held: book.balance(Account::Held).into(),
        owed: book.debt().into(),
        credit_limit: book.credit_limit.into(),
        charged: totals.charged.into(),
        paid: totals.paid.into(),
        seq: state.seq,
    }
}

/// A payment to come.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OpenPayment {
    /// The provider's id of it.
    #[schema(example = "pay-77")]
    payment: String,
    /// How much, in CNY.
    #[schema(example = "500.00")]
    amount: String,
}

/// Opens a payment with the provider; the money counts once it is settled.
#[utoipa::path(post, path = "/v1/wallet/payments", tag = "wallet", params(OfTenant), request_body = OpenPayment,
    responses((status = CREATED, body = PaymentBody)))]
async fn open(
    State(app): State<App>,
    caller: Caller,
    Params(of): Params<OfTenant>,
    body: Body<OpenPayment>,
) -> Result<Written<PaymentBody>, Problem> {
    caller.may(Act::Rent)?;
    let tenant = caller.tenant(of.tenant)?;
    let promise = body.idempotency(&caller);
    let OpenPayment { payment, amount } = body.value;
    let ticks = cny("/amount", &amount)?;
    let command = money::Command::OpenPayment { tenant, payment: payment.clone(), ticks };
    let seq = submit(&app, &caller, promise, command).await?;
    let paid = app.handle().read(|state| payment_body(state, tenant, payment, seq))?;
    Ok(Written::created(seq, paid))
}

/// How a payment ended.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Settle {
    /// What the provider says.
    outcome: Outcome,
    /// Whose payment it is.
    #[schema(value_type = String)]
    tenant: TenantId,
}

/// What a payment's provider may say.
#[derive(Debug, Deserialize, PartialEq, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// The money came.
    Succeeded,
    /// It did not.
    Failed,
}

/// The provider's notice. It may come often and in any order: a payment is settled once.
#[utoipa::path(post, path = "/v1/wallet/payments/{payment}/settle", tag = "wallet", params(("payment" = String, Path)),
    request_body = Settle, responses((status = OK, body = PaymentBody)))]
async fn settle(
    State(app): State<App>,
    caller: Caller,
    Id(payment): Id<String>,
    body: Body<Settle>,
) -> Result<Written<PaymentBody>, Problem> {
    caller.may(Act::Operate)?;
    let promise = body.idempotency(&caller);
    let Settle { outcome, tenant } = body.value;
    let paid = outcome == Outcome::Succeeded;
    let command = money::Command::SettlePayment { tenant, payment: payment.clone(), paid };
    let seq = submit(&app, &caller, promise, command).await?;
    let body = app.handle().read(|state| payment_body(state, tenant, payment, seq))?;
    if body.disputed {
        tracing::warn!(%tenant, payment = body.payment, "a payment is said to have failed after it had succeeded");
    }
    Ok(Written::changed(seq, body))
}

/// Money that came in by another way.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TopUp {
    /// To whom.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// The operator's id of it: a second one of the same id is none.
    #[schema(example = "bank-2026-0042")]
    payment: String,
    /// How much, in CNY.
    amount: String,
}

/// Puts money into a wallet: opened and settled at once.
#[utoipa::path(post, path = "/v1/wallet/top-ups", tag = "wallet", request_body = TopUp,
    responses((status = CREATED, body = PaymentBody)))]
async fn top_up(State(app): State<App>, caller: Caller, body: Body<TopUp>) -> Result<Written<PaymentBody>, Problem> {
    caller.may(Act::Operate)?;
    let promise = body.idempotency(&caller);
    let TopUp { tenant, payment, amount } = body.value;
    let ticks = cny("/amount", &amount)?;
    let command = money::Command::TopUp { tenant, payment: payment.clone(), ticks };
    let seq = submit(&app, &caller, promise, command).await?;
    let paid = app.handle().read(|state| payment_body(state, tenant, payment, seq))?;
    Ok(Written::created(seq, paid))
}

/// A credit limit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Credit {
    /// Whose.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// How far may be owed, in CNY.
    limit: String,
}

/// Sets how far a tenant may owe.
#[utoipa::path(put, path = "/v1/wallet/credit", tag = "wallet", request_body = Credit,
    responses((status = OK, body = Wallet)))]
async fn set_credit(State(app): State<App>, caller: Caller, body: Body<Credit>) -> Result<Written<Wallet>, Problem> {
    caller.may(Act::Operate)?;
    let promise = body.idempotency(&caller);
    let tenant = body.value.tenant;
    let limit = cny("/limit", &body.value.limit)?;
    let seq = submit(&app, &caller, promise, money::Command::SetCredit { tenant, limit }).await?;
    Ok(Written::changed(seq, app.handle().read(|state| wallet(state, tenant))))
}

/// A correction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Adjustment {
    /// Whose wallet.
    #[schema(value_type = String)]
    tenant: TenantId,
    /// In the tenant's favour, or against him if negative, in CNY.
    #[schema(example = "-3.50")]
    amount: String,
    /// Why, for the tenant to read.
    reason: String,
}

/// Corrects a wallet by a new posting.
#[utoipa::path(post, path = "/v1/wallet/adjustments", tag = "wallet", request_body = Adjustment,
    responses((status = CREATED, body = Wallet)))]
async fn adjust(State(app): State<App>, caller: Caller, body: Body<Adjustment>) -> Result<Written<Wallet>, Problem> {
    caller.may(Act::Operate)?;
    // Nothing in a correction says whether it was meant twice.
    let promise = body.promised(&caller)?;
    let Adjustment { tenant, amount, reason } = body.value;
    let ticks = cny("/amount", &amount)?;
    let seq = submit(&app, &caller, promise, money::Command::Adjust { tenant, ticks, reason }).await?;
    Ok(Written::created(seq, app.handle().read(|state| wallet(state, tenant))))
}

async fn submit(app: &App, caller: &Caller, promise: Option<Idempotency>, command: money::Command) -> Result<u64, Problem> {
    let answer = app.submit(caller, promise, Command::Money(command), Attach::Nothing).await?;
    Ok(app.seq_of(&answer))
}

fn payment_body(state: &Core, tenant: TenantId, payment: String, seq: u64) -> Result<PaymentBody, Problem> {
    let key = (tenant, payment);
    let known = state.money.payments.get(&key).ok_or_else(|| Problem::not_found(format!("payment '{}'", key.1)))?;
    let Payment { ticks, paid, failed } = known;
    let word = match (paid, failed) {
        (true, _) => "succeeded",
        (false, true) => "failed",
        (false, false) => "pending",
    };
    let (amount, disputed, wallet) = ((*ticks).into(), *paid && *failed, wallet(state, tenant));
    Ok(PaymentBody { payment: key.1, amount, state: word, disputed, wallet, seq })
}
