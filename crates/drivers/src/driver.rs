//! What a backend must be able to do for leases, and the nouns it speaks in.
//!
//! A driver blocks and holds no opinion: it lists, starts and ends what it is told to. The simulated one takes
//! its time from `now`; real ones use `now` only to turn deadlines into durations. Each agent's `now` begins anew, and may begin
//! earlier than the last one's: an instant that outlives the agent is kept by a clock that does so too.

use crate::Failure;
use protocol::{Generation, Instance, Usage};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    sync::Arc,
};
use units::{Grant, Phase, Share, Time, Workload};

/// A backend that runs workloads on one or more nodes, for one log. It marks what it starts with that log's id, and
/// means only that log's workloads where it is given an instance.
pub trait Driver: Send {
    /// Every workload that carries a log's mark, of whichever log, each instance once.
    fn observe(&mut self, now: Time) -> Listing;

    /// The direct question after one instance: `None` only where the backend is sure that nothing of it is left.
    fn look(&mut self, instance: Instance, now: Time) -> Result<Option<Observed>, Failure>;

    /// Begins to start a workload and returns soon; how far it is shows in [`Driver::observe`]. Starting what is
    /// already there changes nothing and is no failure.
    fn start(&mut self, order: &Order, now: Time) -> Result<(), Failure>;

    /// Begins to end a workload with its whole tree, and to remove what is kept of it once it has ended. Repeated
    /// until nothing is left; ending what is not there is no failure.
    fn end(&mut self, instance: Instance, now: Time) -> Result<(), Failure>;

    /// Moves the instant at which the workload is ended for want of money, also when no agent is there to do it.
    fn set_deadline(&mut self, instance: Instance, stop_by: Option<Time>, now: Time) -> Result<(), Failure>;

    /// Whether a freed device holds nothing of its last lease. A backend without devices has nothing to measure.
    fn measure_clean(&mut self, _uuid: &str, _now: Time) -> Result<Cleanliness, Failure> {
        Ok(Cleanliness::Clean)
    }

    /// Devices that cannot serve, as (uuid, reason).
    fn faults(&mut self, _now: Time) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What workloads use right now, where it is measured.
    fn usage(&mut self, _now: Time) -> Vec<Usage> {
        Vec::new()
    }

    /// When, after `now`, [`Driver::observe`] may answer differently though nothing was asked of the driver.
    fn wake(&self, _now: Time) -> Wake {
        Wake::Unknown
    }

    /// The workload's output. The reader outlives this borrow of the driver.
    fn logs(&mut self, instance: Instance, request: LogRequest) -> Result<Box<dyn Read + Send>, Failure>;

    /// Runs a command beside the workload, under its limits. The session outlives this borrow of the driver.
    fn exec(&mut self, instance: Instance, argv: &[String], tty: bool) -> Result<Session, Failure>;
}

/// Everything needed to start one workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Which attempt of which lease, on which node.
    pub instance: Instance,
    /// The generation it was started under. A set that is not as far cannot decide about it.
    pub born: Generation,
    /// The node's name.
    pub node: String,
    /// What to run.
    pub workload: Workload,
    /// What it may use.
    pub grant: Grant,
    /// The devices of the grant, by the names the node knows.
    pub devices: Vec<GrantedDevice>,
    /// Environment that the platform adds.
    pub env: BTreeMap<String, String>,
    /// When it is ended for want of money.
    pub stop_by: Option<Time>,
}

/// One device of an [`Order`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedDevice {
    /// The vendor's lasting name.
    pub uuid: String,
    /// Its place in the node.
    pub index: u32,
    /// How much of it.
    pub share: Share,
}

/// One workload as its backend sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Which.
    pub instance: Instance,
    /// The log whose mark it carries.
    pub log: Arc<str>,
    /// The generation it was started under.
    pub born: Generation,
    /// Its state; never [`Phase::Gone`], which is an absence.
    pub phase: Phase,
    /// Milliseconds since that state began.
    pub ago_ms: u64,
}

/// The answer to [`Driver::observe`]. What is listed is there; what is not listed is absent only if no part failed.
#[derive(Debug, Default)]
pub struct Listing {
    /// What was seen.
    pub seen: Vec<Observed>,
    /// Parts of the backend that did not answer. While there is one, an absence proves nothing.
    pub failures: Vec<Failure>,
}

/// Whether a device may be given to the next lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cleanliness {
    /// Nothing of the last lease is on it.
    Clean,
    /// Something still is.
    Occupied {
        /// What, for an operator.
        why: String,
    },
}

/// When a driver's listing may change by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// At any time: it must be asked again and again.
    Unknown,
    /// Not before this instant.
    At(Time),
    /// Not before something is asked of it.
    Never,
}

/// Which part of the output is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogRequest {
    /// Whether the reader waits for more until the workload has ended.
    pub follow: bool,
    /// Only the last so many lines; `None` for all that is kept.
    pub tail: Option<u32>,
}

/// A command that runs beside a workload.
pub struct Session {
    /// What it reads.
    pub input: Box<dyn Write + Send>,
    /// What it writes, both streams as they come.
    pub output: Box<dyn Read + Send>,
    /// Its terminal and its end.
    pub control: Box<dyn SessionControl>,
}

/// The terminal and the end of a [`Session`].
pub trait SessionControl: Send {
    /// Tells the terminal its size, where there is one.
    fn resize(&mut self, columns: u16, rows: u16) -> Result<(), Failure>;

    /// Waits for the command and gives its exit code (128 + signal where a signal ended it).
    fn wait(&mut self) -> Result<i32, Failure>;
}
