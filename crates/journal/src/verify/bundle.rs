//! A bundle: everything is recomputed from the bytes it carries.

use super::{Report, order::Parts};
use crate::{
    Bundle, Checkpoint, Failure, PartRef, Place,
    bundle::{ProvenPart, is_whole},
    leaf,
    note::Verifier,
    proof::includes,
};

/// Checks a bundle (JSON) against the log's public key. Without one, the key in the bundle is believed: then only its
/// inner agreement is shown.
///
/// Fails if the file is no bundle or no checkpoint of this key; what is wrong with its parts is in the report.
pub fn bundle(json: &[u8], key: Option<&Verifier>) -> Result<Report, Failure> {
    let bundle = Bundle::parse(json)?;
    let own: Verifier = bundle.key.parse()?;
    let mut report = Report { origin: own.name().into(), ..Report::default() };
    if key.is_some_and(|key| *key != own) {
        report.find(None, Place::Checkpoint, "the bundle names another key than the one given");
    }
    let checkpoint = match Checkpoint::open(&bundle.checkpoint, key.unwrap_or(&own)) {
        Ok(checkpoint) => checkpoint,
        Err(failure) => {
            report.find(None, Place::Checkpoint, failure.to_string());
            return Ok(report);
        }
    };
    (report.size, report.root, report.checkpoints) = (checkpoint.size, Some(checkpoint.root), 1);
    let mut order = if bundle.whole { Parts::of_a_stretch() } else { Parts::of_a_selection() };
    let mut last = 0;
    for part in &bundle.parts {
        if part.seq <= last {
            report.find(part.seq, Place::Part(bundle.owner), "parts are not in order of seq, one per entry");
        }
        last = part.seq;
        order.part(part.seq, None, PartRef { owner: bundle.owner, bytes: &part.bytes }, &mut report);
        if let Err((place, what)) = check(part, &checkpoint) {
            report.find(part.seq, place.unwrap_or(Place::Part(bundle.owner)), what);
        }
        report.parts += 1;
    }
    if !bundle.whole && is_whole(&bundle.parts) {
        report.find(None, Place::Frame, "it says that parts lie between those it holds, and none does");
    }
    Ok(report)
}

/// The place is `None` where it is the part itself.
fn check(part: &ProvenPart, checkpoint: &Checkpoint) -> Result<(), (Option<Place>, &'static str)> {
    let salt = part.salt.as_slice().try_into().map_err(|_| (None, "its salt is not 32 bytes"))?;
    let (hashes, rest) = part.leaf_data.as_chunks::<32>();
    if !rest.is_empty() {
        return Err((Some(Place::LeafData), "it is no whole number of hashes"));
    }
    if part.number == 0 || hashes.get(part.number as usize) != Some(&leaf::part_hash(&salt, &part.bytes)) {
        return Err((None, "its bytes and salt do not give its hash in the leaf data"));
    }
    let wrong = (Some(Place::Proof), "the leaf data and the proof do not lead to the checkpoint");
    let proof = part.proof().ok_or(wrong)?;
    let index = part.seq.checked_sub(1).ok_or(wrong)?;
    let holds = includes(index, checkpoint.size, &leaf::hash(&part.leaf_data), proof, &checkpoint.root);
    if holds { Ok(()) } else { Err(wrong) }
}
