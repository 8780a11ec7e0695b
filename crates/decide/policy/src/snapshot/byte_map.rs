//! A map from texts that is cheap to copy and to change in one place, however large it is.

use std::sync::Arc;

use hashbrown::HashTable;

use crate::quick_hash::{Hashed, hash_of};

/// Shards hold at most about this many entries, so that a change copies no more than one of them.
const SHARD_ENTRIES_MAX: usize = 512;
/// By how much the number of shards grows.
const GROWTH: usize = 8;
/// Which bits of a hash choose the shard: a shard's own table goes by the lowest and the highest ones.
const SHARD_SHIFT: u32 = 32;

/// A map that holds its entries itself while there are few, and after that in shards that copies share.
#[derive(Clone, Debug)]
pub(crate) enum ByteMap<V> {
    Small(Shard<V>),
    Large(Vec<Arc<Shard<V>>>, usize),
}

pub(crate) type Shard<V> = HashTable<Entry<V>>;

#[derive(Clone, Debug)]
pub(crate) struct Entry<V> {
    key: Key,
    value: V,
}

/// A text, short ones without memory of their own.
#[derive(Clone, Debug)]
pub(super) enum Key {
    Short(u8, [u8; SHORT_BYTES]),
    Long(Box<[u8]>),
}

const SHORT_BYTES: usize = 22;

impl Key {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut bytes = [0; SHORT_BYTES];
        match (u8::try_from(text.len()), bytes.get_mut(..text.len())) {
            (Ok(length), Some(place)) => {
                place.copy_from_slice(text);
                Self::Short(length, bytes)
            }
            _ => Self::Long(text.into()),
        }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => bytes.get(..usize::from(*length)).unwrap_or(bytes),
            Self::Long(bytes) => bytes,
        }
    }
}

impl<V> Default for ByteMap<V> {
    fn default() -> Self {
        Self::Small(Shard::new())
    }
}

impl<V: Clone> ByteMap<V> {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&V> {
        self.get_hashed(Hashed::new(key))
    }

    pub(crate) fn get_hashed(&self, key: Hashed<'_>) -> Option<&V> {
        let shard = match self {
            Self::Small(shard) => shard,
            Self::Large(shards, _) => shards.get(place_of(key.hash, shards.len()))?,
        };
        shard.find(key.hash, |entry| entry.key.bytes() == key.bytes).map(|entry| &entry.value)
    }

    /// The value of a key, made if it is not there, to be changed.
    pub(crate) fn entry(&mut self, key: &[u8]) -> Option<&mut V>
    where
        V: Default,
    {
        self.grow_if_full();
        let hash = hash_of(key);
        match self {
            Self::Small(shard) => put_in(shard, hash, key).1,
            Self::Large(shards, n_entries) => {
                let place = place_of(hash, shards.len());
                let (is_new, value) = put_in(Arc::make_mut(shards.get_mut(place)?), hash, key);
                *n_entries += usize::from(is_new);
                value
            }
        }
    }

    fn grow_if_full(&mut self) {
        let (old, n_shards, n_entries) = match self {
            Self::Small(shard) if shard.len() >= SHARD_ENTRIES_MAX => {
                (vec![Arc::new(std::mem::take(shard))], GROWTH, SHARD_ENTRIES_MAX)
            }
            Self::Large(shards, n_entries) if *n_entries >= shards.len() * SHARD_ENTRIES_MAX => {
                let n_shards = shards.len() * GROWTH;
                (std::mem::take(shards), n_shards, *n_entries)
            }
            Self::Small(_) | Self::Large(..) => return,
        };
        let mut shards = vec![Shard::new(); n_shards];
        for shard in old {
            for entry in Arc::unwrap_or_clone(shard) {
                let hash = hash_of(entry.key.bytes());
                if let Some(shard) = shards.get_mut(place_of(hash, n_shards)) {
                    shard.insert_unique(hash, entry, |entry| hash_of(entry.key.bytes()));
                }
            }
        }
        *self = Self::Large(shards.into_iter().map(Arc::new).collect(), n_entries);
    }
}

/// In which of so many shards a text is; their number is a power of two.
fn place_of(hash: u64, n_shards: usize) -> usize {
    usize::try_from(hash >> SHARD_SHIFT).unwrap_or(0) & n_shards.saturating_sub(1)
}

/// Whether the key is new, and its value.
fn put_in<'s, V: Default>(shard: &'s mut Shard<V>, hash: u64, key: &[u8]) -> (bool, Option<&'s mut V>) {
    let is_new = shard.find(hash, |entry| entry.key.bytes() == key).is_none();
    if is_new {
        let new = Entry { key: Key::new(key), value: V::default() };
        shard.insert_unique(hash, new, |entry| hash_of(entry.key.bytes()));
    }
    (is_new, shard.find_mut(hash, |entry| entry.key.bytes() == key).map(|entry| &mut entry.value))
}

#[cfg(test)]
mod tests {
    use super::ByteMap;

    #[test]
    fn what_was_put_is_found_and_a_copy_keeps_what_it_had() {
        let mut map: ByteMap<usize> = ByteMap::default();
        let key = |n: usize| format!("{}{n}", "long ".repeat(n % 9));
        for n in 0..10_000 {
            *map.entry(key(n).as_bytes()).unwrap() = n;
        }
        let copy = map.clone();
        *map.entry(key(77).as_bytes()).unwrap() = 0;
        assert!((0..10_000).all(|n| copy.get(key(n).as_bytes()) == Some(&n)));
        assert_eq!(map.get(key(77).as_bytes()), Some(&0));
        assert_eq!(map.get(b"nothing"), None);
    }
}
