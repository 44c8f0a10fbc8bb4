//! An ask is checked, its models ranked by price, and its placement priced.

use crate::{Refusal, State as Root, market::Policy};
use billing::{Sku, SkuId, share_milli};
use units::{Accept, Ask, Grant, Micro, Size, Time, UnitKind};

/// More servers, cards or units than any fleet has; keeps every product inside its integer.
const MOST: u64 = 1_000_000;

/// Longest name of a model or a label, in bytes: it stands in every entry of its lease.
const LONGEST: usize = 128;

/// Refuses an ask that makes no sense, whatever the fleet.
pub(super) fn check(policy: &Policy, now: Time, ask: &Ask) -> Result<(), Refusal> {
    let quantity = match ask.size {
        Size::Servers(n) | Size::Cards(n) => u64::from(n),
        Size::Share(_) => 1,
        Size::Units(_, milli) => milli.div_ceil(1000),
    };
    if quantity == 0 || quantity > MOST {
        return Err(Refusal::invalid("size", format!("ask for 1 to {MOST}")));
    }
    if let Size::Share(share) = ask.size {
        let (compute, memory) = (policy.share_compute, policy.share_memory_mib);
        if share.compute < compute || share.compute > 1000 {
            return Err(Refusal::invalid("size", format!("a share has {compute} to 1000 permille of compute")));
        }
        if share.memory_mib < memory {
            return Err(Refusal::invalid("size", format!("a share has at least {memory} MiB of memory")));
        }
    }
    if ask.models.len() > 64 || ask.labels.len() > 64 {
        return Err(Refusal::invalid("models", "name at most 64 models and 64 labels"));
    }
    if ask.models.iter().any(|m| m.model.len() > LONGEST) || ask.labels.iter().any(|label| label.len() > LONGEST) {
        return Err(Refusal::invalid("models", format!("a model or a label has at most {LONGEST} bytes")));
    }
    if ask.interval.until.is_some_and(|end| end <= now) {
        return Err(Refusal::invalid("until", format!("it must lie after {now}")));
    }
    Ok(())
}

/// The ask with its acceptable models ranked by today's price, cheapest first. Models without a price are left out.
pub(super) fn rank(root: &Root, now: Time, ask: &Ask) -> Result<Ask, Refusal> {
    let mut ranked = Ask { interval: units::Interval { from: now, until: ask.interval.until }, ..ask.clone() };
    if matches!(ask.size, Size::Units(..)) {
        return Ok(ranked);
    }
    let price = |model: &str| price_of(root, now, ask.size, model);
    let mut priced: Vec<(Micro, String)> = if ask.models.is_empty() {
        let models = root.market.prices.skus().filter_map(|(sku, _)| sku.model());
        models.filter_map(|model| Some((price(model)?, model.to_owned()))).collect()
    } else {
        ask.models.iter().filter_map(|accept| Some((price(&accept.model)?, accept.model.clone()))).collect()
    };
    if priced.is_empty() && !cpu_server(root, now, ask) {
        let names: Vec<&str> = ask.models.iter().map(|a| a.model.as_str()).collect();
        return Err(Refusal::NotPriced(if names.is_empty() { "any card".into() } else { names.join(", ") }));
    }
    priced.sort();
    priced.dedup();
    ranked.models = (0..).zip(priced).map(|(rank, (_, model))| Accept { model, rank }).collect();
    Ok(ranked)
}

/// What an hour of a card of the model costs, or of a server of it where servers are asked for.
fn price_of(root: &Root, now: Time, size: Size, model: &str) -> Option<Micro> {
    let card = in_force(root, now, &Sku::Card(model.to_owned())).map(|(_, micro)| micro);
    if !matches!(size, Size::Servers(_)) {
        return card;
    }
    let server = in_force(root, now, &Sku::Server(model.to_owned())).map(|(_, micro)| micro);
    server.or_else(|| {
        let cards = |node: placement::NodeView<'_>| node.devices().filter(|d| d.model() == model).count();
        let least = root.fleet.devices().nodes().map(cards).filter(|cards| *cards > 0).min().unwrap_or(1);
        Some(Micro(card?.0.saturating_mul(i64::try_from(least).unwrap_or(1))))
    })
}

