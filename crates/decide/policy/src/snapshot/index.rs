//! Finds the policies that can match a resource without trying them all.

use std::collections::HashMap;

use crate::matching::{Levels, RequestPath, ResourceMatcher};

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
    exact: HashMap<usize, HashMap<String, Index>>,
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
                    by_value.entry(key).or_default().insert(matcher, depth + 1, policy);
                }
            }
            None => self.to_try.push(policy),
        }
    }

    /// The policies that can match, in ascending order.
    pub(crate) fn find(&self, levels: &Levels, request: &RequestPath, reach: Reach) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(levels, request, 0, reach, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn visit(
        &self,
        levels: &Levels,
        request: &RequestPath,
        depth: usize,
        reach: Reach,
        found: &mut Vec<usize>,
    ) {
        found.extend(&self.to_try);
        match request.levels().get(depth) {
            Some((level, value)) => {
                if let Some(next) = self.any.get(level) {
                    next.visit(levels, request, depth + 1, reach, found);
                }
                if let Some(by_value) = self.exact.get(level)
                    && let Some(key) = levels.key(*level, value)
                    && let Some(next) = by_value.get(&key)
                {
                    next.visit(levels, request, depth + 1, reach, found);
                }
            }
            None => {
                found.extend(&self.here);
                for next in self.any.values() {
                    next.visit(levels, request, depth + 1, reach, found);
                }
                if reach == Reach::Below {
                    for next in self.exact.values().flat_map(HashMap::values) {
                        next.visit(levels, request, depth + 1, reach, found);
                    }
                }
            }
        }
    }
}
