//! Chance from a seed: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

/// A generator whose numbers depend on its seed only.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number within `range`, both ends included. The bias of the remainder is below 2⁻³² for ranges of milliseconds.
    pub(super) fn within(&mut self, range: (u32, u32)) -> i64 {
        let width = u64::from(range.1.saturating_sub(range.0)) + 1;
        i64::from(range.0) + i64::try_from(self.next() % width).expect("the width fits 33 bits")
    }

    /// Whether something of this probability happens.
    pub(super) fn happens(&mut self, permille: u32) -> bool {
        self.next() % 1000 < u64::from(permille)
    }
}
