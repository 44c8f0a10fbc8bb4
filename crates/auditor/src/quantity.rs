//! What a placement is charged by: which SKU, and how many thousandths of it.

use crate::{
    facts::{
        Grant, Sku, Slice,
        lease::{Ask, Size, UnitKind},
    },
    fleet::{Device, Fleet},
    prices::Prices,
};

/// The SKU and the thousandths of it for what was asked and where it was placed; an error says why there is none.
pub fn quantity(size: Size, grants: &[Grant], fleet: &Fleet, prices: &Prices, now: i64) -> Result<(Sku, u64), String> {
    if let Size::Units(kind, milli) = size {
        return Ok((if kind == UnitKind::Cpu { Sku::Cpu } else { Sku::Tflops }, milli));
    }
    let devices = devices(grants, fleet)?;
    let model = devices.first().map(|d| d.model.clone());
    if let Some(other) = devices.iter().find(|d| Some(&d.model) != model.as_ref()) {
        return Err(format!("device-{} is no {}", other.id, model.unwrap_or_default()));
    }
    let cards = 1000 * devices.len() as u64;
    match (size, model) {
        (Size::Share(share), Some(model)) => {
            let card = u64::from(devices[0].memory.max(1));
            // A started permille of memory counts.
            let memory = (u64::from(share.memory) * 1000).div_ceil(card);
            Ok((Sku::Card(model), memory.max(u64::from(share.compute))))
        }
        (Size::Servers(n), Some(model)) => {
            let server = Sku::Server(model.clone());
            let listed = prices.in_force(&server, now).is_some();
            Ok(if listed { (server, 1000 * u64::from(n)) } else { (Sku::Card(model), cards) })
        }
        (Size::Servers(_), None) => Ok((Sku::Cpu, grants.iter().map(|g| u64::from(g.cpu)).sum())),
        (_, Some(model)) => Ok((Sku::Card(model), cards)),
        (_, None) => Err("cards were asked for and none is given".into()),
    }
}

/// Whether the grants hold as much as was asked for, of models that were asked for.
pub fn fulfils(ask: &Ask, grants: &[Grant], fleet: &Fleet) -> bool {
    let slices = || grants.iter().flat_map(|g| &g.slices);
    let accepted = |d: &Device| ask.models.is_empty() || ask.models.iter().any(|accept| accept.model == d.model);
    let right_models = slices().all(|s| fleet.device(s.device).is_some_and(accepted));
    right_models && enough(ask.size, grants, fleet)
}

fn enough(size: Size, grants: &[Grant], fleet: &Fleet) -> bool {
    let slices = || grants.iter().flat_map(|g| &g.slices);
    match size {
        Size::Servers(n) => grants.len() == n as usize && grants.iter().all(|g| g.exclusive),
        Size::Cards(n) => {
            let whole = |s: &Slice| fleet.device(s.device).is_some_and(|d| d.is_whole(s.share.compute, s.share.memory));
            slices().count() == n as usize && slices().all(whole)
        }
        Size::Share(share) => slices().map(|s| s.share).eq([share]),
        Size::Units(UnitKind::Tflops, milli) => {
            let worth = |device: u64, compute: u32| fleet.device(device).map_or(0, |d| u64::from(d.tflops) * u64::from(compute));
            slices().map(|s| worth(s.device, s.share.compute)).sum::<u64>() / 1000 >= milli
        }
        Size::Units(UnitKind::Cpu, milli) => grants.iter().map(|g| u64::from(g.cpu)).sum::<u64>() >= milli,
    }
}

fn devices<'a>(grants: &[Grant], fleet: &'a Fleet) -> Result<Vec<&'a Device>, String> {
    let slices = grants.iter().flat_map(|g| &g.slices);
    slices.map(|s| fleet.device(s.device).ok_or_else(|| format!("device-{} is not known", s.device))).collect()
}
