//! Finds what can match a resource without trying everything.

use std::sync::Arc;

use smallvec::SmallVec;

use super::byte_map::ByteMap;
use crate::matching::{LevelKey, RequestLevel, RequestPath, ResourceMatcher};

/// Keys that one resource is indexed under at most; beyond that it waits at an earlier level and is always tried.
const KEYS_MAX: usize = 4_096;

/// What an index leads to: the number of a policy, a zone or a tagged resource.
pub(crate) type Slot = u32;

/// The slots that a look-up finds.
pub(crate) type Slots = SmallVec<[Slot; 32]>;

/// How far from the requested thing to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Whether what stands above the requested thing is looked for too.
    pub(crate) above: bool,
    /// Whether what stands below it is.
    pub(crate) below: bool,
}

impl Reach {
    pub(crate) const ITSELF: Self = Self { above: false, below: false };
    pub(crate) const BELOW: Self = Self { above: false, below: true };
    pub(crate) const ABOVE: Self = Self { above: true, below: false };
    pub(crate) const ANYWHERE: Self = Self { above: true, below: true };
}

/// A tree over the levels of a definition.
///
/// INVARIANT: what it finds can match and must still be tried; what it does not find cannot match within the reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    root: Node,
}

#[derive(Clone, Debug, Default)]
struct Node {
    slots: Marked,
    branches: Option<Arc<Branch>>,
}

/// What a level may be.
#[derive(Clone, Debug)]
struct Branch {
    level: u8,
    /// Another level that may follow, where the definition forks.
    other: Option<Arc<Branch>>,
    /// Every value, with levels after it that are not.
    any: Option<Arc<Node>>,
    /// Any value might do, and some do not.
    open: Option<Arc<Node>>,
    exact: ByteMap<Node>,
    parts: Option<Arc<Parts>>,
}

/// What is found by a part of a value.
#[derive(Clone, Debug, Default)]
struct Parts {
    prefixes: Affixes,
    suffixes: Affixes,
}

/// Beginnings or ends of values, with the lengths that occur.
#[derive(Clone, Debug, Default)]
struct Affixes {
    lengths: Vec<usize>,
    nodes: ByteMap<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Put,
    Remove,
}

impl Index {
    pub(crate) fn insert(&mut self, matcher: &ResourceMatcher, slot: Slot) {
        self.root.change(matcher, 0, slot, 1, Change::Put);
    }

    pub(crate) fn remove(&mut self, matcher: &ResourceMatcher, slot: Slot) {
        self.root.change(matcher, 0, slot, 1, Change::Remove);
    }

    /// Whether the resource stands under all of its keys, so that finding it says that they fit.
    pub(crate) fn is_sorted_in(matcher: &ResourceMatcher) -> bool {
        let named = matcher.path().iter().rposition(|(_, level)| !level.takes_all()).map_or(0, |at| at + 1);
        let keys = matcher.path().iter().take(named).map(|(_, level)| level.keys().count().max(1));
        keys.fold(1, usize::saturating_mul) <= KEYS_MAX
    }

    /// Adds what can match; what has been added stands in ascending order then.
    pub(crate) fn find(&self, request: &RequestPath<'_>, reach: Reach, found: &mut Slots) {
        let levels = request.levels();
        // What names no level at all is above nothing.
        self.root.slots.add_to(found, levels.is_empty());
        if let Some(branch) = &self.root.branches {
            branch.visit(levels, reach, found);
        }
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
    }
}

impl Node {
    fn change(&mut self, matcher: &ResourceMatcher, depth: usize, slot: Slot, n_keys: usize, change: Change) {
        let rest = matcher.path().get(depth..).unwrap_or_default();
        let Some((level, next)) = rest.first() else { return self.slots.change(slot | HERE, change) };
        // What takes everything from here on is told apart from nothing that a request may still name.
        if rest.iter().all(|(_, next)| next.takes_all()) {
            return self.slots.change(slot, change);
        }
        let n_keys = n_keys.saturating_mul(next.keys().count().max(1));
        let level = match u8::try_from(*level) {
            Ok(level) if n_keys <= KEYS_MAX => level,
            _ => return self.slots.change(slot, change),
        };
        let branch = branch_of(&mut self.branches, level);
        let mut within = |node: &mut Node| node.change(matcher, depth + 1, slot, n_keys, change);
        if next.takes_all() {
            return within(Arc::make_mut(branch.any.get_or_insert_default()));
        }
        for key in next.keys() {
            match key {
                LevelKey::Anything => within(Arc::make_mut(branch.open.get_or_insert_default())),
                LevelKey::Exact(text) => {
                    branch.exact.entry(text.as_bytes()).into_iter().for_each(&mut within);
                }
                LevelKey::Prefix(text) => {
                    let parts = Arc::make_mut(branch.parts.get_or_insert_default());
                    parts.prefixes.entry(text.as_bytes()).into_iter().for_each(&mut within);
                }
                LevelKey::Suffix(text) => {
                    let parts = Arc::make_mut(branch.parts.get_or_insert_default());
                    parts.suffixes.entry(text.as_bytes()).into_iter().for_each(&mut within);
                }
            }
        }
    }

