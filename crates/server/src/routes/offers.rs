//! `/v1/offers`: what can be rented, at what price, and how much of it is free.

use crate::{
    App, AtLeast, Caller, NoParams, Page, Params, Problem,
    bodies::{Money, SIMULATED, decimal, hourly},
};
use axum::{Json, extract::State};
use rental::{
    State as Core,
    billing::{Sku, SkuId},
    placement::{DeviceView, NodeStatus, NodeView, Occupancy},
    tenancy::Act,
};
use serde::Serialize;
use units::{Micro, Time};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Something that can be rented.
#[derive(Serialize, ToSchema)]
struct Offer {
    /// What is charged for.
    #[schema(example = "card/A100-80GB")]
    sku: String,
    /// The card's model, where it is one.
    model: Option<String>,
    /// Memory of one card in MiB.
    memory_mib: Option<u32>,
    /// Of one whole card, server, TFLOPS or core, for an hour.
    price_per_hour: Money,
    /// How many can be had whole now: cards, servers, TFLOPS or cores.
    free: String,
    /// How many there are.
    total: String,
    /// The smallest share of a card; `null` where it is rented whole only.
    smallest_share: Option<SmallestShare>,
    /// What keeps tenants apart: `whole` cards, or `soft` shares of them as well.
    isolation: &'static str,
    /// Simulated: nothing runs there.
    simulated: bool,
}

/// The smallest share.
#[derive(Serialize, ToSchema)]
struct SmallestShare {
    /// Permille of the card.
    compute: u32,
    /// MiB.
    memory_mib: u32,
}

/// What can be rented now.
#[utoipa::path(get, path = "/v1/offers", tag = "offers", params(AtLeast), responses((status = OK, body = Page<Offer>)))]
async fn list(State(app): State<App>, caller: Caller, _: Params<NoParams>) -> Result<Json<Page<Offer>>, Problem> {
    caller.may(Act::Look)?;
    let now = app.handle().now();
    Ok(Json(Page::whole(app.handle().read(|state| offers(state, now)))))
}

fn offers(state: &Core, now: Time) -> Vec<Offer> {
    let prices = &state.market.prices;
    let occupancy = state.fleet.devices().occupancy();
    let offer = |(sku, id): (&Sku, SkuId)| {
        let price = prices.at(id, now)?.micro;
        match sku {
            Sku::Card(model) => cards(state, sku, price, occupancy.iter().find(|o| o.model == *model)?),
            Sku::Server(model) => servers(state, sku, price, model),
            Sku::Tflops => tflops(state, sku, price),
            Sku::Cpu => cores(state, sku, price),
        }
    };
    prices.skus().filter_map(offer).collect()
}

fn devices(state: &Core) -> impl Iterator<Item = DeviceView<'_>> {
    state.fleet.devices().nodes().flat_map(|node| node.devices())
}

fn cards(state: &Core, sku: &Sku, price: Micro, occupancy: &Occupancy) -> Option<Offer> {
    let first = devices(state).find(|device| device.model() == occupancy.model)?;
    let node = state.fleet.devices().node(first.node())?;
    let policy = &state.market.policy;
    let smallest = SmallestShare { compute: policy.share_compute, memory_mib: policy.share_memory_mib };
    Some(Offer {
        model: Some(occupancy.model.clone()),
        memory_mib: Some(first.memory_mib()),
        free: occupancy.free_cards.to_string(),
        total: occupancy.cards.to_string(),
        smallest_share: (first.max_shares() > 0).then_some(smallest),
        isolation: if first.max_shares() > 0 { "soft" } else { "whole" },
        simulated: on_paper(&node),
        ..plain(sku, price)
    })
}

fn servers(state: &Core, sku: &Sku, price: Micro, model: &str) -> Option<Offer> {
    let of_model = |node: &NodeView<'_>| node.devices().next().is_some_and(|device| device.model() == model);
    let all = || state.fleet.devices().nodes().filter(of_model);
    let free = all().filter(|node| node.status() == NodeStatus::Offered && node.is_empty()).count();
    let first = all().next()?;
    Some(Offer {
        model: Some(model.to_owned()),
        free: free.to_string(),
        total: all().count().to_string(),
        simulated: on_paper(&first),
        ..plain(sku, price)
    })
}

fn tflops(state: &Core, sku: &Sku, price: Micro) -> Option<Offer> {
    let total: u64 = devices(state).map(|device| u64::from(device.tflops_milli())).sum();
    let left = |device: DeviceView<'_>| u64::from(device.tflops_milli()) * u64::from(device.left().compute) / 1000;
    let free: u64 = devices(state).filter(|device| device.is_offered()).map(left).sum();
    let paper = |device: DeviceView<'_>| state.fleet.devices().node(device.node()).is_some_and(|node| on_paper(&node));
    let simulated = devices(state).all(paper);
    (total > 0).then(|| Offer { free: decimal(free), total: decimal(total), isolation: "soft", simulated, ..plain(sku, price) })
}

fn cores(state: &Core, sku: &Sku, price: Micro) -> Option<Offer> {
    let nodes = || state.fleet.devices().nodes();
    let total: u64 = nodes().map(|node| u64::from(node.cpu_milli().total)).sum();
    let offered = nodes().filter(|node| node.status() == NodeStatus::Offered && !node.is_exclusive());
    let free: u64 = offered.map(|node| u64::from(node.cpu_milli().left())).sum();
    let simulated = nodes().filter(|node| node.cpu_milli().total > 0).all(|node| on_paper(&node));
    (total > 0).then(|| Offer { free: decimal(free), total: decimal(total), simulated, ..plain(sku, price) })
}

fn on_paper(node: &NodeView<'_>) -> bool {
    node.labels().any(|label| label == SIMULATED)
}

fn plain(sku: &Sku, price: Micro) -> Offer {
    Offer {
        sku: sku.to_string(),
        model: None,
        memory_mib: None,
        price_per_hour: hourly(price.rate(1000)),
        free: "0".into(),
        total: "0".into(),
        smallest_share: None,
        isolation: "whole",
        simulated: false,
    }
}
