//! What has been broken on purpose.

use crate::Failure;
use std::collections::BTreeMap;
use units::Time;

/// The faults in force.
#[derive(Debug, Default)]
pub(super) struct Faults {
    silent_until: Option<Time>,
    lies: u32,
    lost: BTreeMap<String, String>,
}

/// How a listing is answered.
pub(super) enum Answer {
    Truth,
    Nothing,
    Silence(Failure),
}

impl Faults {
    pub(super) fn silence(&mut self, until: Time) {
        self.silent_until = Some(until);
    }

    pub(super) fn lie_empty(&mut self, listings: u32) {
        self.lies = listings;
    }

    pub(super) fn lose(&mut self, uuid: &str) {
        self.lost.insert(uuid.to_owned(), "it has fallen off the bus".to_owned());
    }

    pub(super) fn restore(&mut self, uuid: &str) {
        self.lost.remove(uuid);
    }

    pub(super) fn lost(&self, uuid: &str) -> Option<&String> {
        self.lost.get(uuid)
    }

    pub(super) fn devices(&self) -> Vec<(String, String)> {
        self.lost.iter().map(|(uuid, reason)| (uuid.clone(), reason.clone())).collect()
    }

    pub(super) fn until(&self) -> Option<Time> {
        self.silent_until
    }

    pub(super) fn check(&mut self, now: Time) -> Result<(), Failure> {
        match self.silent_until {
            Some(until) if now < until => Err(silent()),
            _ => {
                self.silent_until = None;
                Ok(())
            }
        }
    }

    pub(super) fn listing(&mut self, now: Time) -> Answer {
        match self.check(now) {
            Err(failure) => Answer::Silence(failure),
            Ok(()) if self.lies > 0 => {
                self.lies -= 1;
                Answer::Nothing
            }
            Ok(()) => Answer::Truth,
        }
    }
}

fn silent() -> Failure {
    let doing = "ask the simulated backend".into();
    Failure { doing, reason: "it does not answer".into(), retryable: true, source: None }
}
