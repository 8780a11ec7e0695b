//! Ranger's order of policies, which decides whose mask, filter or number an answer carries.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use super::access_types::{AccessSet, AccessTypes, Implied, items_of};
use crate::edit::PUBLIC;
use crate::model::{Item, Policy, PolicyId, Priority, ResourceMap, ResourceValues};

/// The name that stands for whoever asks.
pub(crate) const ANY_USER: &str = "{USER}";
/// The name that stands for the owner of the resource.
pub(crate) const OWNER: &str = "{OWNER}";

/// Policies are evaluated in ascending order of this: priority, then those that can deny, then the wider score of
/// Ranger's, then the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EvalOrder {
    pub(crate) priority: Priority,
    pub(crate) cannot_deny: bool,
    pub(crate) score: i32,
}

impl EvalOrder {
    /// A number that is less where this comes first.
    pub(crate) fn rank(&self) -> u32 {
        let priority = match self.priority {
            Priority::Override => 0,
            Priority::Normal => 1,
        };
        // Scores are far from where the sign or the upper bits would matter.
        let score = u32::try_from(self.score).unwrap_or(0).min((1 << 30) - 1);
        priority << 31 | u32::from(self.cannot_deny) << 30 | score
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let key = |order: &Self| (Reverse(order.priority), order.cannot_deny, order.score);
        key(self).cmp(&key(other))
    }
}

/// The order among policies that are otherwise alike.
pub(crate) fn by_name(a: (&str, PolicyId), b: (&str, PolicyId)) -> Ordering {
    a.0.cmp(b.0).then(a.1.cmp(&b.1))
}

/// Ranger's evalOrder: the lower, the wider the policy and the earlier its turn.
pub(crate) fn policy_score(policy: &Policy, implied: &Implied, types: &AccessTypes, is_dynamic: bool) -> i32 {
    let mut score = 10_000 + if is_dynamic { 20 } else { 0 };
    score -= width(&policy.resources).min(100);

    let mut names = BTreeSet::new();
    let mut granted = AccessSet::default();
    let mut n_conditions = policy.conditions.len();
    let mut any_wide = policy.is_deny_all_else;
    for item in items_of(policy) {
        any_wide |= is_wide(item);
        names.extend(item.users.iter().map(|name| ("user", name.as_str())));
        names.extend(item.groups.iter().map(|name| ("group", name.as_str())));
        granted.extend(&implied.granted(&item.accesses, types));
        n_conditions += item.conditions.len();
    }
    score -= if any_wide { 25 } else { as_i32(names.len()).min(25) };
    score -= share_of_25(granted.len(), implied.n_defined());
    score - (25 - 5 * as_i32(n_conditions)).max(0)
}

/// The order of items within a policy's list.
pub(crate) fn item_score(item: &Item, access: &AccessSet, implied: &Implied) -> i32 {
    let named = if is_wide(item) { 100 } else { (item.users.len() + item.groups.len()).min(100) };
    1000 - as_i32(named)
        - share_of_25(access.len(), implied.n_defined())
        - (25 - 5 * as_i32(item.conditions.len())).max(0)
}

fn is_wide(item: &Item) -> bool {
    item.groups.iter().any(|name| name.eq_ignore_ascii_case(PUBLIC))
        || item.users.iter().any(|name| name.eq_ignore_ascii_case(ANY_USER))
}

fn width(resources: &ResourceMap) -> i32 {
    resources.values().map(width_of_level).sum()
}

fn width_of_level(values: &ResourceValues) -> i32 {
    let has = |c: char| values.values.iter().any(|value| value.contains(c));
    if values.values.is_empty() {
        0
    } else if values.values.iter().any(|value| value.is_empty() || value == "*") {
        25
    } else {
        let wildcards = match (has('*'), has('?')) {
            (true, _) => 10,
            (false, true) => 5,
            (false, false) => 0,
        };
        wildcards + if values.is_excludes { 5 } else { 0 } + if values.is_recursive { 5 } else { 0 }
    }
}

/// `25 · part / whole`, halves rounded up.
fn share_of_25(part: u32, whole: usize) -> i32 {
    match as_i32(whole) {
        0 => 0,
        whole => (50 * i32::try_from(part).unwrap_or(0) + whole) / (2 * whole),
    }
}

fn as_i32(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
