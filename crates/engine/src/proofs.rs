//! What may be given out of the log: the published tiles, and an owner's own parts with their proofs.

use crate::{FoldError, Handle, Rejected};
use journal::{Bundle, Checkpoint, Failure, Source, publish, tile::Resource};
use rental::Part;
use std::ops::ControlFlow;
use units::Owner;

/// The bytes published under `path` (`checkpoint`, `tile/…`), or `None` where there is nothing. Reads the disk.
pub fn published(handle: &Handle, path: &str) -> Result<Option<Vec<u8>>, Failure> {
    let Some(resource) = Resource::parse(path) else { return Ok(None) };
    handle.with_reader(|reader| match reader.checkpoints()?.pop() {
        None if resource == Resource::Checkpoint => Ok(None),
        newest => publish::get(reader, &newest.map_or_else(String::new, |(_, signed)| signed), resource),
    })
}

/// A signed checkpoint that covers entry `seq`: the newest that is kept, or one signed now.
pub async fn checkpoint_over(handle: &Handle, seq: u64) -> Result<String, Rejected> {
    let kept = handle.with_reader(|reader| reader.checkpoints()).map_err(|e| Rejected::Stopped(e.to_string()))?;
    match kept.last() {
        Some((size, signed)) if *size >= seq => Ok(signed.clone()),
        _ => handle.checkpoint().await,
    }
}

/// The owner's parts among these entries with their proofs, as the JSON of a bundle file. Reads the disk.
pub fn bundle(handle: &Handle, owner: Owner, seqs: &[u64], checkpoint: &str) -> Result<String, Failure> {
    // A checkpoint that was just opened by its own key is sound.
    debug_assert!(Checkpoint::open(checkpoint, handle.keys().verifier()).is_ok());
    // A connection of its own: a long lease has thousands of parts, and others read too.
    let reader = handle.with_reader(|reader| reader.try_clone())?;
    Ok(Bundle::make(&reader, handle.keys(), owner, seqs, checkpoint)?.to_json())
}

/// The owner's parts among these entries, decoded. Reads the disk.
pub fn parts(handle: &Handle, owner: Owner, seqs: &[u64]) -> Result<Vec<Part>, FoldError> {
    let reader = handle.with_reader(|reader| reader.try_clone())?;
    let mut parts = Vec::with_capacity(seqs.len());
    for &seq in seqs {
        let mut found = Ok(None);
        reader.read(seq, &mut |stored| {
            let part = stored.parts.iter().find(|part| part.owner == owner && stored.seq == seq);
            found = part.map(|part| Part::decode(part.bytes, owner)).transpose();
            ControlFlow::Break(())
        })?;
        parts.extend(found.map_err(|source| FoldError::Part { seq, source })?);
    }
    Ok(parts)
}
