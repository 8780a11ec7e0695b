//! The policies of one service as the evaluator sees them, and the order in which they are asked.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use policy::MatchType;
use policy::model::{Access, Item, Policy, PolicyKind, Priority, ResourceMap, ResourceValues};

use super::definition::{Definition, strip_component};
use crate::answer::Rank;

/// A policy with implied grants written out and what the definition switches off taken away.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) policy: Policy,
    pub(crate) rank: Rank,
    /// Whether it can deny: deny items, or denial of everything else.
    pub(crate) has_deny: bool,
    score: i64,
}

impl Prepared {
    pub(crate) fn new(policy: &Policy, definition: &Definition) -> Self {
        let mut policy = policy.clone();
        for_each_item(&mut policy, |item| grant_implied(item, definition));
        // What is switched off still counts for the order.
        let score = policy_score(&policy, definition);
        if !definition.has_denies {
            policy.deny_items.clear();
            policy.allow_exceptions.clear();
            policy.deny_exceptions.clear();
        }
        for list in [
            &mut policy.items,
            &mut policy.deny_items,
            &mut policy.allow_exceptions,
            &mut policy.deny_exceptions,
        ] {
            list.sort_by_key(|item| item_score(item, definition));
        }
        Self {
            rank: match policy.priority {
                Priority::Normal => Rank::Normal,
                Priority::Override => Rank::Override,
            },
            // Denial of everything else happens all the same, but does not move the policy to the front.
            has_deny: definition.has_denies && (!policy.deny_items.is_empty() || policy.is_deny_all_else),
            score,
            policy,
        }
    }

    /// Of a tag service, as a component sees it; items of which nothing is left are gone.
    pub(crate) fn of_tags(policy: &Policy, definition: &Definition, component: &str) -> Self {
        let mut seen = policy.clone();
        for_each_item(&mut seen, |item| {
            item.accesses.retain_mut(|a| strip_component(&mut a.kind, component))
        });
        let is_left = |item: &Item| !item.accesses.is_empty() || item.delegate_admin;
        seen.items.retain(is_left);
        seen.deny_items.retain(is_left);
        seen.allow_exceptions.retain(is_left);
        seen.deny_exceptions.retain(is_left);
        seen.mask_items
            .retain_mut(|mask| is_left(&mask.item) && strip_component(&mut mask.mask.mask_type, component));
        seen.filter_items.retain(|filter| is_left(&filter.item));
        Self::new(&seen, definition)
    }

    /// The resources that it names, one map after the other.
    pub(crate) fn resource_maps(&self) -> impl Iterator<Item = &ResourceMap> {
        std::iter::once(&self.policy.resources).chain(&self.policy.additional_resources)
    }

    pub(crate) fn all_items(&self) -> Vec<&Item> {
        all_items(&self.policy)
    }
}

/// Highest priority first; what can deny before what cannot; then by score; then by name.
pub(crate) fn evaluation_order(a: &Prepared, b: &Prepared) -> Ordering {
    let key = |p: &Prepared| (Reverse(p.rank), Reverse(p.has_deny), p.score);
    key(a).cmp(&key(b)).then_with(|| name_order(a, b))
}

pub(crate) fn name_order(a: &Prepared, b: &Prepared) -> Ordering {
    a.policy.name.cmp(&b.policy.name)
}

/// Masks of tags go by how close the tagged resource lies.
pub(crate) fn closeness(found: MatchType) -> u8 {
    match found {
        MatchType::Itself => 0,
        MatchType::ItselfAndAllBelow => 1,
        MatchType::Above => 2,
        MatchType::Below => 3,
        MatchType::Nothing => 4,
    }
}

fn for_each_item(policy: &mut Policy, mut change: impl FnMut(&mut Item)) {
    let Policy { items, deny_items, allow_exceptions, deny_exceptions, mask_items, filter_items, .. } =
        policy;
    for list in [items, deny_items, allow_exceptions, deny_exceptions] {
        list.iter_mut().for_each(&mut change);
    }
    mask_items.iter_mut().for_each(|mask| change(&mut mask.item));
    filter_items.iter_mut().for_each(|filter| change(&mut filter.item));
}