/// A whole server of any kind may also be one without cards, by the price of its cores.
fn cpu_server(root: &Root, now: Time, ask: &Ask) -> bool {
    matches!(ask.size, Size::Servers(_)) && ask.models.is_empty() && in_force(root, now, &Sku::Cpu).is_some()
}

/// What a placement is charged by.
pub(super) struct Tariff {
    pub sku: Sku,
    pub id: SkuId,
    pub milli: u64,
    pub micro: Micro,
}

/// The tariff of what was asked and where it was placed.
pub(super) fn tariff(root: &Root, now: Time, size: Size, grants: &[Grant]) -> Result<Tariff, Refusal> {
    let (sku, milli) = quantity(root, now, size, grants)?;
    let (id, micro) = in_force(root, now, &sku).ok_or_else(|| Refusal::NotPriced(sku.to_string()))?;
    Ok(Tariff { sku, id, milli, micro })
}

/// The least that an hour of the ask costs: for a lease that will wait.
pub(super) fn least_price(root: &Root, now: Time, ask: &Ask) -> Result<(Micro, u64), Refusal> {
    let model = ask.models.first().map(|a| a.model.clone()).unwrap_or_default();
    let (sku, milli) = match ask.size {
        Size::Units(UnitKind::Tflops, milli) => (Sku::Tflops, milli),
        Size::Units(UnitKind::Cpu, milli) => (Sku::Cpu, milli),
        Size::Cards(n) => (Sku::Card(model), 1000 * u64::from(n)),
        Size::Share(share) => (Sku::Card(model), u64::from(share.compute)),
        // A server has at least a thousandth of a core.
        Size::Servers(n) if model.is_empty() => (Sku::Cpu, u64::from(n)),
        Size::Servers(n) => match price_of(root, now, ask.size, &model) {
            Some(micro) => return Ok((micro, 1000 * u64::from(n))),
            None => (Sku::Server(model), 0),
        },
    };
    let (_, micro) = in_force(root, now, &sku).ok_or_else(|| Refusal::NotPriced(sku.to_string()))?;
    Ok((micro, milli))
}

fn quantity(root: &Root, now: Time, size: Size, grants: &[Grant]) -> Result<(Sku, u64), Refusal> {
    let devices = root.fleet.devices();
    let first = grants.iter().flat_map(|g| &g.slices).next().and_then(|s| devices.device(s.device));
    let card = || first.map(|d| Sku::Card(d.model().to_owned()));
    let cards = grants.iter().map(|g| g.slices.len() as u64).sum::<u64>();
    Ok(match (size, card()) {
        (Size::Units(UnitKind::Tflops, milli), _) => (Sku::Tflops, milli),
        (Size::Units(UnitKind::Cpu, milli), _) => (Sku::Cpu, milli),
        (Size::Share(share), Some(card)) => (card, share_milli(share, first.map_or(1, |d| d.memory_mib()))),
        (Size::Cards(_), Some(card)) => (card, 1000 * cards),
        (Size::Servers(n), Some(Sku::Card(model))) => {
            let server = Sku::Server(model.clone());
            let listed = in_force(root, now, &server).is_some();
            if listed { (server, 1000 * u64::from(n)) } else { (Sku::Card(model), 1000 * cards) }
        }
        (Size::Servers(_), _) => (Sku::Cpu, grants.iter().map(|g| u64::from(g.cpu_milli)).sum()),
        (_, _) => return Err(Refusal::NotPriced("a placement without a card".into())),
    })
}

fn in_force(root: &Root, now: Time, sku: &Sku) -> Option<(SkuId, Micro)> {
    let id = root.market.prices.number(sku)?;
    root.market.prices.at(id, now).map(|price| (id, price.micro))
}
