//! Sizes, asks and grants on the wire.

use crate::Problem;
use rental::placement::{Alternative, Change};
use serde::{Deserialize, Serialize};
use units::{Ask, DeviceId, Grant, Micro, NodeId, PoolId, Share, Size, UnitKind};
use utoipa::ToSchema;

/// How much: one of the four granularities.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SizeBody {
    /// Whole servers, each exclusively.
    Servers(u32),
    /// Whole cards, all or nothing.
    Cards(u32),
    /// A soft share of one card.
    Share(ShareBody),
    /// Abstract compute.
    Units(UnitsBody),
}

/// A part of one card.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareBody {
    /// Compute in permille of the card.
    #[schema(example = 250)]
    pub compute: u32,
    /// Memory in MiB.
    #[schema(example = 20480)]
    pub memory_mib: u32,
}

/// An amount of abstract compute.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitsBody {
    /// What one unit is.
    pub kind: Kind,
    /// How many, with at most three decimals.
    #[schema(example = "12.5")]
    pub amount: String,
}

/// What one unit of abstract compute is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One dense FP16 TFLOPS of any card.
    Tflops,
    /// One CPU core.
    Cpu,
}

/// What was asked for.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AskBody {
    /// How much.
    pub size: SizeBody,
    /// Acceptable models, the cheapest first.
    pub models: Vec<String>,
    /// Least memory of each card in MiB.
    pub card_memory_mib: u32,
    /// CPU cores beside the cards.
    #[schema(example = "4")]
    pub cpu: String,
    /// Main memory beside the cards in MiB.
    pub memory_mib: u32,
    /// Only this pool.
    #[schema(value_type = Option<String>)]
    pub pool: Option<PoolId>,
    /// Labels that a node must carry.
    pub labels: Vec<String>,
}

/// What a lease has on one node.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GrantBody {
    /// The node.
    #[schema(value_type = String)]
    pub node: NodeId,
    /// CPU cores.
    pub cpu: String,
    /// Main memory in MiB.
    pub memory_mib: u32,
    /// Cards and shares of cards.
    pub devices: Vec<SliceBody>,
    /// The whole server is taken.
    pub exclusive: bool,
}

/// A share of a named card.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SliceBody {
    /// The card.
    #[schema(value_type = String)]
    pub device: DeviceId,
    /// Compute in permille.
    pub compute: u32,
    /// Memory in MiB.
    pub memory_mib: u32,
}

impl SizeBody {
    /// The core's size; `pointer` is where it stands in the body.
    pub(crate) fn size(&self, pointer: &str) -> Result<Size, Problem> {
        Ok(match self {
            SizeBody::Servers(n) => Size::Servers(*n),
            SizeBody::Cards(n) => Size::Cards(*n),
            SizeBody::Share(share) => Size::Share(Share { compute: share.compute, memory_mib: share.memory_mib }),
            SizeBody::Units(UnitsBody { kind, amount }) => {
                let kind = match kind {
                    Kind::Tflops => UnitKind::Tflops,
                    Kind::Cpu => UnitKind::Cpu,
                };
                Size::Units(kind, milli(&format!("{pointer}/units/amount"), amount)?)
            }
        })
    }
}

impl From<Size> for SizeBody {
    fn from(size: Size) -> SizeBody {
        match size {
            Size::Servers(n) => SizeBody::Servers(n),
            Size::Cards(n) => SizeBody::Cards(n),
            Size::Share(Share { compute, memory_mib }) => SizeBody::Share(ShareBody { compute, memory_mib }),
            Size::Units(kind, milli) => {
                let kind = match kind {
                    UnitKind::Tflops => Kind::Tflops,
                    UnitKind::Cpu => Kind::Cpu,
                };
                SizeBody::Units(UnitsBody { kind, amount: decimal(milli) })
            }
        }
    }
}

impl From<&Ask> for AskBody {
    fn from(ask: &Ask) -> AskBody {
        AskBody {
            size: ask.size.into(),
            models: ask.models.iter().map(|accept| accept.model.clone()).collect(),
            card_memory_mib: ask.card_memory_mib,
            cpu: decimal(u64::from(ask.beside.cpu_milli)),
            memory_mib: ask.beside.memory_mib,
            pool: ask.pool,
            labels: ask.labels.clone(),
        }
    }
}

impl From<&Grant> for GrantBody {
    fn from(grant: &Grant) -> GrantBody {
        let slice = |slice: &units::Slice| SliceBody {
            device: slice.device,
            compute: slice.share.compute,
            memory_mib: slice.share.memory_mib,
        };
        GrantBody {
            node: grant.node,
            cpu: decimal(u64::from(grant.cpu_milli)),
            memory_mib: grant.memory_mib,
            devices: grant.slices.iter().map(slice).collect(),
            exclusive: grant.exclusive,
        }
    }
}

/// Reads thousandths from a decimal with at most three places.
pub(crate) fn milli(pointer: &str, text: &str) -> Result<u64, Problem> {
    let micro = text.parse::<Micro>().ok().map(|micro| micro.0).filter(|micro| *micro >= 0 && micro % 1000 == 0);
    let milli = micro.and_then(|micro| u64::try_from(micro / 1000).ok());
    milli.ok_or_else(|| Problem::field(pointer, "write digits with at most three decimals, such as \"12.5\""))
}

/// Thousandths as a decimal without trailing zeros.
pub(crate) fn decimal(milli: u64) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        rest => format!("{}.{rest:03}", milli / 1000).trim_end_matches('0').to_owned(),
    }
}

/// What would fit instead, as an order's fields.
pub(crate) fn alternative(alternative: &Alternative) -> serde_json::Value {
    let change = match alternative.change {
        Change::Fewer => "fewer",
        Change::SmallerShare => "smaller_share",
        Change::OtherModel => "other_model",
        Change::AnyPool => "any_pool",
    };
    serde_json::json!({ "change": change, "order": AskBody::from(&alternative.ask) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_read_back_as_they_are_spoken() {
        for (text, thousandths) in [("12.5", 12_500), ("4", 4_000), ("0.001", 1), ("0", 0)] {
            assert_eq!(milli("/x", text).unwrap(), thousandths);
            assert_eq!(decimal(thousandths), text);
        }
        assert!(milli("/x", "0.0001").is_err());
        assert!(milli("/x", "-1").is_err());
    }
}
