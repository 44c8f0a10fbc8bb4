//! Why an ask has no room: one reason per node, counted over all of them.

use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The first thing that keeps an ask off a node, in the order in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The ask is for nothing.
    #[n(0)]
    NothingAsked,
    /// It is in another pool.
    #[n(1)]
    WrongPool,
    /// It lacks a label.
    #[n(2)]
    WrongLabel,
    /// It has no card of an accepted model (or none that is rented this way).
    #[n(3)]
    WrongModel,
    /// Its cards have too little memory, used or not.
    #[n(4)]
    CardMemory,
    /// It has too few cards, used or not.
    #[n(5)]
    TooSmall,
    /// It cannot be observed.
    #[n(6)]
    Lost,
    /// It takes nothing new.
    #[n(7)]
    Draining,
    /// A device that is out of service would have to be used.
    #[n(8)]
    DeviceOut,
    /// Capacity was freed there and is not yet measured clean.
    #[n(9)]
    Unclean,
    /// Its cards, or the server, are taken.
    #[n(10)]
    Full,
    /// Its cards take no further share, though there would be compute and memory.
    #[n(11)]
    NoShareSlot,
    /// Too little CPU is left.
    #[n(12)]
    NoCpu,
    /// Too little main memory is left.
    #[n(13)]
    NoMemory,
    /// There is room, but with that of all other nodes not enough.
    #[n(14)]
    TooFew,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NothingAsked => "asked for nothing",
            Reason::WrongPool => "in another pool",
            Reason::WrongLabel => "without the label",
            Reason::WrongModel => "wrong model",
            Reason::CardMemory => "too little card memory",
            Reason::TooSmall => "too few cards",
            Reason::Lost => "lost",
            Reason::Draining => "draining",
            Reason::DeviceOut => "with a device out of service",
            Reason::Unclean => "not yet clean",
            Reason::Full => "full",
            Reason::NoShareSlot => "without a free share slot",
            Reason::NoCpu => "too little CPU",
            Reason::NoMemory => "too little memory",
            Reason::TooFew => "with room, but too little together",
        })
    }
}

/// Why nothing was placed: `12 nodes: 7 wrong model, 4 full, 1 draining`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Encode, Decode, Serialize, Deserialize, thiserror::Error)]
pub struct WhyNot {
    /// All nodes of the fleet; the counts add up to it.
    #[n(0)]
    pub nodes: u32,
    /// How many nodes fail for which reason first; the most frequent first.
    #[n(1)]
    pub reasons: Vec<(Reason, u32)>,
}

impl WhyNot {
    /// Counts one reason per node.
    pub(crate) fn count(each: impl Iterator<Item = Reason>) -> WhyNot {
        let mut reasons: Vec<(Reason, u32)> = Vec::new();
        for reason in each {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason, 1)),
            }
        }
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), *reason));
        WhyNot { nodes: reasons.iter().map(|(_, count)| count).sum(), reasons }
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.nodes, if self.nodes == 1 { "node" } else { "nodes" })?;
        for (at, (reason, count)) in self.reasons.iter().enumerate() {
            write!(f, "{} {count} {reason}", if at == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}
