//! What is wrong with the resources that a policy, a zone or a tag names.

use std::collections::BTreeSet;

use regex::Regex;

use super::{
    Checks, Found, POLICY_EXCLUDES_NEEDS_ADMIN, POLICY_EXCLUDES_UNSUPPORTED, POLICY_MANDATORY_MISSING,
    POLICY_MANDATORY_MISSING_SINGLE, POLICY_NO_HIERARCHY, POLICY_NO_HIERARCHY_SINGLE,
    POLICY_RECURSIVE_UNSUPPORTED, POLICY_VALUE_DUPLICATE, POLICY_VALUE_INVALID, POLICY_VALUES_MISSING,
    RESOURCE_GAP, items,
};
use crate::limits;
use crate::model::{PolicyKind, ResourceDef, ResourceMap, ServiceDef};
use crate::normalise;

/// The levels of a definition for one kind of policy, and the hierarchies that they make.
pub(super) struct Levels {
    levels: Vec<ResourceDef>,
    /// From a root down to a level that may be last.
    hierarchies: Vec<Vec<usize>>,
}

impl Levels {
    pub(super) fn of(def: &ServiceDef, kind: PolicyKind) -> Self {
        let completed = normalise::completed(def);
        let levels = match kind {
            PolicyKind::Access | PolicyKind::Audit => completed.resources,
            PolicyKind::Mask => completed.mask_resources,
            PolicyKind::RowFilter => completed.filter_resources,
        };
        let hierarchies = (0..levels.len())
            .filter(|at| levels.get(*at).is_some_and(|level| level.is_valid_leaf == Some(true)))
            .filter_map(|leaf| path(&levels, leaf))
            .collect();
        Self { levels, hierarchies }
    }

    fn level(&self, name: &str) -> Option<&ResourceDef> {
        self.levels.iter().find(|level| level.name.eq_ignore_ascii_case(name))
    }

    fn names<'l>(&'l self, hierarchy: &'l [usize]) -> impl Iterator<Item = &'l ResourceDef> {
        hierarchy.iter().filter_map(|at| self.levels.get(*at))
    }

