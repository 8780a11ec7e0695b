//! Finds the policies that can match a resource without trying them all.

use std::collections::HashMap;

use crate::matching::{RequestPath, ResourceMatcher};

/// A tree over the levels of a definition.
///
/// What it finds can match and must still be tried; what it does not find cannot match the requested thing itself
/// (nor, with [`Reach::Below`], anything below it).
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// Policies whose resource ends here.
    here: Vec<usize>,
    /// Policies whose next level has wildcards, tokens or excludes.
    to_try: Vec<usize>,
    /// By level: policies that take every value there.
    any: HashMap<usize, Index>,
    /// By level and exact value.
    exact: HashMap<usize, HashMap<Box<[u8]>, Index>>,
}

/// How far below the requested thing to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Itself,
    Below,
}

impl Index {
    /// `depth` levels of the matcher's path lead to this node.
    pub(crate) fn insert(&mut self, matcher: &ResourceMatcher, depth: usize, policy: usize) {
        let Some((level, next)) = matcher.path().get(depth) else {
            self.here.push(policy);
            return;
        };
        if next.takes_all() {
            self.any.entry(*level).or_default().insert(matcher, depth + 1, policy);
            return;
        }
        match next.exact_keys() {
            Some(keys) => {
                let by_value = self.exact.entry(*level).or_default();
                for key in keys {
                    by_value.entry(key.into_bytes().into_boxed_slice()).or_default().insert(
                        matcher,
                        depth + 1,
                        policy,
                    );
                }
            }
            None => self.to_try.push(policy),
        }
    }

    /// The policies that can match, in ascending order.
    pub(crate) fn find(&self, request: &RequestPath<'_>, reach: Reach) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(request, 0, reach, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn visit(&self, request: &RequestPath<'_>, depth: usize, reach: Reach, found: &mut Vec<usize>) {
        found.extend(&self.to_try);
        match request.levels().get(depth) {
            Some(given) => {
                if let Some(next) = self.any.get(&given.level) {
                    next.visit(request, depth + 1, reach, found);
                }
                let Some(by_value) = self.exact.get(&given.level) else { return };
                match given.keys() {
                    Some(keys) => {
                        for next in keys.filter_map(|key| by_value.get(key)) {
                            next.visit(request, depth + 1, reach, found);
                        }
                    }
                    None => {
                        for next in by_value.values() {
                            next.visit(request, depth + 1, reach, found);
                        }
                    }
                }
            }
            None => {
                found.extend(&self.here);
                for next in self.any.values() {
                    next.visit(request, depth + 1, reach, found);
                }
                if reach == Reach::Below {
                    for next in self.exact.values().flat_map(HashMap::values) {
                        next.visit(request, depth + 1, reach, found);
                    }
                }
            }
        }
    }
}
