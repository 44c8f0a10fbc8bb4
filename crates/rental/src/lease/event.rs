//! Facts about leases. They stand in the tenant's part.

use crate::event::events;
use billing::{Sku, SkuId};
use minicbor::{Decode, Encode};
use serde::{Deserialize, Serialize};
use units::{Ask, Grant, LeaseId, Micro, NodeId, ProjectId, Ticks, Time};

events! {
    each names its lease: LeaseId;
    /// A fact about a lease.
    Requested = "lease.requested/1"
    Queued = "lease.queued/1"
    Placed = "lease.placed/1"
    MemberReady = "lease.member_ready/1"
    Started = "lease.started/1"
    Renewed = "lease.renewed/1"
    Extended = "lease.extended/1"
    Resized = "lease.resized/1"
    Stopping = "lease.stopping/1"
    ServiceEnded = "lease.service_ended/1"
    MemberGone = "lease.member_gone/1"
    Stopped = "lease.stopped/1"
    Ended = "lease.ended/1"
}

/// What becomes of a lease whose service failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It ends.
    #[n(0)]
    End,
    /// It goes back to the queue, with its original place.
    #[n(1)]
    Requeue,
}

/// What a stopping lease becomes once nothing of it is left on any node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Waiting again.
    #[n(0)]
    Queue,
    /// Stopped: may be started again.
    #[n(1)]
    Stop,
    /// Ended for good.
    #[n(2)]
    End,
}

/// Why a lease stopped or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, Serialize, Deserialize)]
#[cbor(index_only)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The tenant stopped it.
    #[n(0)]
    Stopped,
    /// The tenant ended it for good.
    #[n(1)]
    Destroyed,
    /// The tenant ended it before it was ready.
    #[n(2)]
    Cancelled,
    /// The workload ended by itself.
    #[n(3)]
    Completed,
    /// Balance, credit and grace ended.
    #[n(4)]
    BalanceExhausted,
    /// The lease's own end came.
    #[n(5)]
    EndReached,
    /// It could not be started.
    #[n(6)]
    StartFailed,
    /// The platform failed it.
    #[n(7)]
    Failed,
    /// Its node was not seen for too long.
    #[n(8)]
    Lost,
}

/// An order was accepted.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Requested {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// Of which project.
    #[n(1)]
    pub project: ProjectId,
    /// What was asked for, with the models' ranks by price.
    #[n(2)]
    pub ask: Ask,
    /// What becomes of it when its service fails.
    #[n(3)]
    pub on_failure: OnFailure,
    /// Most that an hour may cost where it is placed.
    #[n(4)]
    pub most: Option<Micro>,
}

/// There was no room, and the lease waits.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Queued {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// Why: counted reasons over all nodes, or why it came back to the queue.
    #[n(1)]
    pub why: String,
}

/// The lease got its place.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Placed {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// Which start of the lease this is, from 1.
    #[n(1)]
    pub attempt: u32,
    /// What it has, by node.
    #[n(2)]
    pub grants: Vec<Grant>,
    /// What is charged: the SKU,
    #[n(3)]
    pub sku: Sku,
    /// its number,
    #[n(4)]
    pub sku_id: SkuId,
    /// how much of it, in thousandths,
    #[n(5)]
    pub milli: u64,
    /// and its price per hour of one whole at this time.
    #[n(6)]
    pub micro: Micro,
    /// What each grant counts against the tenant's limit, in thousandths of a card.
    #[n(7)]
    pub cards: Vec<u64>,
}

/// The workload is ready on one of several nodes.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct MemberReady {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// The node.
    #[n(1)]
    pub node: NodeId,
}

/// All of it is usable: chargeable time begins at this entry's time.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Started {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// What is held pays until then.
    #[n(1)]
    pub funded_until: Time,
}

/// Cover for a further time.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Renewed {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// What is held, or the grace, covers it until then.
    #[n(1)]
    pub funded_until: Time,
    /// Since when it runs on grace.
    #[n(2)]
    pub arrears_since: Option<Time>,
}

/// The lease has another end.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Extended {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// Its end; `None`: until stopped.
    #[n(1)]
    pub until: Option<Time>,
}

/// The lease has another size from this entry's time on.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Resized {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// What is asked for now.
    #[n(1)]
    pub ask: Ask,
    /// What it has now, by node; empty where it has no place.
    #[n(2)]
    pub grants: Vec<Grant>,
    /// What each grant counts against the tenant's limit, in thousandths of a card.
    #[n(3)]
    pub cards: Vec<u64>,
    /// What is charged from here on, in thousandths of the SKU.
    #[n(4)]
    pub milli: u64,
    /// What is held pays until then.
    #[n(5)]
    pub funded_until: Time,
}

/// The lease is on its way down; chargeable time has ended.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Stopping {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// What it becomes.
    #[n(1)]
    pub then: Then,
    /// Why.
    #[n(2)]
    pub reason: Reason,
    /// More on why: an exit code, an error of the engine.
    #[n(3)]
    pub detail: String,
    /// What this run cost in all.
    #[n(4)]
    pub charged: Ticks,
    /// Since when nothing covers it, where it ran on all the same.
    #[n(5)]
    pub unfunded_from: Option<Time>,
    /// When service ended: the accepted stop, the lease's own end, or the last proof of service. `None` if it never began.
    #[n(6)]
    pub served_until: Option<Time>,
}

/// It is known how long a lease ran uncovered.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct ServiceEnded {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
}

/// Nothing of the lease is left on a node.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct MemberGone {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// The node.
    #[n(1)]
    pub node: NodeId,
}

/// Nothing of the lease is left anywhere; it may be started again.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Stopped {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
}

/// The lease is over.
#[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
pub struct Ended {
    /// The lease.
    #[n(0)]
    pub lease: LeaseId,
    /// Why.
    #[n(1)]
    pub reason: Reason,
    /// More on why.
    #[n(2)]
    pub detail: String,
    /// What it cost over all its runs.
    #[n(3)]
    pub charged: Ticks,
}
