//! One place in an index: what waits there, and how it goes on from there.

use std::sync::Arc;

use smallvec::SmallVec;

use super::index::{Slot, Slots};
use super::node_map::PathHash;

/// How one comes from a node to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Every value, with levels after it that are not.
    Any,
    /// Any value might do, and some do not.
    Open,
    /// This value.
    Exact,
    /// Values that begin so.
    Prefix,
    /// Values that end so.
    Suffix,
}

impl Kind {
    /// Whether it is found by a text.
    pub(super) fn is_by_text(self) -> bool {
        matches!(self, Self::Exact | Self::Prefix | Self::Suffix)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) level: u8,
    pub(super) kind: Kind,
}

/// The mark of a slot that is found only where the request ends; the others are found wherever it goes on to. There
/// are far fewer policies than the marked numbers leave room for.
pub(super) const HERE: Slot = 1 << 31;

/// Slots that a node holds itself.
const FEW: usize = 3;
/// The mark, among the kinds of edges, of a node with more slots than that.
const MANY: u8 = 1 << 7;

/// A place in an index.
#[derive(Clone, Debug)]
pub(super) struct Node {
    more: Option<Arc<More>>,
    pub(super) number: u32,
    /// The node before it.
    pub(super) from: u32,
    few: [Slot; FEW],
    n_few: u8,
    /// The kinds of edges that lead on, in bits.
    kinds: u8,
    /// The last edge of the way to it.
    pub(super) edge: Edge,
}

/// What only inner nodes have, and those where much waits.
#[derive(Clone, Debug, Default)]
struct More {
    slots: Vec<Slot>,
    affixes: SmallVec<[Affix; 2]>,
    /// The levels that follow; more than one where the definition forks.
    levels: SmallVec<[u8; 4]>,
    texts: Texts,
}

/// What part of a value to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Affix {
    pub(super) edge: Edge,
    pub(super) length: usize,
}

/// The paths on by texts, in chunks that copies share.
#[derive(Clone, Debug, Default)]
struct Texts {
    full: Vec<Arc<[PathHash]>>,
    last: Vec<PathHash>,
}

const TEXTS_CHUNK: usize = 512;

impl Texts {
    fn push(&mut self, path: PathHash) {
        self.last.push(path);
        if self.last.len() >= TEXTS_CHUNK {
            self.full.push(std::mem::take(&mut self.last).into());
        }
    }

    fn all(&self) -> impl Iterator<Item = PathHash> {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(&self.last).copied()
    }
}

impl Node {
    pub(super) fn new(number: u32, from: u32, edge: Edge) -> Self {
        Self { more: None, number, from, few: [0; FEW], n_few: 0, kinds: 0, edge }
    }

    #[inline]
    pub(super) fn is_leaf(&self) -> bool {
        self.kinds & !MANY == 0
    }

    #[inline]
    pub(super) fn leads_on_by(&self, kind: Kind) -> bool {
        self.kinds & kind.bit() != 0
    }

    #[inline]
    pub(super) fn has_affixes(&self) -> bool {
        self.kinds & (Kind::Prefix.bit() | Kind::Suffix.bit()) != 0
    }

    pub(super) fn affixes(&self) -> &[Affix] {
        self.more.as_deref().map_or(&[], |more| &more.affixes)
    }

    pub(super) fn levels(&self) -> &[u8] {
        self.more.as_deref().map_or(&[], |more| &more.levels)
    }

    /// The paths to every node that is reached from here by a text.
    pub(super) fn texts(&self) -> impl Iterator<Item = PathHash> {
        self.more.as_deref().into_iter().flat_map(|more| more.texts.all())
    }

    /// Adds what waits here to what is found.
    #[inline]
    pub(super) fn add_to(&self, found: &mut Slots, ends_here: bool) {
        let mut add = |marked: &Slot| {
            if ends_here || marked & HERE == 0 {
                found.push(marked & !HERE);
            }
        };
        self.few().iter().for_each(&mut add);
        if self.kinds & MANY != 0 {
            self.many().iter().for_each(add);
        }
    }

    #[inline]
    fn few(&self) -> &[Slot] {
        self.few.get(..usize::from(self.n_few)).unwrap_or(&self.few)
    }

    fn many(&self) -> &[Slot] {
        self.more.as_deref().map_or(&[], |more| &more.slots)
    }

    fn more(&mut self) -> &mut More {
        Arc::make_mut(self.more.get_or_insert_default())
    }

    /// Notes that another node is reached from here.
    pub(super) fn lead_on(&mut self, edge: Edge, length: usize, path: PathHash) {
        self.kinds |= edge.kind.bit();
        let more = self.more();
        if !more.levels.contains(&edge.level) {
            more.levels.push(edge.level);
        }
        if edge.kind.is_by_text() {
            more.texts.push(path);
        }
        let affix = Affix { edge, length };
        if matches!(edge.kind, Kind::Prefix | Kind::Suffix) && !more.affixes.contains(&affix) {
            more.affixes.push(affix);
        }
    }

    pub(super) fn put(&mut self, marked: Slot) {
        // Several keys of one resource may lead to the same place, one right after the other.
        if self.many().last().or(self.few().last()) == Some(&marked) {
            return;
        }
        let is_full = usize::from(self.n_few) == FEW;
        match self.few.get_mut(usize::from(self.n_few)) {
            Some(place) if !is_full && self.kinds & MANY == 0 => {
                *place = marked;
                self.n_few += 1;
            }
            _ => {
                self.kinds |= MANY;
                self.more().slots.push(marked);
            }
        }
    }

    pub(super) fn remove(&mut self, marked: Slot) {
        if self.few().contains(&marked) {
            let left: SmallVec<[Slot; FEW]> =
                self.few().iter().copied().filter(|other| *other != marked).collect();
            self.n_few = 0;
            for (place, slot) in self.few.iter_mut().zip(left) {
                *place = slot;
                self.n_few += 1;
            }
        }
        if self.many().contains(&marked) {
            self.more().slots.retain(|other| *other != marked);
            if self.many().is_empty() {
                self.kinds &= !MANY;
            }
        }
    }
}
