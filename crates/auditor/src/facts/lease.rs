//! Facts about leases, in the tenant's part.

use super::{Grant, Share, Sku, facts, ticks};
use minicbor::Decode;

facts! {
    each names its lease;
    "lease.requested/1" => Requested
    "lease.queued/1" => Queued
    "lease.placed/1" => Placed
    "lease.member_ready/1" => MemberReady
    "lease.started/1" => Started
    "lease.renewed/1" => Renewed
    "lease.extended/1" => Extended
    "lease.resized/1" => Resized
    "lease.stopping/1" => Stopping
    "lease.service_ended/1" => ServiceEnded
    "lease.member_gone/1" => MemberGone
    "lease.stopped/1" => Stopped
    "lease.ended/1" => Ended
}

/// How much is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
pub enum Size {
    /// Whole servers.
    #[n(0)]
    Servers(#[n(0)] u32),
    /// Whole cards.
    #[n(1)]
    Cards(#[n(0)] u32),
    /// A part of one card.
    #[n(2)]
    Share(#[n(0)] Share),
    /// Abstract compute, in thousandths of a unit.
    #[n(3)]
    Units(#[n(0)] UnitKind, #[n(1)] u64),
}

/// What one unit of abstract compute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
pub enum UnitKind {
    /// One dense FP16 TFLOPS.
    #[n(0)]
    Tflops,
    /// One core.
    #[n(1)]
    Cpu,
}

/// What a stopping lease becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
pub enum Then {
    /// It waits again.
    #[n(0)]
    Queue,
    /// It may be started again.
    #[n(1)]
    Stop,
    /// It is over.
    #[n(2)]
    End,
}

/// Why a lease stopped or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
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
    /// Its own end came.
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

/// What becomes of a lease whose service failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
pub enum OnFailure {
    /// It ends.
    #[n(0)]
    End,
    /// It waits again.
    #[n(1)]
    Requeue,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Decode)]
pub struct Ask {
    /// How much.
    #[n(0)]
    pub size: Size,
    /// Of which models; none: any.
    #[n(1)]
    pub models: Vec<Accept>,
    /// Least memory of each card in MiB.
    #[n(2)]
    pub card_memory: u32,
    /// CPU and main memory beside the cards.
    #[n(3)]
    pub beside: Beside,
    /// Only this pool.
    #[n(4)]
    pub pool: Option<u64>,
    /// Labels that a node must carry.
    #[n(5)]
    pub labels: Vec<String>,
    /// When.
    #[n(6)]
    pub interval: Interval,
}

/// A model that is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Decode)]
pub struct Accept {
    /// Its name.
    #[n(0)]
    pub model: String,
}

/// CPU and main memory beside the cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
pub struct Beside {
    /// Thousandths of a core.
    #[n(0)]
    pub cpu: u32,
    /// MiB.
    #[n(1)]
    pub memory: u32,
}

/// Up to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
pub struct Interval {
    /// First millisecond after it; `None`: until it is stopped.
    #[n(1)]
    pub until: Option<i64>,
}

#[derive(Decode)]
pub struct Requested {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub project: u64,
    #[n(2)]
    pub ask: Ask,
    #[n(3)]
    pub on_failure: OnFailure,
}

#[derive(Decode)]
pub struct Queued {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub why: String,
}

#[derive(Decode)]
pub struct Placed {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub attempt: u32,
    #[n(2)]
    pub grants: Vec<Grant>,
    #[n(3)]
    pub sku: Sku,
    #[n(4)]
    pub sku_id: u32,
    #[n(5)]
    pub milli: u64,
    #[n(6)]
    pub micro: i64,
}

#[derive(Decode)]
pub struct MemberReady {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub node: u64,
}

#[derive(Decode)]
pub struct Started {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub funded_until: i64,
}

#[derive(Decode)]
pub struct Renewed {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub funded_until: i64,
    #[n(2)]
    pub arrears_since: Option<i64>,
}

#[derive(Decode)]
pub struct Extended {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub until: Option<i64>,
}

#[derive(Decode)]
pub struct Resized {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub ask: Ask,
    #[n(2)]
    pub grants: Vec<Grant>,
    #[n(4)]
    pub milli: u64,
    #[n(5)]
    pub funded_until: i64,
}

#[derive(Decode)]
pub struct Stopping {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub then: Then,
    #[n(2)]
    pub reason: Reason,
    #[n(3)]
    pub detail: String,
    #[cbor(n(4), with = "ticks")]
    pub charged: i128,
    #[n(5)]
    pub unfunded_from: Option<i64>,
    #[n(6)]
    pub served_until: Option<i64>,
}

#[derive(Decode)]
pub struct ServiceEnded {
    #[n(0)]
    pub lease: u64,
}

#[derive(Decode)]
pub struct MemberGone {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub node: u64,
}

#[derive(Decode)]
pub struct Stopped {
    #[n(0)]
    pub lease: u64,
}

#[derive(Decode)]
pub struct Ended {
    #[n(0)]
    pub lease: u64,
    #[n(1)]
    pub reason: Reason,
    #[n(2)]
    pub detail: String,
    #[cbor(n(3), with = "ticks")]
    pub charged: i128,
}
