//! The one error of every driver: what was being done, why it failed, and whether trying again may help.

use std::error::Error;

/// The world under a driver did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {reason}")]
pub struct Failure {
    /// What was being done, such as `start the shim`.
    pub doing: String,
    /// Why it failed, for an operator.
    pub reason: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure that may pass by itself, such as an engine that does not answer.
    pub fn passing(doing: impl Into<String>, source: impl Error + Send + Sync + 'static) -> Failure {
        Failure { doing: doing.into(), reason: source.to_string(), retryable: true, source: Some(Box::new(source)) }
    }

    /// A failure that trying again cannot change, such as a program that does not exist.
    pub fn lasting(doing: impl Into<String>, reason: impl Into<String>) -> Failure {
        Failure { doing: doing.into(), reason: reason.into(), retryable: false, source: None }
    }
}
