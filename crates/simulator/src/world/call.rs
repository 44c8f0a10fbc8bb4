//! A tenant's or the operator's call: submitted, answered or not, repeated under its idempotency key until it is answered.

use super::{Mail, Turn, World};
use crate::random::Random;
use engine::{Answer, Attach, Idempotency, Rejected, Submission};
use rental::{Command, Event, lease};
use units::Owner;

/// Repeats of one call at most: whoever has no answer by then gives up.
const REPEATS: u32 = 20;

/// A call with what is needed to repeat it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub owner: Owner,
    pub command: Command,
    pub attach: Attach,
    /// The number of its idempotency key.
    pub key: Option<u64>,
    /// Answers that are lost on the way before one arrives.
    pub losses: u32,
    tries: u32,
}

impl Call {
    pub fn plain(owner: Owner, command: Command) -> Call {
        Call { owner, command, attach: Attach::Nothing, key: None, losses: 0, tries: 0 }
    }

    pub fn keyed(owner: Owner, command: Command, key: u64) -> Call {
        Call { key: Some(key), ..Call::plain(owner, command) }
    }

    fn submission(&self) -> Submission {
        let idempotency = self.key.map(|key| Idempotency { owner: self.owner, key: bytes(key), request: bytes(!key) });
        Submission { actor: "key-1".into(), idempotency, command: self.command.clone(), attach: self.attach.clone() }
    }
}

fn bytes(number: u64) -> [u8; 32] {
    let mut random = Random::of(number, 0);
    let mut bytes = [0; 32];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next().to_be_bytes()));
    bytes
}

impl World {
    /// Makes a call and sees to what becomes of it.
    pub fn call(&mut self, call: Call) -> Result<(), String> {
        self.calls(vec![call])
    }

    /// Makes several calls that the writer takes into one batch.
    pub fn calls(&mut self, calls: Vec<Call>) -> Result<(), String> {
        let answers: Vec<_> = calls.iter().map(|call| self.plane.submit(self.now, call.submission())).collect();
        let durable = self.turn()? == Turn::Done;
        for (call, answer) in calls.into_iter().zip(answers) {
            match answer {
                Ok(answer) if durable => self.answered(call, &answer)?,
                Err(Rejected::Refused(refusal)) if durable => {
                    self.count(refusal.code());
                }
                Err(Rejected::KeyReused) => return Err(format!("a repeat is taken for another request: {call:?}")),
                Ok(_) | Err(_) => self.repeat(call),
            }
        }
        Ok(())
    }

    fn answered(&mut self, mut call: Call, answer: &Answer) -> Result<(), String> {
        if let Some((key, seq)) = call.key.zip(answer.seq) {
            self.oracle.answered(key, seq)?;
        }
        for event in answer.events() {
            if let Event::Lease(tenant, lease::Event::Requested(e)) = event {
                self.leases.insert((e.lease, *tenant));
            }
        }
        self.count(if answer.repeated { "repeated" } else { "accepted" });
        if call.losses > 0 {
            call.losses -= 1;
            self.repeat(call);
        }
        Ok(())
    }

    /// Only what has a key is repeated: the rest cannot do harm, and is not done.
    fn repeat(&mut self, mut call: Call) {
        call.tries += 1;
        if call.key.is_some() && call.tries <= REPEATS {
            let wait = self.random.within(500, 20_000);
            self.post(wait, Mail::Repeat(call));
        }
    }
}