    /// Such as `database, table, column; database, udf`.
    fn tell(&self, hierarchies: &[&Vec<usize>], only_mandatory: Only) -> String {
        let one = |hierarchy: &&Vec<usize>| {
            let levels = self.names(hierarchy).filter(|level| match only_mandatory {
                Only::Mandatory => level.is_mandatory,
                Only::All => true,
            });
            levels.map(|level| level.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        hierarchies.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

#[derive(Clone, Copy)]
enum Only {
    All,
    Mandatory,
}

/// The levels from a root down to this one; `None` if there is no way, or it goes in a circle.
fn path(levels: &[ResourceDef], leaf: usize) -> Option<Vec<usize>> {
    let mut path = vec![leaf];
    let mut at = levels.get(leaf)?;
    while let Some(parent) = at.parent.as_deref().filter(|parent| !parent.is_empty()) {
        let number = levels.iter().position(|level| level.name == parent)?;
        at = levels.get(number)?;
        path.push(number);
        if path.len() > levels.len() {
            return None;
        }
    }
    path.reverse();
    Some(path)
}

/// How the levels that are named lie in the hierarchies of a definition.
pub(super) enum Lie {
    Well,
    /// No hierarchy has all of them.
    Nowhere,
    /// Some have, but one that must be named is missing in each of those.
    Incomplete,
    /// Between two that are named stands one that is not.
    Gap,
}

pub(super) fn lie<'n>(names: impl Iterator<Item = &'n str>, levels: &Levels) -> Lie {
    let named: BTreeSet<String> = names.map(str::to_lowercase).collect();
    let has_all = |hierarchy: &&Vec<usize>| {
        let of_it: BTreeSet<String> =
            levels.names(hierarchy).map(|level| level.name.to_lowercase()).collect();
        named.is_subset(&of_it)
    };
    let candidates: Vec<&Vec<usize>> = levels.hierarchies.iter().filter(has_all).collect();
    if candidates.is_empty() {
        return Lie::Nowhere;
    }
    let is_named = |level: &ResourceDef| named.contains(&level.name.to_lowercase());
    let is_complete = |hierarchy: &&&Vec<usize>| {
        levels.names(hierarchy).all(|level| !level.is_mandatory || is_named(level))
    };
    let complete: Vec<&&Vec<usize>> = candidates.iter().filter(is_complete).collect();
    if complete.is_empty() {
        return Lie::Incomplete;
    }
    let has_no_gap = |hierarchy: &&&Vec<usize>| levels.names(hierarchy).take(named.len()).all(is_named);
    if complete.into_iter().any(|hierarchy| has_no_gap(&hierarchy)) { Lie::Well } else { Lie::Gap }
}

pub(super) fn check_names(map: &ResourceMap, levels: &Levels, def: &ServiceDef, found: &mut Found<'_>) {
    let all: Vec<&Vec<usize>> = levels.hierarchies.iter().collect();
    let told = |only| levels.tell(&all, only);
    match lie(map.keys().map(String::as_str), levels) {
        Lie::Well if map.is_empty() => {
            found.missing(POLICY_VALUES_MISSING, "resources", "it names no resources");
        }
        Lie::Well => {}
        Lie::Nowhere => {
            let code = if all.len() == 1 { POLICY_NO_HIERARCHY_SINGLE } else { POLICY_NO_HIERARCHY };
            let named: Vec<&str> = map.keys().map(String::as_str).collect();
            let reason = format!(
                "no hierarchy of `{}` has all of {}; there are: {}",
                def.name,
                named.join(", "),
                told(Only::All)
            );
            found.wrong(code, "policy resources", reason).sub("incompatible");
        }
        Lie::Incomplete => {
            let code =
                if all.len() == 1 { POLICY_MANDATORY_MISSING_SINGLE } else { POLICY_MANDATORY_MISSING };
            let reason = format!("a `{}` policy must name all of: {}", def.name, told(Only::Mandatory));
            found.wrong(code, "policy resources", reason).sub("missing mandatory");
        }
        Lie::Gap => {
            let reason = "a level is missing between those that it names, so that it would never match";
            found.wrong(RESOURCE_GAP, "policy resources", reason);
        }
    }
}

pub(super) fn check_values(map: &ResourceMap, levels: &Levels, checks: &Checks<'_>, found: &mut Found<'_>) {
    for (name, values) in map {
        let named: Vec<&String> = values.values.iter().filter(|value| !value.trim().is_empty()).collect();
        if named.is_empty() {
            let reason = format!("its level `{name}` has no values");
            found.missing(POLICY_VALUES_MISSING, "resource-values", reason).sub(name);
        }
        found.limit(&limits::VALUES_PER_RESOURCE_MAX, values.values.len(), "resource-values");
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let twice = named.iter().find(|value| !seen.insert(value.as_str()));
        if let Some(value) = twice {
            let reason = format!("its level `{name}` has the value `{value}` twice");
            found.wrong(POLICY_VALUE_DUPLICATE, "resource-values", reason).sub(name);
        }
        let pattern = levels.level(name).and_then(|level| level.validation_reg_ex.as_deref());
        // One that does not parse is a fault of the definition.
        let pattern = pattern.filter(|text| !text.trim().is_empty()).and_then(|text| whole(text).ok());
        for value in named {
            found.limit(&limits::VALUE_CHARS_MAX, value.chars().count(), "resource-values");
            if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(value)) {
                let reason = format!("the value `{value}` is not as the level `{name}` demands");
                found.wrong(POLICY_VALUE_INVALID, "resource-values", reason).sub(name);
            }
            items::check_expressions(value, "resource-values", checks, found);
        }
    }
}

/// A pattern that must fit the whole value.
pub(super) fn whole(pattern: &str) -> Result<Regex, String> {
    Regex::new(&format!("^(?:{pattern})$")).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        _ => "it does not parse".to_owned(),
    })
}

pub(super) fn check_flags(map: &ResourceMap, levels: &Levels, is_admin: bool, found: &mut Found<'_>) {
    for (name, values) in map {
        let Some(level) = levels.level(name) else { continue };
        if values.is_excludes && !level.is_excludes_supported {
            let reason = format!("the level `{name}` takes no exclusions");
            found.wrong(POLICY_EXCLUDES_UNSUPPORTED, "isExcludes", reason).sub(name);
        }
        if values.is_excludes && !is_admin {
            let reason = "only an admin may write a policy that excludes";
            found.wrong(POLICY_EXCLUDES_NEEDS_ADMIN, "isExcludes", reason).sub("isAdmin");
        }
        if values.is_recursive && !level.is_recursive_supported {
            let reason = format!("the level `{name}` has nothing below that could be taken along");
            found.wrong(POLICY_RECURSIVE_UNSUPPORTED, "isRecursive", reason).sub(name);
        }
    }
}
