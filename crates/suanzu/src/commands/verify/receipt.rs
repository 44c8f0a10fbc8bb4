//! A receipt against the parts it carries: the auditor works it out from them afresh, and the two are compared field by field.

use super::{compare::compare, due};
use crate::language::{Told, phrases as p};
use auditor::{Record, Standing};
use journal::Bundle;
use serde_json::{Value, json};
use units::LeaseId;

/// What a receipt comes to by its proven parts.
pub struct Account {
    record: Record,
    /// Whether the bundle says, and shows, that it leaves none of the owner's parts out between its first and its last.
    whole: bool,
    not_covered: Vec<&'static str>,
}

/// Works a receipt out from its bundle, which has been checked, and says what of the receipt is otherwise. `known_log`: the
/// bundle's key was compared with one from elsewhere.
pub fn judge(receipt: &Value, bundle: &Bundle, known_log: bool) -> (Option<Account>, Vec<Told>) {
    let lease = receipt.pointer("/lease/id").and_then(Value::as_str).and_then(|id| id.parse::<LeaseId>().ok());
    let Some(lease) = lease else { return (None, vec![Told::new(&p::RECEIPT_WITHOUT_LEASE, &[])]) };
    let parts: Vec<(u64, &[u8])> = bundle.parts.iter().map(|part| (part.seq, part.bytes.as_slice())).collect();
    let (record, findings) = Record::read(lease, bundle.owner, &parts);
    let mut found: Vec<Told> = findings.iter().map(|finding| Told::new(&p::AS_IT_IS, &[&finding.to_string()])).collect();
    let Some(record) = record else {
        found.push(Told::new(&p::NO_ORDER, &[&lease.to_string()]));
        return (None, found);
    };
    let mut not_covered = due::not_proven(&record);
    let except = [not_covered.as_slice(), &["proof.bundle"]].concat();
    found.extend(compare(receipt, &due::receipt(&record, bundle.owner), &except));
    // They are held against each other only: no part says whose it is.
    not_covered.extend(["lease.tenant", "proof.bundle.owner"]);
    not_covered.extend((!known_log).then_some("proof.bundle.key"));
    (Some(Account { record, whole: bundle.whole, not_covered }), found)
}

impl Account {
    /// For programs, beside the rest of the verdict.
    pub fn told(&self) -> Value {
        let Record { lease, standing, total, lines, seq, .. } = &self.record;
        json!({
            "lease": lease, "state": due::state(*standing), "total": due::money(*total), "lines": lines.len(),
            "as_of_entry": seq, "over": self.over(), "whole": self.whole, "not_covered": self.not_covered,
        })
    }

    /// For people: what it comes to, and what is not covered.
    pub fn sentences(&self) -> Vec<Told> {
        let Record { lease, total, lines, seq, .. } = &self.record;
        let amount = due::money(*total)["amount"].as_str().unwrap_or_default().to_owned();
        let phrase = if self.over() { &p::RECEIPT_SOUND_OVER } else { &p::RECEIPT_SOUND_SO_FAR };
        let values = [&lease.to_string(), &amount, &lines.len().to_string(), &seq.to_string()];
        let sum = Told::new(phrase, &values.map(String::as_str));
        let selected = (!self.whole).then(|| Told::new(&p::RECEIPT_SELECTED, &[]));
        let rest = Told::new(&p::RECEIPT_NOT_COVERED, &[&self.not_covered.join(", ")]);
        std::iter::once(sum).chain(selected).chain([rest]).collect()
    }

    /// Nothing follows the end of a lease; what follows another entry does not show.
    fn over(&self) -> bool {
        self.record.standing == Standing::Ended
    }
}
