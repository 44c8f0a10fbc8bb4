//! `suanzu price`: what an hour costs, and what it cost.

use crate::{
    app::{App, Done},
    client::Call,
    language::phrases as p,
    output::{Column, Show},
};
use clap::Subcommand;
use serde_json::{Value, json};

/// What can be done with prices.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the prices in force
    List,
    /// Publish a list; what it does not name keeps its price
    Publish {
        /// SKU=PRICE in CNY an hour: card/A100-80GB=10, server/A100-80GB=72, unit/tflops=0.03, unit/cpu=0.12
        #[arg(required = true, value_name = "SKU=PRICE", value_parser = priced)]
        prices: Vec<(String, String)>,
        /// From when on (RFC 3339); now if it is left out
        #[arg(long, value_name = "INSTANT")]
        effective: Option<String>,
    },
    /// Every price a SKU ever had
    History {
        /// Such as card/A100-80GB
        sku: Option<String>,
    },
}

fn priced(text: &str) -> Result<(String, String), String> {
    let (sku, price) = text.rsplit_once('=').ok_or("write SKU=PRICE, such as card/A100-80GB=10")?;
    price.parse::<units::Micro>().map_err(|error| error.to_string())?;
    Ok((sku.into(), price.into()))
}

const COLUMNS: &[Column] = &[
    Column::new(&p::SKU, "/sku", Show::Text),
    Column::new(&p::PRICE_HOUR, "/price_per_hour", Show::Money),
    Column::new(&p::SINCE, "/from", Show::Time),
    Column::new(&p::PRICE_LIST, "/list", Show::Text),
];

const PUBLISHED: &[Column] =
    &[Column::new(&p::PRICE_LIST, "/list", Show::Text), Column::new(&p::SINCE, "/effective", Show::Time)];

/// Carries it out.
pub fn run(verb: &Verb, app: &App) -> Done {
    match verb {
        Verb::List => app.list(Call::get("/v1/prices"), COLUMNS),
        Verb::History { sku } => app.list(Call::get("/v1/prices/history").maybe("sku", sku.as_deref()), COLUMNS),
        Verb::Publish { prices, effective } => app.object(publish(prices, effective.as_deref()), PUBLISHED),
    }
}

/// The call that publishes these prices.
pub fn publish(prices: &[(String, String)], effective: Option<&str>) -> Call {
    let prices: Vec<Value> = prices.iter().map(|(sku, price)| json!({ "sku": sku, "price": price })).collect();
    Call::post("/v1/prices").body(json!({ "effective": effective, "prices": prices }))
}
