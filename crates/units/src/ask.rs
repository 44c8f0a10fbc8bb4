//! What a tenant asks for: size, acceptable models, what comes beside it, where, and for which interval.

use crate::{Interval, PoolId, Share};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};

/// One order for capacity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Ask {
    /// How much.
    #[n(0)]
    pub size: Size,
    /// Acceptable GPU models; empty means any that the size and `card_memory_mib` allow.
    #[n(1)]
    pub models: Vec<Accept>,
    /// Least memory of each card in MiB (0: any).
    #[n(2)]
    pub card_memory_mib: u32,
    /// CPU and main memory beside the cards.
    #[n(3)]
    pub beside: Beside,
    /// Only this pool; `None` means any.
    #[n(4)]
    pub pool: Option<PoolId>,
    /// Labels that a node must carry.
    #[n(5)]
    pub labels: Vec<String>,
    /// When: from now on, with or without a known end.
    #[n(6)]
    pub interval: Interval,
}

/// How much is asked for: the four granularities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// Whole servers, each exclusively.
    #[n(0)]
    Servers(#[n(0)] u32),
    /// Whole cards, on one node if they fit there, all or nothing.
    #[n(1)]
    Cards(#[n(0)] u32),
    /// A soft share of one card.
    #[n(2)]
    Share(#[n(0)] Share),
    /// Abstract compute, in thousandths of a unit.
    #[n(3)]
    Units(#[n(0)] UnitKind, #[n(1)] u64),
}

/// What one unit of abstract compute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// One dense FP16 TFLOPS of any GPU; may be split over several shares and cards.
    #[n(0)]
    Tflops,
    /// One CPU core, on one node, with the memory in [`Beside`].
    #[n(1)]
    Cpu,
}

/// A GPU model that the tenant accepts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Accept {
    /// The model's name as the fleet knows it, such as `A100-80GB`.
    #[n(0)]
    pub model: String,
    /// Lower is tried first. Filled from prices, so that placement can be cheapest-first without knowing a price.
    #[n(1)]
    pub rank: u32,
}

/// CPU and main memory that come with the cards, per lease on one node; per node where it spans several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize)]
pub struct Beside {
    /// CPU in thousandths of a core.
    #[n(0)]
    pub cpu_milli: u32,
    /// Main memory in MiB.
    #[n(1)]
    pub memory_mib: u32,
}
