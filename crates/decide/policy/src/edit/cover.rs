//! Whether a policy's resource takes in an object, and whether an item lets somebody pass on what it gives.

use std::collections::BTreeSet;

use super::Actor;
use super::draft::Draft;
use super::items::names;
use super::scope::{Grantee, PUBLIC};
use crate::evaluate::{ElementScope, LevelValue};
use crate::matching::{LevelMatcher, LevelOptions, MatchContext, RequestLevel};
use crate::model::{Item, Policy, PolicyKind, ResourceMap, ResourceValues, ServiceDef};

/// How a policy's resource lies to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// It names the object, literally or by a pattern.
    Object,
    /// It names something that the object is in.
    Parent,
    No,
}

/// Compares a resource map with levels and values, outermost first. A value of `*` asks for all values.
pub(crate) fn covers(
    def: &ServiceDef,
    resources: &ResourceMap,
    levels: &[(&str, &str)],
    tokens: &MatchContext<'_>,
) -> Cover {
    let mut n_named = 0;
    for (level, value) in levels {
        let Some(values) = resources.get(*level) else {
            break;
        };
        n_named += 1;
        let Some((options, matcher)) = matcher(def, level, values) else {
            return Cover::No;
        };
        let value = LevelValue::One((*value).into());
        if !matcher.matches(&RequestLevel::new(0, &options, &value, ElementScope::Itself), tokens) {
            return Cover::No;
        }
    }
    let is_deeper = |level: &String| !levels.iter().take(n_named).any(|(name, _)| name == level);
    let takes_all_below = resources
        .iter()
        .filter(|(level, _)| is_deeper(level))
        .all(|(level, values)| matcher(def, level, values).is_some_and(|(_, m)| m.takes_all()));
    match (takes_all_below, n_named == levels.len()) {
        (false, _) => Cover::No,
        (true, true) => Cover::Object,
        (true, false) => Cover::Parent,
    }
}

fn matcher(def: &ServiceDef, level: &str, values: &ResourceValues) -> Option<(LevelOptions, LevelMatcher)> {
    let level = def.resources.iter().find(|r| r.name == level)?;
    let options = LevelOptions::of(level).ok()?;
    let matcher = LevelMatcher::new(&options, values);
    (!matcher.needs_expressions()).then_some((options, matcher))
}

/// The best cover of a policy's resources, the additional ones included.
pub(crate) fn policy_covers(
    def: &ServiceDef,
    policy: &Policy,
    levels: &[(&str, &str)],
    tokens: &MatchContext<'_>,
) -> Cover {
    let mut best = Cover::No;
    for resources in std::iter::once(&policy.resources).chain(&policy.additional_resources) {
        match covers(def, resources, levels, tokens) {
            Cover::Object => return Cover::Object,
            Cover::Parent => best = Cover::Parent,
            Cover::No => {}
        }
    }
    best
}

/// Whether the grantee holds an access type on an object for good: by an enabled allow item that names her or
/// everyone, without conditions or a time.
pub(crate) fn holds(
    draft: &Draft<'_>,
    service: &str,
    levels: &[(&str, &str)],
    grantee: &Grantee,
    access: &str,
) -> bool {
    let Some(def) = draft.def(service) else {
        return false;
    };
    let tokens = MatchContext::new("", None);
    draft
        .policies()
        .filter(|p| p.service == service && p.kind == PolicyKind::Access)
        .filter(|p| p.is_enabled && p.validity.is_empty() && p.conditions.is_empty() && p.zone.is_none())
        .filter(|p| {
            let gives =
                |i: &&Item| i.conditions.is_empty() && (names(i, grantee) || names(i, &Grantee::Public));
            p.items.iter().filter(gives).flat_map(|i| &i.accesses).any(|a| a.is_allowed && a.kind == access)
        })
        .any(|p| policy_covers(def, p, levels, &tokens) == Cover::Object)
}

/// Whether an item names the actor, by herself, through a group or role, as everyone, or as the owner.
fn reaches(item: &Item, actor: &Actor, is_owner: bool) -> bool {
    let who = &actor.membership;
    item.users.iter().any(|u| *u == who.user || u == "{USER}" || (is_owner && u == "{OWNER}"))
        || item.groups.iter().any(|g| g == PUBLIC || who.groups.contains(g))
        || item.roles.iter().any(|r| who.roles.contains(r))
}

/// Of the access types, those that the actor may not pass on for this object.
///
/// Only items with the grant option are looked at: an allow item gives its own access types, a deny item takes them.
/// A policy that names things by exclusion delegates nothing.
pub(crate) fn not_delegated<'t>(
    draft: &Draft<'_>,
    actor: &Actor,
    service: &str,
    levels: &[(&str, &str)],
    is_owner: bool,
    types: &[&'t str],
) -> Vec<&'t str> {
    let Some(def) = draft.def(service) else {
        return types.to_vec();
    };
    let user = actor.membership.user.as_str();
    let tokens = MatchContext::new(user, is_owner.then_some(user));
    let mut given: BTreeSet<&str> = BTreeSet::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let is_plain = |p: &Policy| {
        let mut maps = std::iter::once(&p.resources).chain(&p.additional_resources);
        p.zone.is_none()
            && p.validity.is_empty()
            && p.conditions.is_empty()
            && !maps.any(|map| map.values().any(|v| v.is_excludes))
    };
    let access =
        draft.policies().filter(|p| p.service == service && p.kind == PolicyKind::Access && p.is_enabled);
    for policy in access.filter(|p| policy_covers(def, p, levels, &tokens) == Cover::Object) {
        let counts = |i: &&Item| i.delegate_admin && reaches(i, actor, is_owner);
        // A delegation that holds only at times or under conditions is not judged here, and gives nothing.
        if is_plain(policy) {
            let allows = policy.items.iter().filter(counts).filter(|i| i.conditions.is_empty());
            given.extend(allows.flat_map(|i| &i.accesses).map(|a| a.kind.as_str()));
        }
        let denies = policy.deny_items.iter().filter(counts);
        taken.extend(denies.flat_map(|i| &i.accesses).map(|a| a.kind.as_str()));
    }
    types.iter().copied().filter(|t| !given.contains(t) || taken.contains(t)).collect()
}
