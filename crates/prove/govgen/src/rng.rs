//! Random numbers that are the same for the same seed, whatever the machine and the versions of other crates.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Less than `n`, which is not zero.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        let wide = u128::from(self.next()) * u128::from(n.max(1));
        u32::try_from(wide >> 64).unwrap_or_default()
    }

    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// At least 0 and less than 1.
    fn share(&mut self) -> f64 {
        f64::from(self.below(u32::MAX)) / f64::from(u32::MAX)
    }

    /// A rank below `n` by Zipf's law with exponent 1, from the integral of the harmonic series.
    pub(crate) fn zipf(&mut self, n: u32) -> u32 {
        let rank = (self.share() * (f64::from(n) + 1.0).ln()).exp();
        // The cast cannot overflow, for the rank is at most n + 1.
        (rank as u32).clamp(1, n.max(1)) - 1
    }

    pub(crate) fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let n = u32::try_from(all.len()).unwrap_or(u32::MAX);
        all.get(self.below(n) as usize)
    }
}

/// A number that looks like chance and is always the same for `seed`.
pub(crate) fn mixed(seed: u64) -> u64 {
    let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `i`-th of the numbers below `n` in an order that looks like chance, so that different `i` give different numbers.
pub(crate) fn shuffled(i: u32, n: u32) -> u32 {
    const PRIME: u64 = 2_654_435_761;
    let n = u64::from(n.max(1));
    u32::try_from((u64::from(i) * PRIME + 7) % n).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut rng = Rng::new(seed);
            (0..5).map(|_| rng.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn low_ranks_are_drawn_often() {
        let mut rng = Rng::new(1);
        let n_first = (0..10_000).filter(|_| rng.zipf(1_000_000) < 10).count();
        assert!((1_000..3_000).contains(&n_first), "{n_first}");
    }

    #[test]
    fn shuffling_gives_every_number_once() {
        let all: std::collections::BTreeSet<u32> = (0..1000).map(|i| shuffled(i, 1000)).collect();
        assert_eq!(all.len(), 1000);
    }
}
