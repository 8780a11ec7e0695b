//! Makes wrong texts out of right ones.

/// A source of texts that looks random and can be had again by its seed.
#[derive(Debug)]
pub(super) struct Mangler {
    state: u64,
}

/// Characters of a text at most; longer ones only take time.
const CHARS_MAX: usize = 2_000;

impl Mangler {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let n = u64::try_from(n.max(1)).unwrap_or(1);
        usize::try_from((self.state >> 11) % n).unwrap_or(0)
    }

    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// One of the seeds with some things done to it: characters lost, doubled and replaced, parts of others put in.
    pub(super) fn text(&mut self, seeds: &[&str], words: &[&str]) -> String {
        let mut text: Vec<char> = self.pick(seeds).chars().collect();
        for _ in 0..self.below(6) {
            let at = self.below(text.len() + 1);
            let end = (at + self.below(12)).min(text.len());
            match self.below(7) {
                0 => drop(text.drain(at..end)),
                1 => {
                    let part = text[at..end].to_vec();
                    let times = if self.below(20) == 0 { 100 } else { 1 };
                    (0..times).for_each(|_| drop(text.splice(at..at, part.iter().copied())));
                }
                2 => {
                    let c = char::from_u32(u32::try_from(self.below(0x300)).unwrap_or(0)).unwrap_or('?');
                    text.insert(at, c);
                }
                3 => text.truncate(at),
                4 => {
                    let other: Vec<char> = self.pick(seeds).chars().collect();
                    let from = self.below(other.len() + 1);
                    drop(text.splice(at..end, other[from..].iter().copied()));
                }
                _ => drop(text.splice(at..at, self.pick(words).chars())),
            }
            text.truncate(CHARS_MAX);
        }
        text.into_iter().collect()
    }
}
