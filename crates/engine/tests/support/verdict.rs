//! What must hold of a journal after a crash: nothing acknowledged is lost, nothing ran that it does not hold, the auditor
//! agrees with every bill.

use auditor::Auditor;
use journal::Source;
use rental::{Event, Part, lease};
use std::{collections::BTreeMap, ops::ControlFlow};
use units::LeaseId;

/// What was seen before the crash.
#[derive(Default)]
pub struct Seen {
    /// Idempotency keys of acknowledged wishes, with the entry that answered them.
    pub acknowledged: BTreeMap<u64, u64>,
    /// Starts that an agent carried out.
    pub started: Vec<(LeaseId, u32)>,
}

/// Reads the whole journal and says what is wrong with it, if anything.
pub fn judge(source: &dyn Source, seen: &Seen) -> Result<(), String> {
    let mut auditor = Auditor::new();
    let mut placed: Vec<(LeaseId, u32)> = Vec::new();
    let mut keys: BTreeMap<u64, u64> = BTreeMap::new();
    let mut wrong = None;
    let read = source.read(1, &mut |stored| {
        let parts: Vec<(u64, &[u8])> = stored.parts.iter().map(|part| (part.owner.0, part.bytes)).collect();
        if let Err(finding) = auditor.feed(stored.seq, stored.header, &parts) {
            wrong.get_or_insert(finding.to_string());
        }
        if let Ok(header) = stored.header() {
            keys.extend(header.key.map(|key| (number(&key), stored.seq)));
        }
        for part in &stored.parts {
            match Part::decode(part.bytes, part.owner) {
                Ok(part) => placed.extend(part.events.iter().filter_map(placement)),
                Err(error) => wrong = Some(error.to_string()),
            }
        }
        ControlFlow::Continue(())
    });
    read.map_err(|failure| failure.to_string())?;
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    for (key, seq) in &seen.acknowledged {
        if keys.get(key) != Some(seq) {
            return Err(format!("wish {key} was acknowledged as entry {seq}, and now it is {:?}", keys.get(key)));
        }
    }
    match seen.started.iter().find(|start| !placed.contains(start)) {
        Some((lease, attempt)) => Err(format!("{lease} attempt {attempt} was started, and the journal does not hold it")),
        None => auditor.finish().findings.first().map_or(Ok(()), |finding| Err(finding.to_string())),
    }
}

fn placement(event: &Event) -> Option<(LeaseId, u32)> {
    match event {
        Event::Lease(_, lease::Event::Placed(e)) => Some((e.lease, e.attempt)),
        _ => None,
    }
}

fn number(key: &[u8; 32]) -> u64 {
    u64::from_be_bytes(*key.first_chunk().expect("a hash has eight bytes"))
}
