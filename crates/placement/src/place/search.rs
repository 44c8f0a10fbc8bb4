//! An ask made ready for scanning: names become indices, once.

use crate::{
    Fleet,
    fleet::Kind,
    row::{Row, label_bits},
};
use units::{Ask, DeviceId, Grant, Share, Slice};

pub(crate) struct Search<'a> {
    pub fleet: &'a Fleet,
    pub ask: &'a Ask,
    /// By kind: the rank, where model and card memory are accepted.
    ranks: Vec<Option<u32>>,
    labels: Labels,
}

/// The labels asked for, by number.
enum Labels {
    /// One of them is on no node.
    Unknown,
    /// The first 64 of the fleet as bits, and the others.
    Known { bits: u64, others: Vec<u32> },
}

/// One piece of a plan: this share of the card at `card` of the node at `node`. Ordered as grants are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pick {
    pub node: usize,
    pub card: usize,
    pub share: Share,
}

impl<'a> Search<'a> {
    pub fn new(fleet: &'a Fleet, ask: &'a Ask) -> Search<'a> {
        let ranks = fleet.kinds.iter().map(|kind| accepted(fleet, ask, kind)).collect();
        Search { fleet, ask, ranks, labels: Labels::new(fleet, ask) }
    }

    /// The rank of a kind of device, if it is accepted. Rows' special kinds never are.
    pub fn rank(&self, kind: u16) -> Option<u32> {
        self.ranks.get(usize::from(kind)).copied().flatten()
    }

    pub fn kind(&self, kind: u16) -> &'a Kind {
        &self.fleet.kinds[usize::from(kind)]
    }

    pub fn model(&self, kind: u16) -> u16 {
        self.kind(kind).model
    }

    /// Rows that are open, in the right place, and have the CPU and memory beside.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &'a Row)> {
        self.fleet.rows.iter().enumerate().filter(|(at, row)| self.is_open(*at, row))
    }

    /// Whether a row is one of [`Search::rows`].
    pub fn is_open(&self, at: usize, row: &Row) -> bool {
        let beside = self.ask.beside;
        row.open && row.cpu_left >= beside.cpu_milli && row.memory_left >= beside.memory_mib && self.is_place(at, row)
    }

    /// Rows in the right place, open or not.
    pub fn places(&self) -> impl Iterator<Item = (usize, &'a Row)> {
        self.fleet.rows.iter().enumerate().filter(move |(at, row)| self.is_place(*at, row))
    }

    fn is_place(&self, at: usize, row: &Row) -> bool {
        self.ask.pool.is_none_or(|pool| pool == row.pool) && self.has_labels(at, row)
    }

    pub fn has_labels(&self, at: usize, row: &Row) -> bool {
        match &self.labels {
            Labels::Unknown => false,
            Labels::Known { bits, others } => {
                row.labels & bits == *bits && others.iter().all(|label| self.fleet.nodes[at].labels.contains(label))
            }
        }
    }

    /// Turns picks into grants, one per node, each with the CPU and memory beside.
    pub fn grants(&self, mut picks: Vec<Pick>) -> Vec<Grant> {
        picks.sort_unstable();
        picks.chunk_by(|a, b| a.node == b.node).map(|picks| self.grant(picks)).collect()
    }

    fn grant(&self, picks: &[Pick]) -> Grant {
        let node = &self.fleet.nodes[picks[0].node];
        Grant {
            node: node.id,
            cpu_milli: self.ask.beside.cpu_milli,
            memory_mib: self.ask.beside.memory_mib,
            slices: picks.iter().map(|pick| slice(node.cards[pick.card].id, pick.share)).collect(),
            exclusive: false,
        }
    }
}

impl Labels {
    fn new(fleet: &Fleet, ask: &Ask) -> Labels {
        let numbers = ask.labels.iter().map(|label| fleet.label_numbers.get(label).copied());
        match numbers.collect::<Option<Vec<u32>>>() {
            None => Labels::Unknown,
            Some(mut others) => {
                let bits = label_bits(&others);
                others.retain(|label| *label >= u64::BITS);
                Labels::Known { bits, others }
            }
        }
    }
}

pub(crate) fn slice(device: DeviceId, share: Share) -> Slice {
    Slice { device, share }
}

fn accepted(fleet: &Fleet, ask: &Ask, kind: &Kind) -> Option<u32> {
    if kind.memory_mib < ask.card_memory_mib {
        return None;
    }
    model_rank(ask, &fleet.models[usize::from(kind.model)])
}

/// The rank of a model by name, if it is accepted. Without a list all are equal.
pub(crate) fn model_rank(ask: &Ask, model: &str) -> Option<u32> {
    if ask.models.is_empty() {
        return Some(0);
    }
    ask.models.iter().filter(|accept| accept.model == model).map(|accept| accept.rank).min()
}
