//! The nodes of an index in one map, found by the whole path to each, so that the steps of a path need not wait for
//! each other.

use std::hash::Hasher;
use std::sync::Arc;

use hashbrown::HashTable;

use super::byte_map::Key;
use super::node::{Edge, Node};
use crate::quick_hash::{ByteHasher, hash_of};

/// Shards hold at most about this many nodes, so that a change copies no more than one of them. A table of 1,024 places
/// takes 896, and few shards exceed the average by as much as is left.
const SHARD_NODES_MAX: usize = 832;

/// As many shards as the nearest caches hold.
const SMALL_SHARDS: usize = 2;

/// The hash of a path of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathHash(u64);

impl PathHash {
    pub(super) const ROOT: Self = Self(0);

    #[inline]
    pub(super) fn then(self, edge: Edge, text_hash: u64) -> Self {
        let number = u64::from(edge.level) << 8 | edge.kind as u64;
        let mut hasher = ByteHasher::after(self.0 ^ number << 48);
        hasher.write_u64(text_hash);
        Self(hasher.finish())
    }
}

/// The way to a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way<'t> {
    /// Of the whole path.
    pub(super) hash: PathHash,
    /// The node before it.
    pub(super) from: u32,
    pub(super) edge: Edge,
    pub(super) text: &'t [u8],
}

/// A node with its place in the tree. It fills a line of the processor's cache, so that finding it costs one.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Entry {
    text: Key,
    node: Node,
    from: PathHash,
}

const _: () = assert!(size_of::<Entry>() == 64, "a node fills one line of the processor's cache");

impl Entry {
    fn is(&self, way: &Way<'_>) -> bool {
        self.node.from == way.from && self.node.edge == way.edge && self.text.bytes() == way.text
    }

    fn hash(&self) -> u64 {
        self.from.then(self.node.edge, hash_of(self.text.bytes())).0
    }
}

/// A node that may be the one that is looked for.
#[derive(Clone, Copy)]
pub(super) struct Guess<'s>(&'s Entry);

impl<'s> Guess<'s> {
    pub(super) fn confirmed(self, way: &Way<'_>) -> Option<&'s Node> {
        self.0.is(way).then_some(&self.0.node)
    }
}

type Shard = HashTable<Entry>;

/// Every node but the root. Copies share what has not changed.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeMap {
    shards: Vec<Arc<Shard>>,
    n_nodes: usize,
}

impl NodeMap {
    #[inline]
    pub(super) fn get(&self, way: &Way<'_>) -> Option<&Node> {
        let shard = self.shards.get(place_of(way.hash, self.shards.len()))?;
        shard.find(way.hash.0, |entry| entry.is(way)).map(|entry| &entry.node)
    }

    /// Whether all of it is likely to be at hand in the processor's caches.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.shards.len() <= SMALL_SHARDS
    }

    /// What may be at the end of a path; whether it is must still be asked.
    #[inline]
    pub(super) fn guess(&self, hash: PathHash) -> Option<Guess<'_>> {
        let shard = self.shards.get(place_of(hash, self.shards.len()))?;
        shard.find(hash.0, |_| true).map(Guess)
    }

    pub(super) fn get_mut(&mut self, way: &Way<'_>) -> Option<&mut Node> {
        let place = place_of(way.hash, self.shards.len());
        let shard = Arc::make_mut(self.shards.get_mut(place)?);
        shard.find_mut(way.hash.0, |entry| entry.is(way)).map(|entry| &mut entry.node)
    }

    /// The node that is reached by this path from one node, and now and then another one that is reached from there too.
    pub(super) fn reached_by(&self, hash: PathHash, from: u32) -> impl Iterator<Item = &Node> {
        let shard = self.shards.get(place_of(hash, self.shards.len()));
        let alike = shard.into_iter().flat_map(move |shard| shard.iter_hash(hash.0));
        alike.filter(move |entry| entry.node.from == from).map(|entry| &entry.node)
    }

    /// Adds what is not there.
    pub(super) fn insert(&mut self, way: &Way<'_>, from: PathHash, node: Node) {
        self.grow_if_full();
        let place = place_of(way.hash, self.shards.len());
        if let Some(shard) = self.shards.get_mut(place) {
            let entry = Entry { text: Key::new(way.text), node, from };
            Arc::make_mut(shard).insert_unique(way.hash.0, entry, Entry::hash);
            self.n_nodes += 1;
        }
    }

    fn grow_if_full(&mut self) {
        let n_old = self.shards.len();
        if self.n_nodes < n_old * SHARD_NODES_MAX {
            return;
        }
        let n_shards = n_old + n_old / 2 + 1;
        let mut shards = vec![Shard::new(); n_shards];
        for shard in std::mem::take(&mut self.shards) {
            for entry in Arc::unwrap_or_clone(shard) {
                let hash = entry.hash();
                if let Some(shard) = shards.get_mut(place_of(PathHash(hash), n_shards)) {
                    shard.insert_unique(hash, entry, Entry::hash);
                }
            }
        }
        self.shards = shards.into_iter().map(Arc::new).collect();
    }
}

/// In which of so many shards a node is, by other bits than those that a shard's own table goes by.
#[inline]
fn place_of(hash: PathHash, n_shards: usize) -> usize {
    let bits = u128::from(hash.0 << 8);
    ((bits * n_shards as u128) >> 64) as usize
}
