//! `suanzu quote`: the price before it is spent. The same is shown before every order.

use super::order::Order;
use crate::{
    app::{App, Done},
    client::Call,
    failure::Failure,
    language::phrases as p,
    output::{Column, Show, money, shown, text_of},
};
use serde_json::Value;
use std::process::ExitCode;

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
    let quote = app.send(order.call(&order.models(app)?)?.query("validate_only", "true"))?.body;
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
    let quote = app.send(call.clone().query("validate_only", "true"))?.body;
    if quote["state"].is_null() {
        // The order itself is refused in full, with reasons and what would fit.
        return Ok(call);
    }
    tell(&quote, app);
    app.screen.confirm(&p::ASK_RENT)?;
    // Made anew: `--for` counts from here, not from before the answer.
    order.call(&models)
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
