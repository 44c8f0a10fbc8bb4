//! The body of every answer that is not a success: the part of RFC 9457 that an agent reads.

use serde::{Deserialize, Serialize};

/// A refusal or failure, as `application/problem+json`. Fields that an agent does not need are ignored on reading.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Stable code, such as `version_mismatch`.
    pub code: String,
    /// The HTTP status.
    pub status: u16,
    /// One line for people.
    pub title: String,
    /// What to do about it.
    #[serde(default)]
    pub detail: String,
    /// Whether the same request may succeed later.
    #[serde(default)]
    pub retryable: bool,
}
