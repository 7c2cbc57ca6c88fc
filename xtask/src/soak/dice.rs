//! Chance that can be repeated: the same seed gives the same throws, on every machine.

/// A stream of numbers (SplitMix64): small, fast, and good enough to choose what happens next.
#[derive(Debug, Clone)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    /// The dice of one part of a run. Parts do not share a stream, so each can be played alone.
    pub(crate) fn new(seed: u64, part: u64) -> Self {
        let mut dice = Self { state: seed ^ part.wrapping_mul(0xA076_1D64_78BD_642F) };
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        usize::try_from(self.next().checked_rem(end).unwrap_or(0)).unwrap_or(0)
    }

    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, chance: u8) -> bool {
        self.below(100) < usize::from(chance)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throws(seed: u64, part: u64) -> Vec<usize> {
        let mut dice = Dice::new(seed, part);
        (0..50).map(|_| dice.below(1000)).collect()
    }

    #[test]
    fn a_seed_repeats_itself_and_its_parts_differ() {
        assert_eq!(throws(7, 1), throws(7, 1));
        assert_ne!(throws(7, 1), throws(7, 2));
        assert_ne!(throws(7, 1), throws(8, 1));
    }

    #[test]
    fn throws_stay_in_bounds_and_reach_both_ends() {
        let mut dice = Dice::new(1, 1);
        let seen: Vec<_> = (0..500).map(|_| dice.between(2, 4)).collect();
        assert_eq!((seen.iter().min(), seen.iter().max()), (Some(&2), Some(&4)));
        assert!(!dice.percent(0) && dice.percent(100) && dice.below(0) == 0);
    }
}
