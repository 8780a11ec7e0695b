//! What is wrong with a service definition.

use std::collections::BTreeSet;

use super::resources::whole;
use super::view::View;
use super::{
    DEF_CONFIG_DEFAULT_INVALID, DEF_CONFIG_ENUM_UNKNOWN, DEF_CONFIG_TYPE_MISSING, DEF_CONFIG_TYPE_UNKNOWN,
    DEF_ENUM_DEFAULT_INVALID, DEF_ENUM_EMPTY, DEF_EVALUATOR_MISSING, DEF_FIELD_MISSING, DEF_GRAPH_INVALID,
    DEF_IMPLIED_UNKNOWN, DEF_IMPLIES_ITSELF, DEF_LEVEL_NAME_INVALID, DEF_LEVELS_INVALID,
    DEF_MANDATORY_INVALID, DEF_NAME_MISSING, DEF_NAME_TAKEN, Found, NUMBER_TAKEN, REFERENCE_UNKNOWN,
    REGEX_INVALID,
};
use crate::limits;
use crate::model::{ResourceDef, ServiceDef};
use crate::normalise;

const CONFIG_TYPES: [&str; 6] = ["bool", "enum", "int", "string", "password", "path"];

pub(super) fn check(def: &ServiceDef, view: &View<'_>, found: &mut Found<'_>) {
    if def.name.trim().is_empty() {
        found.missing(DEF_NAME_MISSING, "name", "it has no name");
    }
    found.name_limit(&def.name);
    for other in view.defs().filter(|other| other.name != def.name) {
        if other.name.eq_ignore_ascii_case(&def.name) {
            let reason = format!("its name differs from that of `{}` by case alone", other.name);
            found.wrong(DEF_NAME_TAKEN, "name", reason);
        }
        if other.id == def.id && def.id > 0 {
            found.wrong(NUMBER_TAKEN, "id", format!("`{}` has the number {} already", other.name, def.id));
        }
    }
    check_levels(def, found);
    check_access_types(def, found);
    check_configs(def, found);
    for condition in &def.conditions {
        if condition.name.trim().is_empty() {
            found.missing(DEF_FIELD_MISSING, "policyConditions", "a condition has no name");
        }
        if condition.evaluator.trim().is_empty() {
            let reason = format!("its condition `{}` has no evaluator", condition.name);
            found.wrong(DEF_EVALUATOR_MISSING, "policyConditions", reason);
        }
    }
    if def.mask_types.iter().any(|mask| mask.name.trim().is_empty()) {
        found.missing(DEF_FIELD_MISSING, "dataMaskDef", "a mask type has no name");
    }
}

fn check_levels(def: &ServiceDef, found: &mut Found<'_>) {
    found.limit(&limits::LEVELS_PER_DEFINITION_MAX, def.resources.len(), "resources");
    if def.resources.is_empty() {
        found.missing(DEF_FIELD_MISSING, "resources", "it has no levels");
    }
    let mut seen = BTreeSet::new();
    for level in &def.resources {
        let name = &level.name;
        let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.trim().is_empty() {
            found.missing(DEF_FIELD_MISSING, "resources", "a level has no name");
        } else if !name.chars().all(is_lower) {
            let reason = format!("the name of its level `{name}` is not all in lower case");
            found.wrong(DEF_LEVEL_NAME_INVALID, "resources", reason);
        }
        if !seen.insert(name) {
            found.wrong(DEF_GRAPH_INVALID, "resources", format!("it has two levels `{name}`"));
        }
        let pattern = level.validation_reg_ex.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(Err(why)) = pattern.map(whole) {
            let reason = format!("the pattern for values of its level `{name}` cannot be used: {why}");
            found.wrong(REGEX_INVALID, "resources", reason);
        }
        check_parent(level, def, found);
    }
    let named = |of: &[ResourceDef], field, found: &mut Found<'_>| {
        for level in of.iter().filter(|level| !seen.contains(&level.name)) {
            found.wrong(REFERENCE_UNKNOWN, field, format!("it has no level `{}`", level.name));
        }
    };
    named(&def.mask_resources, "dataMaskDef", found);
    named(&def.filter_resources, "rowFilterDef", found);
    let faults = normalise::faults(def);
    let faults = faults.iter().filter(|fault| fault.contains("must not be"));
    faults.for_each(|fault| {
        found.wrong(DEF_GRAPH_INVALID, "resources", fault.as_str());
    });
}

