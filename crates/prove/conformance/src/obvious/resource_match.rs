//! Matches a request's resource with a resource map, level by level along one hierarchy.

use std::collections::{BTreeMap, BTreeSet};

use policy::model::{PolicyKind, ResourceDef, ResourceMap};
use policy::{ElementScope, LevelValue, MatchType, Resource};

use super::definition::Definition;
use super::level_match::LevelMatcher;
use super::tokens::Fillings;

/// What is matched: the requested resource and how its values are meant.
pub(crate) struct Asked<'a, 'r> {
    pub(crate) resource: &'a Resource<'r>,
    pub(crate) scopes: &'a BTreeMap<String, ElementScope>,
    pub(crate) fillings: &'a Fillings<'a>,
}

/// How the requested resource lies to the map; none where it does not.
pub(crate) fn match_type(
    definition: &Definition,
    kind: PolicyKind,
    map: &ResourceMap,
    asked: &Asked<'_, '_>,
) -> Option<MatchType> {
    let keys: BTreeSet<&str> = map.keys().map(String::as_str).collect();
    let asked_keys: BTreeSet<&str> =
        asked.resource.levels().iter().map(|(level, _)| level.as_ref()).collect();
    let hierarchies = definition.hierarchies(kind);
    let without_gaps: Vec<&Vec<&ResourceDef>> =
        hierarchies.iter().filter(|hierarchy| has_no_gap(hierarchy, &keys)).collect();
    if without_gaps.is_empty() {
        return None;
    }
    let start = if asked_keys.is_empty() {
        Some(MatchType::Itself)
    } else {
        let hierarchy = match without_gaps.as_slice() {
            [only] => (*only).clone(),
            _ => {
                shortest_with(&hierarchies, if asked_keys.len() > keys.len() { &asked_keys } else { &keys })?
            }
        };
        if !has_no_gap(&hierarchy, &asked_keys) {
            return None;
        }
        walk(&hierarchy, map, asked)
    };
    if start == Some(MatchType::Itself) && asked_keys.len() < keys.len() {
        let hierarchy = without_gaps.first()?;
        let last_bound = hierarchy
            .iter()
            .enumerate()
            .filter(|(_, def)| {
                map.get(&def.name).is_some_and(|values| !LevelMatcher::new(def, values).is_any())
            })
            .map(|(idx, _)| idx)
            .next_back();
        let is_all_below = last_bound.is_none_or(|last| asked_keys.len() > last);
        return Some(if is_all_below { MatchType::ItselfAndAllBelow } else { MatchType::Below });
    }
    start
}

/// Whether the keys are the hierarchy's first levels, with none left out between.
fn has_no_gap(hierarchy: &[&ResourceDef], keys: &BTreeSet<&str>) -> bool {
    let leading = hierarchy.iter().take_while(|def| keys.contains(def.name.as_str())).count();
    leading == keys.len()
}

fn shortest_with<'a>(
    hierarchies: &[Vec<&'a ResourceDef>],
    keys: &BTreeSet<&str>,
) -> Option<Vec<&'a ResourceDef>> {
    let holds_all =
        |hierarchy: &&Vec<&ResourceDef>| keys.iter().all(|key| hierarchy.iter().any(|def| def.name == *key));
    hierarchies.iter().filter(holds_all).min_by_key(|hierarchy| hierarchy.len()).cloned()
}

fn walk(hierarchy: &[&ResourceDef], map: &ResourceMap, asked: &Asked<'_, '_>) -> Option<MatchType> {
    let mut found = Some(MatchType::Itself);
    for def in hierarchy {
        let requested: Option<&LevelValue<'_>> = asked.resource.level(&def.name);
        match map.get(&def.name) {
            Some(values) => {
                let matcher = LevelMatcher::new(def, values);
                if requested.is_none() && !matcher.is_any() {
                    continue;
                }
                let scope = asked.scopes.get(&def.name).copied().unwrap_or_default();
                if !matcher.is_match(requested, scope, asked.fillings) {
                    return None;
                }
            }
            None if requested.is_some() => {
                // The request goes deeper than the map.
                found = Some(MatchType::Above);
                break;
            }
            None => break,
        }
    }
    found
}
