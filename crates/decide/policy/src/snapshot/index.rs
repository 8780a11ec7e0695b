//! Finds what can match a resource without trying everything.

use smallvec::SmallVec;

use super::node::{Affix, Edge, HERE, Kind, Node};
use super::node_map::{Guess, NodeMap, PathHash, Way};
use crate::matching::{LevelKey, RequestLevel, RequestPath, ResourceMatcher};
use crate::quick_hash::Hashed;

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

/// A tree over the levels of a definition, whose nodes stand in one map.
///
/// INVARIANT: what it finds can match and must still be tried; what it does not find cannot match within the reach.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    root: Node,
    nodes: NodeMap,
    n_numbers: u32,
}

const ROOT: u32 = 0;

/// Nothing leads to the root, so that its edge says nothing.
impl Default for Index {
    fn default() -> Self {
        let edge = Edge { level: 0, kind: Kind::Any };
        Self { root: Node::new(ROOT, ROOT, edge), nodes: NodeMap::default(), n_numbers: 1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Put,
    Remove,
}

/// A resource that is put into an index or taken out.
struct Changed<'m> {
    matcher: &'m ResourceMatcher,
    slot: Slot,
    change: Change,
}

/// A node on the way of a change; the root has no way.
#[derive(Clone, Copy)]
struct Spot<'t> {
    way: Option<Way<'t>>,
    hash: PathHash,
    number: u32,
}

/// How many names ahead a search looks: what stands at deeper levels is rarer.
const GUESSES: usize = 2;

/// No text, where any value does.
const NO_TEXT: Hashed<'static> = Hashed { bytes: &[], hash: 0 };

impl Index {
    pub(crate) fn insert(&mut self, matcher: &ResourceMatcher, slot: Slot) {
        self.change(&Changed { matcher, slot, change: Change::Put }, Self::ROOT, 0, 1);
    }

    pub(crate) fn remove(&mut self, matcher: &ResourceMatcher, slot: Slot) {
        self.change(&Changed { matcher, slot, change: Change::Remove }, Self::ROOT, 0, 1);
    }

    const ROOT: Spot<'static> = Spot { way: None, hash: PathHash::ROOT, number: ROOT };

    /// Whether the resource stands under all of its keys, so that finding it says that they fit.
    pub(crate) fn is_sorted_in(matcher: &ResourceMatcher) -> bool {
        let named = matcher.path().iter().rposition(|(_, level)| !level.takes_all()).map_or(0, |at| at + 1);
        let keys = matcher.path().iter().take(named).map(|(_, level)| level.keys().count().max(1));
        keys.fold(1, usize::saturating_mul) <= KEYS_MAX
    }

    fn change(&mut self, what: &Changed<'_>, at: Spot<'_>, depth: usize, n_keys: usize) {
        let rest = what.matcher.path().get(depth..).unwrap_or_default();
        let Some((level, next)) = rest.first() else { return self.change_here(what, at, what.slot | HERE) };
        // What takes everything from here on is told apart from nothing that a request may still name.
        if rest.iter().all(|(_, next)| next.takes_all()) {
            return self.change_here(what, at, what.slot);
        }
        let n_keys = n_keys.saturating_mul(next.keys().count().max(1));
        let level = match u8::try_from(*level) {
            Ok(level) if n_keys <= KEYS_MAX => level,
            _ => return self.change_here(what, at, what.slot),
        };
        let mut within = |kind, text| {
            let next = self.step(at, Edge { level, kind }, text);
            self.change(what, next, depth + 1, n_keys);
        };
        if next.takes_all() {
            return within(Kind::Any, NO_TEXT);
        }
        for key in next.keys() {
            match key {
                LevelKey::Anything => within(Kind::Open, NO_TEXT),
                LevelKey::Exact(text) => within(Kind::Exact, Hashed::new(text.as_bytes())),
                LevelKey::Prefix(text) => within(Kind::Prefix, Hashed::new(text.as_bytes())),
                LevelKey::Suffix(text) => within(Kind::Suffix, Hashed::new(text.as_bytes())),
            }
        }
    }

    fn change_here(&mut self, what: &Changed<'_>, at: Spot<'_>, marked: Slot) {
        if let Some(node) = self.node_mut(at) {
            match what.change {
                Change::Put => node.put(marked),
                Change::Remove => node.remove(marked),
            }
        }
    }

    fn node_mut(&mut self, at: Spot<'_>) -> Option<&mut Node> {
        match &at.way {
            None => Some(&mut self.root),
            Some(way) => self.nodes.get_mut(way),
        }
    }

    /// The node that an edge leads to, made if it is not there.
    fn step<'t>(&mut self, from: Spot<'_>, edge: Edge, text: Hashed<'t>) -> Spot<'t> {
        let hash = from.hash.then(edge, text.hash);
        let way = Way { hash, from: from.number, edge, text: text.bytes };
        if let Some(node) = self.nodes.get(&way) {
            return Spot { way: Some(way), hash, number: node.number };
        }
        let number = self.n_numbers;
        // Memory ends long before the numbers do.
        self.n_numbers = number.saturating_add(1);
        self.nodes.insert(&way, from.hash, Node::new(number, from.number, edge));
        if let Some(node) = self.node_mut(from) {
            node.lead_on(edge, text.bytes.len(), hash);
        }
        Spot { way: Some(way), hash, number }
    }

