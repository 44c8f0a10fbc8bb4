//! `/v1/prices`: what things cost, cost before and will cost.

use crate::{
    App, AtLeast, Body, Caller, NoParams, Page, Params, Problem, Written,
    bodies::{Money, hourly, instant, price},
    etag,
};
use axum::{Json, extract::State, response::Response};
use engine::{Answer, Attach, Idempotency};
use rental::{
    Command, Event, State as Core,
    billing::{self, Sku},
    market,
    tenancy::Act,
};
use serde::{Deserialize, Serialize};
use units::{PriceListId, Time};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, publish)).routes(routes!(history))
}

/// A price.
#[derive(Serialize, ToSchema)]
#[schema(as = Price)]
struct PriceBody {
    /// What for.
    #[schema(example = "card/A100-80GB")]
    sku: String,
    /// Per hour of one whole.
    price_per_hour: Money,
    /// From when it holds.
    #[schema(value_type = String, format = DateTime)]
    from: Time,
    /// The list that set it.
    #[schema(value_type = String)]
    list: PriceListId,
}

/// Prices in force, with their version.
#[utoipa::path(get, path = "/v1/prices", tag = "prices", params(AtLeast), responses((status = OK, body = Page<PriceBody>)))]
async fn list(State(app): State<App>, caller: Caller, _: Params<NoParams>) -> Result<Response, Problem> {
    caller.may(Act::Look)?;
    let now = app.handle().now();
    let items = app.handle().read(|state| {
        let prices = &state.market.prices;
        prices.skus().filter_map(|(sku, id)| prices.at(id, now).map(|price| body(sku, price))).collect()
    });
    Ok(etag::tagged(Page::<PriceBody>::whole(items)))
}

/// Which prices.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OfSku {
    /// Only of this SKU.
    sku: Option<String>,
}

/// Every price ever published, past and to come, by SKU and time.
#[utoipa::path(get, path = "/v1/prices/history", tag = "prices", params(AtLeast, OfSku),
    responses((status = OK, body = Page<PriceBody>)))]
async fn history(State(app): State<App>, caller: Caller, Params(of): Params<OfSku>) -> Result<Json<Page<PriceBody>>, Problem> {
    caller.may(Act::Look)?;
    let only: Option<Sku> = of.sku.map(|sku| sku.parse().map_err(|error: String| Problem::query("sku", error))).transpose()?;
    Ok(Json(Page::whole(app.handle().read(|state| all(state, only.as_ref())))))
}

fn all(state: &Core, only: Option<&Sku>) -> Vec<PriceBody> {
    let prices = &state.market.prices;
    let skus = prices.skus().filter(|(sku, _)| only.is_none_or(|only| only == *sku));
    skus.flat_map(|(sku, id)| prices.changes(id, Time(i64::MIN), Time::MAX).iter().map(|price| body(sku, *price))).collect()
}

fn body(sku: &Sku, price: billing::Price) -> PriceBody {
    PriceBody { sku: sku.to_string(), price_per_hour: hourly(price.micro.rate(1000)), from: price.from, list: price.list }
}

/// A price list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Publish {
    /// From when it holds: now or later; `null`: as soon as it is written.
    #[serde(default, deserialize_with = "instant")]
    #[schema(value_type = Option<String>, format = DateTime)]
    effective: Option<Time>,
    /// SKUs that are not in it keep their prices.
    prices: Vec<NewPrice>,
}

/// One line of a price list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewPrice {
    /// `card/MODEL`, `server/MODEL`, `unit/tflops` or `unit/cpu`.
    #[schema(example = "card/A100-80GB")]
    sku: String,
    /// CNY an hour, at most six decimals.
    #[schema(example = "20.00")]
    price: String,
}

/// A list that was published.
#[derive(Serialize, ToSchema)]
struct Published {
    /// The list.
    #[schema(value_type = String)]
    list: PriceListId,
    /// From when it holds.
    #[schema(value_type = String, format = DateTime)]
    effective: Time,
    /// The entry.
    seq: u64,
}

/// Publishes a price list. Prices in force are never changed, only followed by others.
#[utoipa::path(post, path = "/v1/prices", tag = "prices", request_body = Publish,
    responses((status = CREATED, body = Published)))]
async fn publish(State(app): State<App>, caller: Caller, body: Body<Publish>) -> Result<Written<Published>, Problem> {
    caller.may(Act::Operate)?;
    let promise = body.idempotency(&caller);
    let line = |(at, line): (usize, &NewPrice)| {
        let sku = line.sku.parse().map_err(|error: String| Problem::field(format!("/prices/{at}/sku"), error))?;
        Ok(market::Price { sku, micro: price(&format!("/prices/{at}/price"), &line.price)? })
    };
    let prices: Vec<market::Price> = body.value.prices.iter().enumerate().map(line).collect::<Result<_, Problem>>()?;
    let answer = match body.value.effective {
        Some(from) => submit(&app, &caller, promise, from, prices).await?,
        None => at_once(&app, &caller, promise, prices).await?,
    };
    let seq = app.seq_of(&answer);
    let list = answer.events().find_map(|event| match event {
        Event::Market(market::Event::PricesPublished(e)) => Some(Published { list: e.list, effective: e.from, seq }),
        _ => None,
    });
    Ok(Written::created(seq, list.expect("a published list stands in its entry")))
}

/// The entry's time is not known before it is written, and a list may not begin before it: a moment later, and again.
async fn at_once(
    app: &App,
    caller: &Caller,
    promise: Option<Idempotency>,
    prices: Vec<market::Price>,
) -> Result<Answer, Problem> {
    for ahead_ms in [5, 50, 500] {
        match submit(app, caller, promise, app.handle().now().plus_ms(ahead_ms), prices.clone()).await {
            Err(late) if late.code() == "price_in_force" => {}
            answered => return answered,
        }
    }
    submit(app, caller, promise, app.handle().now().plus_ms(5_000), prices).await
}

async fn submit(
    app: &App,
    caller: &Caller,
    promise: Option<Idempotency>,
    from: Time,
    prices: Vec<market::Price>,
) -> Result<Answer, Problem> {
    let command = Command::Market(market::Command::PublishPrices { from, prices });
    app.submit(caller, promise, command, Attach::Nothing).await
}
