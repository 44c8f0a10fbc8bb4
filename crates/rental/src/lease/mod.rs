//! What is rented: from the order to the end.
//!
//! ```text
//!              request (no room, willing to wait)
//!                  │                      ┌──────────────── requeued ───────────────┐
//!                  ▼          admit       │                                         │
//!  request ──▶  Queued ────────────▶  Starting ── all ready ──▶ Running ──┐         │
//!                  │    ▲                 │                        │      │         │
//!           cancel │    │ start           │ cancel, failed         │ stop, exit, failed,
//!                  │    │ (no room)       ▼                        ▼ out of funds, lost
//!                  │    │             Stopping ◀───────────────────┘      │
//!                  │    │                 │ gone from every node          │
//!                  ▼    │       ┌─────────┼──────────────┬────────────────┘
//!               (ended) └── Stopped       ▼              └─▶ Queued
//!                               │      (ended)
//!                               └─ destroy ─▶ (ended)
//! ```
//!
//! Chargeable time runs from `started` to the accepted stop; capacity is taken from `placed` until it is gone from the
//! node and measured clean. An ended lease leaves the state.

mod admit;
mod ask;
mod board;
mod cost;
mod event;
mod expire;
mod extend;
mod give_up;
mod renew;
mod report;
mod request;
mod resize;
mod settle;
mod start;
mod state;
mod stop;

pub(crate) use admit::could_pay;
pub use cost::cost_so_far;
pub use event::*;
pub use report::Sighting;
pub use request::Request;
pub(crate) use state::{At, apply};
pub use state::{Lease, Member, Priced, Seen, State, Status};

use crate::{Refusal, State as Root};
use units::{LeaseId, Size, TenantId, Time};

/// What can be done with leases.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// An order.
    Request(Box<Request>),
    /// A waiting lease is let in.
    Admit {
        /// The lease.
        lease: LeaseId,
    },
    /// What an agent saw.
    Report {
        /// What it saw, each lease once.
        sightings: Vec<Sighting>,
    },
    /// Another end.
    Extend {
        /// Whose.
        tenant: TenantId,
        /// The lease.
        lease: LeaseId,
        /// Its end; `None`: until stopped.
        until: Option<Time>,
    },
    /// Another size.
    Resize {
        /// Whose.
        tenant: TenantId,
        /// The lease.
        lease: LeaseId,
        /// Its size from now on.
        size: Size,
    },
    /// Ends the workload, keeps the lease.
    Stop {
        /// Whose.
        tenant: TenantId,
        /// The lease.
        lease: LeaseId,
    },
    /// Starts a stopped lease again.
    Start {
        /// Whose.
        tenant: TenantId,
        /// The lease.
        lease: LeaseId,
        /// Whether to wait where there is no room.
        wait: bool,
    },
    /// Ends the lease for good.
    Destroy {
        /// Whose.
        tenant: TenantId,
        /// The lease.
        lease: LeaseId,
    },
    /// Charges the hour past and holds the next; stops what nothing covers any more.
    Renew {
        /// Leases whose cover ends.
        leases: Vec<LeaseId>,
    },
    /// The lease's own end has come.
    Expire {
        /// The lease.
        lease: LeaseId,
    },
    /// The verdict on leases whose service failed where nobody could see it.
    GiveUp {
        /// Each with the last proof of its service, by our clock.
        leases: Vec<(LeaseId, Time)>,
    },
}

impl Command {
    /// The kind in the entry's header.
    pub fn kind(&self) -> &'static str {
        match self {
            Command::Request(_) => "lease.request",
            Command::Admit { .. } => "lease.admit",
            Command::Report { .. } => "lease.report",
            Command::Extend { .. } => "lease.extend",
            Command::Resize { .. } => "lease.resize",
            Command::Stop { .. } => "lease.stop",
            Command::Start { .. } => "lease.start",
            Command::Destroy { .. } => "lease.destroy",
            Command::Renew { .. } => "lease.renew",
            Command::Expire { .. } => "lease.expire",
            Command::GiveUp { .. } => "lease.give_up",
        }
    }
}

pub(crate) fn decide(root: &Root, now: Time, command: &Command) -> Result<Vec<crate::Event>, Refusal> {
    match command {
        Command::Request(request) => request::decide(root, now, request),
        Command::Admit { lease } => admit::decide(root, now, *lease),
        Command::Report { sightings } => report::decide(root, now, sightings),
        Command::Extend { tenant, lease, until } => extend::decide(root, now, owned(root, *tenant, *lease)?, *until),
        Command::Resize { tenant, lease, size } => resize::decide(root, now, owned(root, *tenant, *lease)?, *size),
        Command::Stop { tenant, lease } => stop::stop(root, now, owned(root, *tenant, *lease)?),
        Command::Start { tenant, lease, wait } => start::decide(root, now, owned(root, *tenant, *lease)?, *wait),
        Command::Destroy { tenant, lease } => stop::destroy(root, now, owned(root, *tenant, *lease)?),
        Command::Renew { leases } => Ok(renew::decide(root, now, leases)),
        Command::Expire { lease } => expire::decide(root, now, *lease),
        Command::GiveUp { leases } => Ok(give_up::decide(root, now, leases)),
    }
}

/// The tenant's lease. Another's is as good as none.
fn owned(root: &Root, tenant: TenantId, lease: LeaseId) -> Result<&Lease, Refusal> {
    root.lease.get(lease).filter(|known| known.tenant == tenant).ok_or_else(|| Refusal::missing(lease))
}
