//! The directory: what must not stand in the journal (names, programs, secrets' hashes), by id, erasable.
//!
//! Keys are text: `name/ID`, `workload/LEASE`, `devices/NODE` (JSON list of uuids), `label/KEY`, `secret/HEX` (the key's
//! number, 8 bytes big-endian), `heard/AGENT` (when the agent was last heard, milliseconds, 8 bytes big-endian), `probe`
//! (when writing was last tried after a failure).

use crate::Attach;
use journal::{Change, Failure, Source};
use rental::{Event, fleet, lease, tenancy};
use rustc_hash::FxHashMap;
use std::fmt::Display;
use units::{AgentId, KeyId, LeaseId, NodeId, Time, Workload};

/// Reads of the directory.
pub struct Directory<'a>(pub &'a dyn Source);

impl Directory<'_> {
    /// The name of a tenant, project, person or lease.
    pub fn name(&self, id: impl Display) -> Result<Option<String>, Failure> {
        self.text(&format!("name/{id}"))
    }

    /// What people call a key.
    pub fn label(&self, key: KeyId) -> Result<Option<String>, Failure> {
        self.text(&format!("label/{key}"))
    }

    /// What a lease runs.
    pub fn workload(&self, lease: LeaseId) -> Result<Option<Workload>, Failure> {
        let bytes = self.0.directory_get(format!("workload/{lease}").as_bytes())?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// The uuids of a node's devices, in the order of their ids.
    pub fn devices(&self, node: NodeId) -> Result<Vec<String>, Failure> {
        let bytes = self.0.directory_get(format!("devices/{node}").as_bytes())?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    /// All hashes of secrets with their keys.
    pub(crate) fn secrets(&self) -> Result<FxHashMap<[u8; 32], KeyId>, Failure> {
        let pairs = self.0.directory_scan(b"secret/")?;
        Ok(pairs.iter().filter_map(|(key, value)| secret(key, value)).collect())
    }

    /// When agents were last heard, as far as it was kept.
    pub(crate) fn heard(&self) -> Result<Vec<(AgentId, Time)>, Failure> {
        let kept = |(key, value): &(Vec<u8>, Vec<u8>)| {
            let agent = std::str::from_utf8(key.strip_prefix(b"heard/")?).ok()?.parse().ok()?;
            Some((agent, Time(i64::from_be_bytes(value.as_slice().try_into().ok()?))))
        };
        Ok(self.0.directory_scan(b"heard/")?.iter().filter_map(kept).collect())
    }

    fn text(&self, key: &str) -> Result<Option<String>, Failure> {
        let bytes = self.0.directory_get(key.as_bytes())?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// A `secret/…` pair as hash and key.
pub(crate) fn secret(key: &[u8], value: &[u8]) -> Option<([u8; 32], KeyId)> {
    let hex = std::str::from_utf8(key.strip_prefix(b"secret/")?).ok()?;
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(hex.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some((hash, KeyId(u64::from_be_bytes(value.try_into().ok()?))))
}

/// What an entry's attachment changes, by the ids that its events gave out.
pub(crate) fn changes(attach: &Attach, events: &[Event]) -> Vec<Change> {
    match attach {
        Attach::Nothing => Vec::new(),
        Attach::All(several) => several.iter().flat_map(|one| changes(one, events)).collect(),
        Attach::Workload(workload) => {
            let json = serde_json::to_vec(workload).expect("a workload is plain data");
            requested(events).map(|lease| put(format!("workload/{lease}"), json)).into_iter().collect()
        }
        Attach::Name(name) => named(events).map(|id| put(format!("name/{id}"), name.clone().into())).into_iter().collect(),
        Attach::Key { hash, label } => issued(events).map(|key| key_changes(key, hash, label)).unwrap_or_default(),
        Attach::Devices(uuids) => {
            let json = serde_json::to_vec(uuids).expect("uuids are text");
            added(events).map(|node| put(format!("devices/{node}"), json)).into_iter().collect()
        }
    }
}

fn key_changes(key: KeyId, hash: &[u8; 32], label: &str) -> Vec<Change> {
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    vec![put(format!("secret/{hex}"), key.0.to_be_bytes().into()), put(format!("label/{key}"), label.into())]
}

/// Something to write, to see whether it can be written.
pub(crate) fn probe(at: Time) -> Change {
    put("probe".into(), at.0.to_be_bytes().into())
}

/// Keeps when an agent was last heard.
pub(crate) fn heard(agent: AgentId, at: Time) -> Change {
    put(format!("heard/{agent}"), at.0.to_be_bytes().into())
}

fn put(key: String, value: Vec<u8>) -> Change {
    Change::Put { key: key.into_bytes(), value }
}

fn requested(events: &[Event]) -> Option<LeaseId> {
    events.iter().find_map(|event| match event {
        Event::Lease(_, lease::Event::Requested(e)) => Some(e.lease),
        _ => None,
    })
}

fn added(events: &[Event]) -> Option<NodeId> {
    events.iter().find_map(|event| match event {
        Event::Fleet(fleet::Event::NodeAdded(e)) => Some(e.node),
        _ => None,
    })
}

fn issued(events: &[Event]) -> Option<KeyId> {
    events.iter().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::KeyIssued(e)) => Some(e.key),
        _ => None,
    })
}

fn named(events: &[Event]) -> Option<String> {
    events.iter().find_map(|event| match event {
        Event::Tenancy(tenancy::Event::TenantCreated(e)) => Some(e.tenant.to_string()),
        Event::Tenancy(tenancy::Event::ProjectCreated(e)) => Some(e.project.to_string()),
        Event::Tenancy(tenancy::Event::MemberSet(e)) => Some(e.user.to_string()),
        Event::Lease(_, lease::Event::Requested(e)) => Some(e.lease.to_string()),
        _ => None,
    })
}