    /// The nodes that the first two names of a request lead to, guessed before the way to them is gone step by step, so
    /// that memory is waited for once.
    fn guesses(&self, levels: &[RequestLevel<'_>]) -> [Option<Guess<'_>>; GUESSES] {
        let mut guesses = [None; GUESSES];
        if self.nodes.is_small() {
            return guesses;
        }
        let mut hash = PathHash::ROOT;
        for (guess, level) in guesses.iter_mut().zip(levels) {
            let key = level.keys().and_then(|mut keys| keys.next());
            let (Some(key), Ok(level)) = (key, u8::try_from(level.level)) else { break };
            hash = hash.then(Edge { level, kind: Kind::Exact }, key.hash);
            *guess = self.nodes.guess(hash);
            if guess.is_none() {
                break;
            }
        }
        guesses
    }

    /// Adds what can match; what has been added stands in ascending order then.
    pub(crate) fn find(&self, request: &RequestPath<'_>, reach: Reach, found: &mut Slots) {
        let levels = request.levels();
        // What names no level at all is above nothing.
        self.root.add_to(found, levels.is_empty());
        if self.root.is_leaf() && found.len() < 2 {
            return;
        }
        let guesses = self.guesses(levels);
        Search { nodes: &self.nodes, guesses, n_levels: levels.len(), reach, found }.onward(
            &self.root,
            PathHash::ROOT,
            levels,
        );
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
    }
}

/// A search that is under way.
struct Search<'s, 'f> {
    nodes: &'s NodeMap,
    guesses: [Option<Guess<'s>>; GUESSES],
    n_levels: usize,
    reach: Reach,
    found: &'f mut Slots,
}

impl<'s> Search<'s, '_> {
    #[inline]
    fn next(
        &self,
        node: &Node,
        hash: PathHash,
        edge: Edge,
        text: Hashed<'_>,
    ) -> Option<(&'s Node, PathHash)> {
        let hash = hash.then(edge, text.hash);
        let node = self.nodes.get(&Way { hash, from: node.number, edge, text: text.bytes })?;
        Some((node, hash))
    }

    /// The same by a name at a depth of the request.
    #[inline]
    fn exact(
        &self,
        node: &Node,
        hash: PathHash,
        edge: Edge,
        text: Hashed<'_>,
        depth: usize,
    ) -> Option<(&'s Node, PathHash)> {
        let hash = hash.then(edge, text.hash);
        let way = Way { hash, from: node.number, edge, text: text.bytes };
        let guess = self.guesses.get(depth).copied().flatten();
        let node = guess.and_then(|guess| guess.confirmed(&way)).or_else(|| self.nodes.get(&way))?;
        Some((node, hash))
    }

    fn visit(&mut self, (node, hash): (&'s Node, PathHash), rest: &[RequestLevel<'_>]) {
        node.add_to(self.found, rest.is_empty() || self.reach.above);
        self.onward(node, hash, rest);
    }

    /// What a node leads to.
    fn onward(&mut self, node: &Node, hash: PathHash, rest: &[RequestLevel<'_>]) {
        if node.is_leaf() {
            return;
        }
        let Some((next, rest)) = rest.split_first() else { return self.below(node, hash) };
        let Ok(level) = u8::try_from(next.level) else { return };
        let by = |kind| Edge { level, kind };
        for kind in [Kind::Any, Kind::Open] {
            if node.leads_on_by(kind)
                && let Some(next) = self.next(node, hash, by(kind), NO_TEXT)
            {
                self.visit(next, rest);
            }
        }
        let Some(keys) = next.keys() else {
            for next in self.by_text(node) {
                if next.0.edge.level == level {
                    self.visit(next, rest);
                }
            }
            return;
        };
        for key in keys {
            if node.leads_on_by(Kind::Exact)
                && let Some(next) =
                    self.exact(node, hash, by(Kind::Exact), key, self.n_levels - rest.len() - 1)
            {
                self.visit(next, rest);
            }
            if !node.has_affixes() {
                continue;
            }
            for affix in node.affixes().iter().filter(|affix| affix.edge.level == level) {
                if let Some(part) = part(key.bytes, affix)
                    && let Some(next) = self.next(node, hash, affix.edge, Hashed::new(part))
                {
                    self.visit(next, rest);
                }
            }
        }
    }

    /// What a node leads to where the request has no more levels.
    fn below(&mut self, node: &Node, hash: PathHash) {
        if !self.reach.below && !node.leads_on_by(Kind::Any) {
            return;
        }
        for level in node.levels() {
            for kind in [Kind::Any, Kind::Open] {
                if (kind == Kind::Any || self.reach.below)
                    && node.leads_on_by(kind)
                    && let Some(next) = self.next(node, hash, Edge { level: *level, kind }, NO_TEXT)
                {
                    self.visit_below(next);
                }
            }
        }
        if self.reach.below {
            self.by_text(node).for_each(|next| self.visit_below(next));
        }
    }

    fn visit_below(&mut self, (node, hash): (&'s Node, PathHash)) {
        node.add_to(self.found, true);
        if !node.is_leaf() {
            self.below(node, hash);
        }
    }

    /// Everything that is found by a text; some of it twice.
    fn by_text<'n>(&self, node: &'n Node) -> impl Iterator<Item = (&'s Node, PathHash)> + use<'n, 's> {
        let (nodes, number) = (self.nodes, node.number);
        node.texts().flat_map(move |hash| nodes.reached_by(hash, number).map(move |node| (node, hash)))
    }
}

/// The beginning or the end of a value.
fn part<'k>(key: &'k [u8], affix: &Affix) -> Option<&'k [u8]> {
    match affix.edge.kind {
        Kind::Prefix => key.get(..affix.length),
        Kind::Suffix => key.get(key.len().checked_sub(affix.length)?..),
        Kind::Any | Kind::Open | Kind::Exact => None,
    }
}
