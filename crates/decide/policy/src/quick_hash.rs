//! A quick hash of short texts, which a request works out once for all the maps that it is looked up in.

use std::hash::Hasher;

/// A text with its hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashed<'k> {
    pub(crate) bytes: &'k [u8],
    pub(crate) hash: u64,
}

impl<'k> Hashed<'k> {
    pub(crate) fn new(bytes: &'k [u8]) -> Self {
        Self { bytes, hash: hash_of(bytes) }
    }
}

pub(crate) fn hash_of(text: &[u8]) -> u64 {
    let mut hasher = ByteHasher(text.len() as u64);
    hasher.write(text);
    hasher.0
}

/// Whoever writes policies could make texts that collide, and would slow down only what he is trusted to break
/// altogether.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByteHasher(u64);

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl ByteHasher {
    /// One that has seen something already.
    pub(crate) fn after(hash: u64) -> Self {
        Self(hash)
    }

    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0xA076_1D64_78BD_642F) * u128::from(MULTIPLIER);
        // Folding keeps what the multiplication moved into the upper half.
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

/// The bytes of a text of less than eight, in one word. Texts of one length give different words.
fn few(text: &[u8]) -> u64 {
    match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

impl Hasher for ByteHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
            self.add(u64::from_le_bytes(*chunk));
            rest = after;
        }
        match bytes.last_chunk::<8>() {
            _ if rest.is_empty() => {}
            // Some bytes count twice, which is quicker than to take the last ones by themselves.
            Some(last) => self.add(u64::from_le_bytes(*last)),
            None => self.add(few(rest)),
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, length: usize) {
        self.add(length as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::hash_of;

    #[test]
    fn texts_that_differ_in_one_byte_have_different_hashes() {
        for length in 1..40 {
            let text = vec![b'a'; length];
            let changed = (0..length).map(|at| {
                let mut changed = text.clone();
                changed[at] = b'b';
                hash_of(&changed)
            });
            let all: BTreeSet<u64> = changed.chain([hash_of(&text)]).collect();
            assert_eq!(all.len(), length + 1);
        }
    }
}
