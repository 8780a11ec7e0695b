//! A map from texts that is cheap to copy and to change in one place, however large it is.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Shards hold about this many entries, so that a change copies no more than one of them.
const SHARD_ENTRIES: usize = 64;
/// By how much the number of shards grows.
const GROWTH: usize = 8;

type Shard<V> = HashMap<Box<[u8]>, V, BuildHasherDefault<ByteHasher>>;

/// A map in shards that copies share.
#[derive(Clone, Debug)]
pub(crate) struct ByteMap<V> {
    /// As many as a power of two.
    shards: Vec<Arc<Shard<V>>>,
    n_entries: usize,
}

impl<V> Default for ByteMap<V> {
    fn default() -> Self {
        Self { shards: Vec::new(), n_entries: 0 }
    }
}

impl<V: Clone> ByteMap<V> {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&V> {
        self.shards.get(self.shard_of(key))?.get(key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.shards.iter().flat_map(|shard| shard.values())
    }

    /// The value of a key, made if it is not there, to be changed.
    pub(crate) fn entry(&mut self, key: &[u8]) -> Option<&mut V>
    where
        V: Default,
    {
        if self.n_entries >= self.shards.len() * SHARD_ENTRIES * GROWTH || self.shards.is_empty() {
            self.grow();
        }
        let at = self.shard_of(key);
        let shard = Arc::make_mut(self.shards.get_mut(at)?);
        if !shard.contains_key(key) {
            shard.insert(key.into(), V::default());
            self.n_entries += 1;
        }
        shard.get_mut(key)
    }

    fn shard_of(&self, key: &[u8]) -> usize {
        // The high bits, because a shard's own table goes by the low ones.
        let hash = BuildHasherDefault::<ByteHasher>::default().hash_one(key) >> 40;
        usize::try_from(hash).unwrap_or(0) & self.shards.len().saturating_sub(1)
    }

    fn grow(&mut self) {
        let n_shards = if self.shards.is_empty() { 1 } else { self.shards.len() * GROWTH };
        let old = std::mem::replace(&mut self.shards, vec![Arc::new(Shard::default()); n_shards]);
        for shard in old {
            let shard = Arc::try_unwrap(shard).unwrap_or_else(|shared| (*shared).clone());
            for (key, value) in shard {
                let at = self.shard_of(&key);
                if let Some(shard) = self.shards.get_mut(at) {
                    Arc::make_mut(shard).insert(key, value);
                }
            }
        }
    }
}

/// A quick hash of short texts. Whoever writes policies could make texts that collide, and would slow down only
/// what he is trusted to break altogether.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByteHasher(u64);

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl ByteHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0xA076_1D64_78BD_642F) * u128::from(MULTIPLIER);
        // Folding keeps what the multiplication moved into the upper half.
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for ByteHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(<[u8; 8]>::try_from(chunk).map_or(0, u64::from_le_bytes));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut last = [0; 8];
            for (to, from) in last.iter_mut().zip(rest) {
                *to = *from;
            }
            self.add(u64::from_le_bytes(last));
        }
    }

    fn write_usize(&mut self, length: usize) {
        self.add(length as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
