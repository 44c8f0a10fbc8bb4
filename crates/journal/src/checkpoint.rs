//! C2SP `tlog-checkpoint`: the signed statement of how long the log is and what it holds.
//!
//! ```text
//! suanzu/<log id in 32 hexadecimal digits>
//! <number of entries, decimal>
//! <Merkle tree hash, base64>
//!
//! — suanzu/<log id> <signature, see `note`>
//! ```

use crate::{
    Failure, Hash, Head, LogId,
    note::{Signer, Verifier},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};

/// The name of a log: its origin line and the name of its key.
pub fn origin(log: LogId) -> String {
    format!("suanzu/{log}")
}

/// The size and root of a tree, as stated by the log of this origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log.
    pub origin: String,
    /// Number of entries.
    pub size: u64,
    /// Merkle tree hash over them.
    pub root: Hash,
}

impl Checkpoint {
    /// The checkpoint of a head.
    pub fn of(log: LogId, head: &Head) -> Checkpoint {
        Checkpoint { origin: origin(log), size: head.size, root: head.root }
    }

    /// The text that is signed.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, BASE64_STANDARD.encode(self.root))
    }

    /// The signed note.
    pub fn sign(&self, signer: &Signer) -> String {
        signer.sign(&self.text())
    }

    /// The checkpoint in a signed note whose signature holds and whose origin is the key's name.
    pub fn open(note: &str, verifier: &Verifier) -> Result<Checkpoint, Failure> {
        let checkpoint = Checkpoint::parse(verifier.open(note)?)?;
        if checkpoint.origin == verifier.name() {
            Ok(checkpoint)
        } else {
            Err(Failure::invalid(format!("the checkpoint is of {}, not of {}", checkpoint.origin, verifier.name())))
        }
    }

    /// Reads the text of a checkpoint; lines after the third are extensions and are passed over.
    pub fn parse(text: &str) -> Result<Checkpoint, Failure> {
        let mut lines = text.lines();
        let mut fields = || {
            let origin = lines.next().filter(|o| !o.is_empty())?.to_owned();
            let digits = lines.next()?;
            let size = digits.parse().ok().filter(|n: &u64| n.to_string() == digits)?;
            let root = BASE64_STANDARD.decode(lines.next()?).ok()?.try_into().ok()?;
            Some(Checkpoint { origin, size, root })
        };
        fields().ok_or_else(|| Failure::invalid("this is no checkpoint"))
    }
}
