//! What `tlog-tiles` publishes of a log, by path: hash tiles, leaf data, the checkpoint.
//!
//! Nothing here is secret: leaf data are salted hashes. Paths are those of [`crate::tile::Resource`].

use crate::{
    Failure, Source,
    tile::{self, Resource, TileId, WIDTH},
};
use std::{fs, ops::ControlFlow, path::Path};

/// The bytes of a resource of the log as it is now, or `None` if it does not (yet) exist. A partial tile or bundle
/// is given for any width that the log has reached. `checkpoint` is the newest signed checkpoint.
pub fn get(source: &dyn Source, checkpoint: &str, resource: Resource) -> Result<Option<Vec<u8>>, Failure> {
    match resource {
        Resource::Checkpoint => Ok(Some(checkpoint.as_bytes().to_vec())),
        Resource::Hashes { tile, width } => {
            let hashes = source.tile(tile)?;
            Ok(hashes.get(..width).map(|hashes| hashes.as_flattened().to_vec()))
        }
        Resource::Entries { number, width } => entries(source, number, width),
    }
}

fn entries(source: &dyn Source, number: u64, width: usize) -> Result<Option<Vec<u8>>, Failure> {
    let (mut bundle, mut left) = (Vec::new(), width);
    let first = number.saturating_mul(WIDTH as u64).saturating_add(1);
    source.read(first, &mut |stored| {
        let length = u16::try_from(stored.leaf_data.len()).expect("MAX_PARTS keeps leaf data within 16 bits");
        bundle.extend_from_slice(&length.to_be_bytes());
        bundle.extend_from_slice(stored.leaf_data);
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((left == 0).then_some(bundle))
}

/// Splits an entry bundle into leaf data; `None` if a length does not fit.
pub fn split_entries(mut bundle: &[u8]) -> Option<Vec<&[u8]>> {
    let mut all = Vec::new();
    while !bundle.is_empty() {
        let (length, rest) = bundle.split_first_chunk::<2>()?;
        let (data, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        all.push(data);
        bundle = rest;
    }
    Some(all)
}

/// Every resource of a log of `size` entries, the checkpoint last, so that what it promises is there before it.
pub fn resources(size: u64) -> impl Iterator<Item = Resource> {
    let hashes = tile::all(size).map(|(tile, width)| Resource::Hashes { tile, width });
    let entries = (0..size.div_ceil(WIDTH as u64)).map(move |number| {
        let width = tile::width(TileId { level: 0, number }, size);
        Resource::Entries { number, width }
    });
    hashes.chain(entries).chain([Resource::Checkpoint])
}

/// Writes the log of `size` entries into `folder` as files under their paths, as any web server can serve them.
pub fn write(source: &dyn Source, size: u64, checkpoint: &str, folder: &Path) -> Result<(), Failure> {
    let failed = |e| Failure::io("writing the published log", e);
    for resource in resources(size) {
        let path = folder.join(resource.path());
        let bytes = get(source, checkpoint, resource)?;
        let bytes = bytes.ok_or_else(|| Failure::invalid(format!("the log lacks {}", resource.path())))?;
        fs::create_dir_all(path.parent().expect("a resource lies in a folder")).map_err(failed)?;
        fs::write(path, bytes).map_err(failed)?;
    }
    Ok(())
}