fn check_parent(level: &ResourceDef, def: &ServiceDef, found: &mut Found<'_>) {
    let Some(parent) = level.parent.as_deref().filter(|parent| !parent.is_empty()) else { return };
    let Some(parent) = def.resources.iter().find(|other| other.name == parent) else {
        let reason = format!("the level `{}` stands below `{parent}`, which is not there", level.name);
        found.wrong(DEF_GRAPH_INVALID, "resources", reason);
        return;
    };
    let mut at = parent;
    let mut n_steps = 0;
    while let Some(next) = at.parent.as_deref().and_then(|n| def.resources.iter().find(|l| l.name == n)) {
        at = next;
        n_steps += 1;
        if n_steps > def.resources.len() {
            let reason = format!("the parents of the level `{}` go in a circle", level.name);
            found.wrong(DEF_GRAPH_INVALID, "resources", reason);
            return;
        }
    }
    if parent.level >= level.level {
        let reason =
            format!("the level `{}` has no higher number than `{}` above it", level.name, parent.name);
        found.wrong(DEF_LEVELS_INVALID, "resources", reason);
    }
    // Below a level that may be last, what follows is another hierarchy.
    if level.is_mandatory && !parent.is_mandatory {
        let reason =
            format!("the level `{}` is mandatory, and `{}` above it is not", level.name, parent.name);
        found.wrong(DEF_MANDATORY_INVALID, "resources", reason);
    }
}

fn check_access_types(def: &ServiceDef, found: &mut Found<'_>) {
    found.limit(&limits::ACCESS_TYPES_PER_DEFINITION_MAX, def.access_types.len(), "accessTypes");
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for access in &def.access_types {
        if access.name.trim().is_empty() {
            found.missing(DEF_FIELD_MISSING, "accessTypes", "an access type has no name");
        } else if !names.insert(access.name.as_str()) {
            found.wrong(DEF_NAME_TAKEN, "accessTypes", format!("it has two access types `{}`", access.name));
        }
    }
    for access in &def.access_types {
        for implied in &access.implied_grants {
            if *implied == access.name {
                let reason = format!("its access type `{}` implies itself", access.name);
                found.wrong(DEF_IMPLIES_ITSELF, "accessTypes", reason);
            } else if !names.contains(implied.as_str()) {
                let reason = format!("`{}` implies `{implied}`, which is no access type", access.name);
                found.wrong(DEF_IMPLIED_UNKNOWN, "accessTypes", reason);
            }
        }
    }
    for (of, field) in [(&def.mask_access_types, "dataMaskDef"), (&def.filter_access_types, "rowFilterDef")] {
        for name in of.iter().filter(|name| !names.contains(name.as_str())) {
            found.wrong(REFERENCE_UNKNOWN, field, format!("it has no access type `{name}`"));
        }
    }
}

fn check_configs(def: &ServiceDef, found: &mut Found<'_>) {
    for config in &def.configs {
        let name = &config.name;
        if name.trim().is_empty() {
            found.missing(DEF_FIELD_MISSING, "configs", "a setting has no name");
        }
        if config.kind.trim().is_empty() {
            found.missing(DEF_CONFIG_TYPE_MISSING, "configs", format!("its setting `{name}` has no type"));
        } else if !CONFIG_TYPES.contains(&config.kind.as_str()) {
            let reason = format!("its setting `{name}` has the unknown type `{}`", config.kind);
            found.wrong(DEF_CONFIG_TYPE_UNKNOWN, "configs", reason);
        }
        if config.kind != "enum" {
            continue;
        }
        let Some(of) = def.enums.iter().find(|of| of.name.eq_ignore_ascii_case(&config.sub_type)) else {
            let reason = format!("its setting `{name}` is of the unknown enumeration `{}`", config.sub_type);
            found.wrong(DEF_CONFIG_ENUM_UNKNOWN, "configs", reason);
            continue;
        };
        let default = config.default_value.as_deref().filter(|text| !text.trim().is_empty());
        if let Some(default) = default.filter(|text| !of.elements.iter().any(|(name, _)| name == text)) {
            let reason = format!("the default `{default}` of its setting `{name}` is not in `{}`", of.name);
            found.wrong(DEF_CONFIG_DEFAULT_INVALID, "configs", reason);
        }
    }
    for of in &def.enums {
        if of.name.trim().is_empty() {
            found.missing(DEF_FIELD_MISSING, "enums", "an enumeration has no name");
        }
        if of.elements.is_empty() {
            found.wrong(DEF_ENUM_EMPTY, "enums", format!("its enumeration `{}` is empty", of.name));
        } else if usize::try_from(of.default_index).is_ok_and(|at| at >= of.elements.len())
            || of.default_index < 0
        {
            let reason = format!("its enumeration `{}` has no element {}", of.name, of.default_index);
            found.wrong(DEF_ENUM_DEFAULT_INVALID, "enums", reason);
        }
    }
}
