//! What is submitted, and what comes back.

use rental::{Command, Event, Part, Refusal};
use std::sync::Arc;
use units::{Owner, Time, Workload};

/// Who commands: an opaque id that stands in the header, such as `key-3`, `agent-1` or `time`.
pub type Actor = String;

/// The asker's promise that the same key means the same wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// Whose keys these are: another owner's are never met.
    pub owner: Owner,
    /// SHA-256 of the key.
    pub key: [u8; 32],
    /// SHA-256 of the request.
    pub request: [u8; 32],
}

/// One wish on its way to the writer.
#[derive(Debug)]
pub struct Submission {
    /// Who commands.
    pub actor: Actor,
    /// Its idempotency key, if it has one.
    pub idempotency: Option<Idempotency>,
    /// What is wished.
    pub command: Command,
    /// What goes into the directory with it.
    pub attach: Attach,
}

impl Submission {
    /// A wish without a key or anything for the directory.
    pub fn plain(actor: impl Into<Actor>, command: Command) -> Submission {
        Submission { actor: actor.into(), idempotency: None, command, attach: Attach::Nothing }
    }
}

/// What the directory keeps beside the journal, under ids that the entry gives out.
#[derive(Debug, Clone, Default)]
pub enum Attach {
    /// Nothing.
    #[default]
    Nothing,
    /// What the requested lease runs.
    Workload(Box<Workload>),
    /// The name of what is created: a tenant, project, person or lease.
    Name(String),
    /// SHA-256 of an issued key's secret, and what people call the key.
    Key {
        /// The hash.
        hash: [u8; 32],
        /// A name for people.
        label: String,
    },
    /// The vendor's uuids of an added node's devices, in their order.
    Devices(Vec<String>),
    /// Several of these.
    All(Vec<Attach>),
}

/// What a wish led to. A function of the entry: a repeat gets the same.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The entry; `None` where the wish was the case already and came without a key: then nothing was written.
    pub seq: Option<u64>,
    /// Its time.
    pub time: Time,
    /// Its parts.
    pub parts: Arc<[Part]>,
    /// The first answer again, to a request that was made before.
    pub repeated: bool,
}

impl Answer {
    /// The facts, in the order of the parts.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.parts.iter().flat_map(|part| &part.events)
    }
}

/// Why a wish led to nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Rejected {
    /// The core says no.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The idempotency key was used for another request.
    #[error("this idempotency key came with another request before")]
    KeyReused,
    /// Writes are stopped: the disk failed, or the service is going down.
    #[error("writes are stopped: {0}")]
    Stopped(String),
}

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Self {
        Rejected::Refused(Box::new(refusal))
    }
}