    #[inline]
    fn visit(&self, rest: &[RequestLevel<'_>], reach: Reach, found: &mut Slots) {
        self.slots.add_to(found, rest.is_empty() || reach.above);
        if let Some(branch) = &self.branches {
            branch.visit(rest, reach, found);
        }
    }

    /// What the levels that the request does not have lead to.
    fn below(&self, reach: Reach, found: &mut Slots) {
        self.branches().for_each(|branch| branch.below(reach, found));
    }

    fn branches(&self) -> impl Iterator<Item = &Branch> {
        std::iter::successors(self.branches.as_deref(), |branch| branch.other.as_deref())
    }
}

/// The branch of a level, made if it is not there.
fn branch_of(place: &mut Option<Arc<Branch>>, level: u8) -> &mut Branch {
    let branch = Arc::make_mut(place.get_or_insert_with(|| Arc::new(Branch::new(level))));
    if branch.level == level { branch } else { branch_of(&mut branch.other, level) }
}

impl Branch {
    fn new(level: u8) -> Self {
        Self { level, other: None, any: None, open: None, exact: ByteMap::default(), parts: None }
    }

    /// What this branch leads to, and those that stand beside it.
    fn visit(&self, rest: &[RequestLevel<'_>], reach: Reach, found: &mut Slots) {
        let beside = || std::iter::successors(Some(self), |branch| branch.other.as_deref());
        let Some((next, rest)) = rest.split_first() else {
            return beside().for_each(|branch| branch.below(reach, found));
        };
        let Some(branch) = beside().find(|branch| usize::from(branch.level) == next.level) else { return };
        let mut visit = |node: &Node| node.visit(rest, reach, found);
        if let Some(node) = &branch.any {
            visit(node);
        }
        if let Some(node) = &branch.open {
            visit(node);
        }
        let Some(keys) = next.keys() else { return branch.searched().for_each(visit) };
        for key in keys {
            if let Some(node) = branch.exact.get_hashed(key) {
                visit(node);
            }
            let (Some(parts), key) = (&branch.parts, key.bytes) else { continue };
            parts.prefixes.of(key, |key, length| key.get(..length)).for_each(&mut visit);
            let end = |key: &[u8], length: usize| key.len().checked_sub(length);
            parts.suffixes.of(key, |key, length| key.get(end(key, length)?..)).for_each(&mut visit);
        }
    }

    /// What it leads to where the request has no more levels.
    fn below(&self, reach: Reach, found: &mut Slots) {
        let mut visit = |node: &Node| {
            node.slots.add_to(found, true);
            node.below(reach, found);
        };
        self.any.iter().for_each(|node| visit(node));
        if reach.below {
            self.open.iter().for_each(|node| visit(node));
            self.searched().for_each(visit);
        }
    }

    /// Everything that is found by a text.
    fn searched(&self) -> impl Iterator<Item = &Node> {
        let parts = self
            .parts
            .iter()
            .flat_map(|parts| parts.prefixes.nodes.values().chain(parts.suffixes.nodes.values()));
        self.exact.values().chain(parts)
    }
}

impl Affixes {
    fn entry(&mut self, text: &[u8]) -> Option<&mut Node> {
        if let Err(at) = self.lengths.binary_search(&text.len()) {
            self.lengths.insert(at, text.len());
        }
        self.nodes.entry(text)
    }

    fn of<'s>(
        &'s self,
        key: &'s [u8],
        part: impl Fn(&'s [u8], usize) -> Option<&'s [u8]>,
    ) -> impl Iterator<Item = &'s Node> {
        let parts = self.lengths.iter().map_while(move |length| part(key, *length));
        parts.filter_map(|part| self.nodes.get(part))
    }
}

/// The mark of a slot that is found only where the request ends; the others are found wherever it goes on to. There
/// are far fewer policies than the marked numbers leave room for.
const HERE: Slot = 1 << 31;

/// Slots with their marks, a few of them without memory of their own.
#[derive(Clone, Debug)]
enum Marked {
    Few(u8, [Slot; 3]),
    Many(Vec<Slot>),
}

impl Default for Marked {
    fn default() -> Self {
        Self::Few(0, [0; 3])
    }
}

impl Marked {
    fn all(&self) -> &[Slot] {
        match self {
            Self::Few(n, slots) => slots.get(..usize::from(*n)).unwrap_or(slots),
            Self::Many(slots) => slots,
        }
    }

    #[inline]
    fn add_to(&self, found: &mut Slots, ends_here: bool) {
        for marked in self.all() {
            if ends_here || marked & HERE == 0 {
                found.push(marked & !HERE);
            }
        }
    }

    fn change(&mut self, marked: Slot, change: Change) {
        // Several keys of one resource may lead to the same place, one right after the other.
        if change == Change::Put && self.all().last() == Some(&marked) {
            return;
        }
        match (&mut *self, change) {
            (Self::Many(slots), Change::Put) => slots.push(marked),
            (Self::Many(slots), Change::Remove) => slots.retain(|other| *other != marked),
            (Self::Few(n, slots), Change::Put) => match slots.get_mut(usize::from(*n)) {
                Some(place) => {
                    *place = marked;
                    *n += 1;
                }
                None => {
                    let mut many = slots.to_vec();
                    many.push(marked);
                    *self = Self::Many(many);
                }
            },
            (Self::Few(..), Change::Remove) => {
                let left: Vec<Slot> = self.all().iter().copied().filter(|other| *other != marked).collect();
                *self = Self::default();
                left.into_iter().for_each(|slot| self.change(slot, Change::Put));
            }
        }
    }
}
