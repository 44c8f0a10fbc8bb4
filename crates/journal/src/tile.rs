//! Hash tiles of C2SP `tlog-tiles`: which hashes stand together, and under which path they are published.
//!
//! A tile holds up to 256 hashes of 32 bytes of one level: tile *(level, number)* holds the roots of the
//! perfect subtrees of height 8 × level with indices 256 × number … 256 × number + 255. Only the last tile
//! of a level may hold fewer. Paths:
//!
//! ```text
//! tile/<level>/<number>            a full tile
//! tile/<level>/<number>.p/<width>  the first <width> hashes of a tile, 1 … 255
//! tile/entries/<number>[.p/<width>]  leaf data of the same 256 leaves: per leaf a 16-bit big-endian length, then the data
//! checkpoint                       the newest signed checkpoint
//! ```
//!
//! `<number>` is written in groups of three digits, each but the last preceded by `x`: 1234067 is `x001/x234/067`.

use crate::{Failure, Hash};

/// Hashes in a full tile.
pub const WIDTH: usize = 256;

/// Which tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    /// 0 over the leaves, 1 over the roots of full tiles of level 0, and so on.
    pub level: u8,
    /// Its place within the level.
    pub number: u64,
}

impl TileId {
    /// The seq of the first entry beneath the hash at this place in the tile.
    pub fn first_seq(self, at: usize) -> u64 {
        1 + ((self.number * WIDTH as u64 + at as u64) << (8 * self.level))
    }
}

/// Something published under a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// The newest signed checkpoint.
    Checkpoint,
    /// The first `width` hashes of a tile.
    Hashes {
        /// Which tile.
        tile: TileId,
        /// 1 … 256.
        width: usize,
    },
    /// Leaf data of the first `width` leaves of bundle `number`.
    Entries {
        /// Which 256 leaves.
        number: u64,
        /// 1 … 256.
        width: usize,
    },
}

impl Resource {
    /// The path, without a leading slash.
    pub fn path(&self) -> String {
        match *self {
            Resource::Checkpoint => "checkpoint".into(),
            Resource::Hashes { tile, width } => format!("tile/{}/{}", tile.level, numbered(tile.number, width)),
            Resource::Entries { number, width } => format!("tile/entries/{}", numbered(number, width)),
        }
    }

    /// Reads a path; `None` if nothing is ever published there.
    pub fn parse(path: &str) -> Option<Resource> {
        if path == "checkpoint" {
            return Some(Resource::Checkpoint);
        }
        let (kind, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let (digits, width) = match rest.split_once(".p/") {
            Some((digits, width)) => (digits, width.parse().ok().filter(|w| (1..WIDTH).contains(w))?),
            None => (rest, WIDTH),
        };
        let number = digits.replace(['x', '/'], "").parse().ok()?;
        let resource = match kind {
            "entries" => Resource::Entries { number, width },
            level => Resource::Hashes { tile: TileId { level: level.parse().ok().filter(|l| *l < 64)?, number }, width },
        };
        // One spelling only, so that a cache never holds the same tile twice.
        (resource.path() == path).then_some(resource)
    }
}

fn numbered(number: u64, width: usize) -> String {
    let mut path = format!("{:03}", number % 1000);
    let mut rest = number / 1000;
    while rest > 0 {
        path = format!("x{:03}/{path}", rest % 1000);
        rest /= 1000;
    }
    if width < WIDTH { format!("{path}.p/{width}") } else { path }
}

/// How many hashes tile `id` holds in a tree of `size` leaves: 0 … 256.
pub fn width(id: TileId, size: u64) -> usize {
    let nodes = size.checked_shr(8 * u32::from(id.level)).unwrap_or(0);
    nodes.saturating_sub(id.number.saturating_mul(WIDTH as u64)).min(WIDTH as u64) as usize
}

/// Every tile of a tree of `size` leaves with its width, level by level.
pub fn all(size: u64) -> impl Iterator<Item = (TileId, usize)> {
    (0..8u8).flat_map(move |level| {
        let nodes = size.checked_shr(8 * u32::from(level)).unwrap_or(0);
        (0..nodes.div_ceil(WIDTH as u64)).map(move |number| {
            let tile = TileId { level, number };
            (tile, width(tile, size))
        })
    })
}

/// Splits stored bytes into hashes.
pub(crate) fn hashes(bytes: &[u8]) -> Result<Vec<Hash>, Failure> {
    let (hashes, rest) = bytes.as_chunks::<32>();
    if rest.is_empty() { Ok(hashes.to_vec()) } else { Err(Failure::invalid("a tile is no whole number of hashes")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_specification() {
        let tile = TileId { level: 0, number: 1_234_067 };
        assert_eq!(Resource::Hashes { tile, width: 256 }.path(), "tile/0/x001/x234/067");
        assert_eq!(Resource::Entries { number: 0, width: 7 }.path(), "tile/entries/000.p/7");
        for path in ["checkpoint", "tile/1/000", "tile/0/x001/234.p/255", "tile/entries/999"] {
            assert_eq!(Resource::parse(path).unwrap().path(), path);
        }
    }

    #[test]
    fn a_path_has_one_spelling_only() {
        for path in [
            "tile/0/0",
            "tile/0/x000/001",
            "tile/0/000.p/0",
            "tile/0/000.p/256",
            "tile/00/000",
            "tile/64/000",
            "tiles",
            "tile/0/1234",
        ] {
            assert_eq!(Resource::parse(path), None, "{path}");
        }
    }

    #[test]
    fn the_tiles_of_a_tree_are_full_but_for_the_last_of_each_level() {
        let widths: Vec<_> = all(70_000).map(|(id, w)| (id.level, w)).filter(|(_, w)| *w < 256).collect();
        assert_eq!(widths, [(0, 112), (1, 17), (2, 1)]);
    }
}
