//! `suanzu quote`: the price before it is spent. The same is shown before every order.

use super::order::Order;
use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::phrases as p,
    output::{Column, Show, money, shown, text_of},
};
use serde_json::{Value, json};
use std::process::ExitCode;
use units::{HOUR_MS, Ticks};

/// Fields of a quote.
pub const COLUMNS: &[Column] = &[
    Column::new(&p::PRICE_HOUR, "/price_per_hour", Show::Money),
    Column::new(&p::HOLD, "/hold", Show::Money),
    Column::new(&p::STATE, "/state", Show::Word),
    Column::new(&p::SKU, "/sku", Show::Text),
    Column::new(&p::PLACEMENT, "/placement", Show::Grants),
    Column::new(&p::DETAIL, "/refusal/detail", Show::Text),
    Column::new(&p::REASONS, "/refusal/reasons", Show::Text),
    Column::new(&p::INSTEAD, "/refusal/alternatives", Show::Alternatives),
];

/// Carries it out.
pub fn run(order: &Order, app: &App) -> Done {
    let quote = asked(order.call(&order.models(app)?)?, order, app)?;
    app.screen.object(&quote, COLUMNS)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows price, hold and place of an order, and asks. Gives the call to send.
pub fn agreed(order: &Order, app: &App) -> Result<Call, Failure> {
    if app.client.only_shows() {
        return order.call(&order.models(app)?);
    }
    app.screen.can_confirm()?;
    let models = order.models(app)?;
    let call = order.call(&models)?;
    let quote = asked(call.clone(), order, app)?;
    if quote["state"].is_null() {
        // The order itself is refused in full, with reasons and what would fit.
        return Ok(call);
    }
    tell(&quote, app);
    app.screen.confirm(&p::ASK_RENT)?;
    // Made anew: `--for` counts from here, not from before the answer.
    order.call(&models)
}

/// What an order would lead to. One for so long is quoted some milliseconds after its time began to count, and would say that
/// less is held than the order will hold: the hold is that of all of its time, of an hour at most.
fn asked(call: Call, order: &Order, app: &App) -> Result<Value, Failure> {
    let mut quote = app.send(call.query("validate_only", "true"))?.body;
    let an_hour = quote["price_per_hour"]["ticks"].as_str().and_then(|ticks| ticks.parse::<i128>().ok());
    if let Some((an_hour, lasting)) = an_hour.zip(order.lasting) {
        let held = Ticks(an_hour * i128::from(lasting.min(HOUR_MS)) / i128::from(HOUR_MS));
        quote["hold"] = json!({ "amount": held.amount(), "currency": "CNY", "ticks": held.0.to_string() });
    }
    Ok(quote)
}

/// Says price, hold and place.
pub fn tell(quote: &Value, app: &App) {
    let language = app.screen.language;
    if quote["price_per_hour"].is_null() {
        app.screen.say(&p::QUOTE_WAITS, &[&text_of(&quote["refusal"]["detail"])]);
        return;
    }
    app.screen.say(&p::QUOTE, &[&money(&quote["price_per_hour"]), &money(&quote["hold"])]);
    app.screen.say(&p::QUOTE_WHERE, &[&shown(quote.get("placement"), Show::Grants, language)]);
}
