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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
pub enum Size {
    #[n(0)]
    Servers(#[n(0)] u32),
    #[n(1)]
    Cards(#[n(0)] u32),
    #[n(2)]
    Share(#[n(0)] Share),
    #[n(3)]
    Units(#[n(0)] UnitKind, #[n(1)] u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
pub enum UnitKind {
    #[n(0)]
    Tflops,
    #[n(1)]
    Cpu,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
pub enum Then {
    #[n(0)]
    Queue,
    #[n(1)]
    Stop,
    #[n(2)]
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Decode)]
#[cbor(index_only)]
pub enum Reason {
    #[n(0)]
    Stopped,
    #[n(1)]
    Destroyed,
    #[n(2)]
    Cancelled,
    #[n(3)]
    Completed,
    #[n(4)]
    BalanceExhausted,
    #[n(5)]
    EndReached,
    #[n(6)]
    StartFailed,
    #[n(7)]
    Failed,
    #[n(8)]
    Lost,
}

#[derive(Debug, Clone, Decode)]
pub struct Ask {
    #[n(0)]
    pub size: Size,
    /// None: any.
    #[n(1)]
    pub models: Vec<Accept>,
    #[n(6)]
    pub interval: Interval,
}

#[derive(Debug, Clone, Decode)]
pub struct Accept {
    #[n(0)]
    pub model: String,
}

#[derive(Debug, Clone, Copy, Decode)]
pub struct Interval {
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
}

#[derive(Decode)]
pub struct Queued {
    #[n(0)]
    pub lease: u64,
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
    #[cbor(n(3), with = "ticks")]
    pub charged: i128,
}
