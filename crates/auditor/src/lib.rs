//! A second opinion on the journal: reads the stored bytes by itself and recomputes every bill and balance naively.
//!
//! Nothing of the code that writes the journal takes part. The bytes are decoded from `docs/journal-format.md`; money is
//! recomputed from when a lease ran, what it had and the prices in force, millisecond by millisecond in meaning, price by
//! price in practice; the fleet is recounted from lists of what stands where. Slow thinking on purpose, one entry at a time.
//!
//! ```text
//! Auditor::new() ── feed(seq, header, parts) … ──▶ finish() ─▶ Report { bills, balances, findings }
//! ```
//!
//! | module | recomputes |
//! | --- | --- |
//! | `order` | seq, time, epoch, owners, each owner's count of parts |
//! | `prices` | the price of a SKU at a time; the cost of a stretch of use |
//! | `fleet` | what stands on each node and card |
//! | `book` | a tenant's accounts, and which accounts a posting must take from |
//! | `lease` | what may follow what; what a placement is charged by |
//! | `charge` | which stretches are charged, at what, and that none is missing or twice |
//!
//! [`Record`] does the same for one lease from its owner's parts alone, which is what a receipt carries.

mod auditor;
mod book;
mod charge;
mod facts;
mod findings;
mod fleet;
mod lease;
mod order;
mod prices;
mod quantity;
mod record;
mod report;

pub use auditor::Auditor;
pub use facts::{
    Grant, Share, Sku, Slice,
    lease::{Accept, Ask, Beside, Interval, OnFailure, Reason, Size, Then, UnitKind},
};
pub use findings::Finding;
pub use record::{Line, LineKind, Record, Standing};
pub use report::{Balances, Bill, Report, Use};
