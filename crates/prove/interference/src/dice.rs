//! Small numbers from a seed, the same on every machine.

/// A generator whose every roll follows from its seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // Seeds that stand side by side must not begin alike.
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
        for _ in 0..4 {
            dice.roll(2);
        }
        dice
    }

    /// One of `0..n`; 0 where `n` is 0.
    pub(crate) fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize).checked_rem(n).unwrap_or(0)
    }

    /// True once in `n` rolls.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }

    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.roll((high - low + 1) as usize) as i64
    }

    /// A seed for another generator.
    pub(crate) fn seed(&mut self) -> u64 {
        ((self.roll(1 << 30) as u64) << 30) | self.roll(1 << 30) as u64
    }
}
