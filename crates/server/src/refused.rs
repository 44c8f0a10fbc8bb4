//! What the core and the writer say no to, as problems.

use crate::{Problem, bodies};
use engine::Rejected;
use rental::Refusal;

impl From<Rejected> for Problem {
    fn from(rejected: Rejected) -> Problem {
        match rejected {
            Rejected::Refused(refusal) => (*refusal).into(),
            Rejected::KeyReused => Problem::new("key_reused", "send a new Idempotency-Key with a new request"),
            Rejected::Stopped(why) => Problem::new("writes_stopped", why),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let detail = refusal.to_string();
        match refusal {
            Refusal::Invalid { field, why } => Problem::field(format!("/{field}"), why),
            Refusal::NoCapacity { why, alternatives } | Refusal::NeverFits { why, alternatives } => {
                let code = if detail.starts_with("no room") { "no_capacity" } else { "never_fits" };
                let reasons = why.reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
                let alternatives = alternatives.iter().map(bodies::alternative).collect();
                Problem::new(code, detail).with_reasons(reasons).with_alternatives(alternatives)
            }
            Refusal::LimitReached { limit: "spend", .. } => Problem::new("spend_limit_reached", detail),
            other => Problem::new(other.code(), detail),
        }
    }
}

impl From<engine::FoldError> for Problem {
    fn from(error: engine::FoldError) -> Problem {
        tracing::error!(%error, "reading the journal failed");
        Problem::new("internal", "a read failed; the operator sees why")
    }
}

impl From<engine::Failure> for Problem {
    fn from(failure: engine::Failure) -> Problem {
        // What exactly failed is for the operator's log, not for the tenant.
        tracing::error!(%failure, "reading failed");
        if failure.retryable() {
            // Views that are spoiled are folded anew as soon as somebody has met them.
            return Problem::new("not_yet", "it cannot be read at this moment: ask again");
        }
        Problem::new("internal", "a read failed; the operator sees why")
    }
}
