//! Finds what can match a resource without trying everything.

use std::sync::Arc;

use smallvec::SmallVec;

use super::byte_map::ByteMap;
use crate::matching::{LevelKey, RequestLevel, RequestPath, ResourceMatcher};

/// Keys that one resource is indexed under at most; beyond that it waits at an earlier level and is always tried.
const KEYS_MAX: usize = 256;

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
    /// What ends here.
    here: SmallVec<[Slot; 2]>,
    /// What has more levels and cannot be sorted in further.
    to_try: Vec<Slot>,
    /// By level; more than one only where the definition forks.
    branches: SmallVec<[(u8, Arc<Branch>); 1]>,
}

/// What the next level may be.
#[derive(Clone, Debug, Default)]
struct Branch {
    /// Every value.
    any: Option<Arc<Node>>,
    /// Any value might do, and some do not.
    open: Option<Arc<Node>>,
    exact: ByteMap<Arc<Node>>,
    prefixes: Affixes,
    suffixes: Affixes,
}

/// Beginnings or ends of values, with the lengths that occur.
#[derive(Clone, Debug, Default)]
struct Affixes {
    lengths: Vec<usize>,
    nodes: ByteMap<Arc<Node>>,
}

enum Change {
    Put,
    Remove,
}

impl Index {
    pub(crate) fn insert(&mut self, matcher: &ResourceMatcher, slot: Slot) {
        self.root.change(matcher, 0, slot, 1, &Change::Put);
    }

    pub(crate) fn remove(&mut self, matcher: &ResourceMatcher, slot: Slot) {
        self.root.change(matcher, 0, slot, 1, &Change::Remove);
    }

    /// What can match, in ascending order.
    pub(crate) fn find(&self, request: &RequestPath<'_>, reach: Reach) -> Slots {
        let mut found = Slots::new();
        self.root.visit(request.levels(), reach, true, &mut found);
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }
}

impl Node {
    fn change(
        &mut self,
        matcher: &ResourceMatcher,
        depth: usize,
        slot: Slot,
        n_keys: usize,
        change: &Change,
    ) {
        let Some((level, next)) = matcher.path().get(depth) else {
            return changed(&mut self.here, slot, change);
        };
        let n_keys = n_keys.saturating_mul(next.keys().count().max(1));
        let Ok(level) = u8::try_from(*level) else { return changed(&mut self.to_try, slot, change) };
        if n_keys > KEYS_MAX {
            return changed(&mut self.to_try, slot, change);
        }
        if !self.branches.iter().any(|(of, _)| *of == level) {
            self.branches.push((level, Arc::default()));
        }
        let Some((_, branch)) = self.branches.iter_mut().find(|(of, _)| *of == level) else { return };
        let branch = Arc::make_mut(branch);
        let mut within = |node: &mut Arc<Node>| {
            Arc::make_mut(node).change(matcher, depth + 1, slot, n_keys, change);
        };
        if next.takes_all() {
            return within(branch.any.get_or_insert_default());
        }
        for key in next.keys() {
            match key {
                LevelKey::Anything => within(branch.open.get_or_insert_default()),
                LevelKey::Exact(text) => branch.exact.entry(text.as_bytes()).map_or((), &mut within),
                LevelKey::Prefix(text) => branch.prefixes.entry(text.as_bytes()).map_or((), &mut within),
                LevelKey::Suffix(text) => branch.suffixes.entry(text.as_bytes()).map_or((), &mut within),
            }
        }
    }

    fn visit(&self, rest: &[RequestLevel<'_>], reach: Reach, is_root: bool, found: &mut Slots) {
        found.extend_from_slice(&self.to_try);
        let Some((next, rest)) = rest.split_first() else {
            found.extend_from_slice(&self.here);
            return self.below(reach, found);
        };
        // What names no level at all is above nothing.
        if reach.above && !is_root {
            found.extend_from_slice(&self.here);
        }
        let Some((_, branch)) = self.branches.iter().find(|(of, _)| usize::from(*of) == next.level) else {
            return;
        };
        let mut visit = |node: &Arc<Node>| node.visit(rest, reach, false, found);
        branch.any.iter().chain(&branch.open).for_each(&mut visit);
        let Some(keys) = next.keys() else { return branch.searched().for_each(visit) };
        for key in keys {
            branch.exact.get(key).into_iter().for_each(&mut visit);
            branch.prefixes.of(key, |key, length| key.get(..length)).for_each(&mut visit);
            branch
                .suffixes
                .of(key, |key, length| key.get(key.len().checked_sub(length)?..))
                .for_each(&mut visit);
        }
    }

    /// What the levels that the request does not have lead to.
    fn below(&self, reach: Reach, found: &mut Slots) {
        for (_, branch) in &self.branches {
            let mut visit = |node: &Arc<Node>| {
                found.extend_from_slice(&node.to_try);
                found.extend_from_slice(&node.here);
                node.below(reach, found);
            };
            branch.any.iter().for_each(&mut visit);
            if reach.below {
                branch.open.iter().chain(branch.searched()).for_each(visit);
            }
        }
    }
}

impl Branch {
    /// Everything that is found by a text.
    fn searched(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.exact.values().chain(self.prefixes.nodes.values()).chain(self.suffixes.nodes.values())
    }
}

impl Affixes {
    fn entry(&mut self, text: &[u8]) -> Option<&mut Arc<Node>> {
        if let Err(at) = self.lengths.binary_search(&text.len()) {
            self.lengths.insert(at, text.len());
        }
        self.nodes.entry(text)
    }

    fn of<'s>(
        &'s self,
        key: &'s [u8],
        part: impl Fn(&'s [u8], usize) -> Option<&'s [u8]>,
    ) -> impl Iterator<Item = &'s Arc<Node>> {
        let parts = self.lengths.iter().map_while(move |length| part(key, *length));
        parts.filter_map(|part| self.nodes.get(part))
    }
}

fn changed(slots: &mut impl SlotList, slot: Slot, change: &Change) {
    match change {
        Change::Put => slots.put(slot),
        Change::Remove => slots.take(slot),
    }
}

trait SlotList {
    fn put(&mut self, slot: Slot);
    fn take(&mut self, slot: Slot);
}

impl SlotList for Vec<Slot> {
    fn put(&mut self, slot: Slot) {
        // Several keys of one resource may lead to the same place, one right after the other.
        if self.last() != Some(&slot) {
            self.push(slot);
        }
    }

    fn take(&mut self, slot: Slot) {
        self.retain(|other| *other != slot);
    }
}

impl SlotList for SmallVec<[Slot; 2]> {
    fn put(&mut self, slot: Slot) {
        // Several keys of one resource may lead to the same place, one right after the other.
        if self.last() != Some(&slot) {
            self.push(slot);
        }
    }

    fn take(&mut self, slot: Slot) {
        self.retain(|other| *other != slot);
    }
}
