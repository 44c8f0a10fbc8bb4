//! What would fit instead.

use crate::{Fleet, find};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use units::{Accept, Ask, Share, Size};

/// An ask that fits now, and what distinguishes it from the one that did not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Alternative {
    /// What was changed.
    #[n(0)]
    pub change: Change,
    /// The changed ask.
    #[n(1)]
    pub ask: Ask,
}

/// The one thing in which an alternative differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Fewer servers, cards or units.
    #[n(0)]
    Fewer,
    /// A share of the same proportions, in tenths of the one asked for.
    #[n(1)]
    SmallerShare,
    /// A model that was not on the list. Its rank is 0: whoever knows prices ranks anew.
    #[n(2)]
    OtherModel,
    /// Any pool.
    #[n(3)]
    AnyPool,
}

/// What would fit now: as many as there are room for, a smaller share, each other model, any pool. Each of them
/// changes one thing and has been placed on trial. Whether policy allows it, the caller knows.
pub fn alternatives(fleet: &Fleet, ask: &Ask) -> Vec<Alternative> {
    let smaller = smaller(fleet, ask).map(|size| (smaller_change(size), Ask { size, ..ask.clone() }));
    let others = other_models(fleet, ask).map(|models| (Change::OtherModel, Ask { models, ..ask.clone() }));
    let any_pool = ask.pool.map(|_| (Change::AnyPool, Ask { pool: None, ..ask.clone() }));
    let all = smaller.into_iter().chain(others).chain(any_pool);
    all.filter(|(_, ask)| find(fleet, ask).is_some()).map(|(change, ask)| Alternative { change, ask }).collect()
}

fn smaller_change(size: Size) -> Change {
    if matches!(size, Size::Share(_)) { Change::SmallerShare } else { Change::Fewer }
}

/// The largest smaller size that fits, by bisection: room shrinks with size, but for cards that may then span nodes.
fn smaller(fleet: &Fleet, ask: &Ask) -> Option<Size> {
    // Units are offered whole: a thousandth less is no alternative.
    let steps = match ask.size {
        Size::Servers(n) | Size::Cards(n) => u64::from(n),
        Size::Share(_) => 10,
        Size::Units(_, milli) => milli.div_ceil(1000),
    };
    let (mut fits, mut fails) = (0, steps);
    while fails - fits > 1 {
        let middle = fits + (fails - fits) / 2;
        let ask = Ask { size: scaled(ask.size, middle), ..ask.clone() };
        if find(fleet, &ask).is_some() { fits = middle } else { fails = middle }
    }
    (fits > 0).then(|| scaled(ask.size, fits))
}

fn scaled(size: Size, step: u64) -> Size {
    match size {
        Size::Servers(_) => Size::Servers(step as u32),
        Size::Cards(_) => Size::Cards(step as u32),
        Size::Share(share) => Size::Share(tenths(share, step)),
        Size::Units(kind, _) => Size::Units(kind, step * 1000),
    }
}

fn tenths(share: Share, step: u64) -> Share {
    let of = |whole: u32| (u64::from(whole) * step / 10) as u32;
    Share { compute: of(share.compute), memory_mib: of(share.memory_mib) }
}

fn other_models(fleet: &Fleet, ask: &Ask) -> impl Iterator<Item = Vec<Accept>> {
    let listed = |model: &String| ask.models.iter().any(|accept| accept.model == *model);
    let others = fleet.models.iter().filter(move |model| !ask.models.is_empty() && !listed(model));
    others.map(|model| vec![Accept { model: model.clone(), rank: 0 }])
}
