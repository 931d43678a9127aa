//! Numbers from a seed. Written out, so that a seed means the same in every release.

/// `SplitMix64`.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// True once in `times`.
    pub const fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<'items, T>(&mut self, items: &'items [T]) -> Option<&'items T> {
        let at = self.below(items.len() as u64);
        items.get(usize::try_from(at).unwrap_or(0))
    }
}
