//! Chance from a seed: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
//!
//! Written out because a seed that is named in a report must give the same history in every later release; generators of
//! libraries may change theirs.

/// A generator whose numbers depend on its seed only.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of one of several streams of a seed.
    pub fn of(seed: u64, stream: u64) -> Random {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd129_0e4a_7c15_9e37));
        // Neighbouring seeds must not give neighbouring numbers.
        random.next();
        Random(random.next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where the bound is 0. The remainder's bias is far below what a simulation could notice.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A number within `[least, most]`.
    pub fn within(&mut self, least: i64, most: i64) -> i64 {
        let width = most.saturating_sub(least).max(0).unsigned_abs();
        least + i64::try_from(self.below(width + 1)).unwrap_or(0)
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, permille: u32) -> bool {
        self.below(1000) < u64::from(permille)
    }

    /// One of these; `None` where there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(usize::try_from(self.below(from.len() as u64)).unwrap_or(0))
    }

    /// One of these, by their weights.
    pub fn weighted<'a, T>(&mut self, from: &'a [(u32, T)]) -> Option<&'a T> {
        let all: u64 = from.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut at = self.below(all);
        from.iter().find_map(|(weight, one)| {
            let weight = u64::from(*weight);
            if at < weight {
                return Some(one);
            }
            at -= weight;
            None
        })
    }
}