fn all_items(policy: &Policy) -> Vec<&Item> {
    let lists = [&policy.items, &policy.deny_items, &policy.allow_exceptions, &policy.deny_exceptions];
    let plain = lists.into_iter().flatten();
    let masks = policy.mask_items.iter().map(|mask| &mask.item);
    plain.chain(masks).chain(policy.filter_items.iter().map(|filter| &filter.item)).collect()
}

/// One level only: what is implied implies nothing more.
fn grant_implied(item: &mut Item, definition: &Definition) {
    for access in item.accesses.clone() {
        for implied in definition.implied(&access.kind) {
            if !item.accesses.iter().any(|has| has.kind.eq_ignore_ascii_case(&implied)) {
                item.accesses.push(Access { kind: implied, is_allowed: access.is_allowed });
            }
        }
    }
}

/// Lower is asked earlier: wide resources and many principals first.
fn policy_score(policy: &Policy, definition: &Definition) -> i64 {
    // A level that takes everything has no use for tokens.
    let is_bound =
        |level: &&ResourceValues| !level.values.iter().any(|value| value.trim_matches('*').is_empty());
    let mut bound = policy.resources.values().filter(is_bound).flat_map(|level| &level.values);
    let is_dynamic = bound.any(|value| value.contains("${{") || (value.contains('{') && value.contains('}')));
    let mut score = 10_000 + if is_dynamic { 20 } else { 0 };
    let discounts = policy.resources.values().filter(|level| !level.values.is_empty()).map(|level| {
        if level.values.iter().any(|value| value.is_empty() || value == "*") {
            return 25;
        }
        let has = |wanted: char| level.values.iter().any(|value| value.contains(wanted));
        let wildcard = if has('*') {
            10
        } else if has('?') {
            5
        } else {
            0
        };
        wildcard + if level.is_excludes { 5 } else { 0 } + if level.is_recursive { 5 } else { 0 }
    });
    score -= discounts.sum::<i64>().min(100);

    let items = all_items(policy);
    let is_for_all = policy.is_deny_all_else || items.iter().any(|item| is_for_everybody(item));
    let users: BTreeSet<&String> = items.iter().flat_map(|item| &item.users).collect();
    let groups: BTreeSet<&String> = items.iter().flat_map(|item| &item.groups).collect();
    score -= if is_for_all { 25 } else { count(users.len() + groups.len()).min(25) };

    let kinds = items.iter().flat_map(|item| &item.accesses).filter(|access| access.is_allowed);
    let kinds: BTreeSet<&String> = kinds.map(|access| &access.kind).collect();
    score -= share(kinds.len(), definition);

    let n_conditions =
        policy.conditions.len() + items.iter().map(|item| item.conditions.len()).sum::<usize>();
    score - (25 - 5 * count(n_conditions)).max(0)
}

fn item_score(item: &Item, definition: &Definition) -> i64 {
    let principals =
        if is_for_everybody(item) { 100 } else { count(item.users.len() + item.groups.len()).min(100) };
    let conditions = (25 - 5 * count(item.conditions.len())).max(0);
    1000 - principals - share(item.accesses.len(), definition) - conditions
}

fn is_for_everybody(item: &Item) -> bool {
    item.groups.iter().any(|group| group.eq_ignore_ascii_case("public"))
        || item.users.iter().any(|user| user.eq_ignore_ascii_case("{USER}"))
}

/// 25 times the part of the definition's access types that are granted, rounded half up.
fn share(n_granted: usize, definition: &Definition) -> i64 {
    let n_types = count(definition.access_types.len());
    if n_types == 0 { 0 } else { (2 * 25 * count(n_granted) + n_types) / (2 * n_types) }
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The enabled policies of one kind that belong to a zone (none: to no zone).
pub(crate) fn is_of(policy: &Policy, kind: PolicyKind, zone: Option<&str>) -> bool {
    let own = policy.zone.as_deref().filter(|zone| !zone.is_empty());
    policy.is_enabled && policy.kind == kind && own == zone
}
