//! What is wrong with a security zone.

use std::collections::BTreeMap;

use super::resources::{Levels, Lie, lie};
use super::view::View;
use super::{
    Found, NUMBER_TAKEN, ZONE_ALL_WILDCARDS, ZONE_CONFLICT, ZONE_FIELD_MISSING, ZONE_HIERARCHY_INVALID,
    ZONE_NAME_TAKEN, ZONE_PRINCIPALS_MISSING, ZONE_RESOURCES_MISSING, ZONE_SERVICE_TYPE_INVALID,
    ZONE_SERVICE_UNKNOWN, ZONE_SERVICES_MISSING, ZONE_TAG_SERVICE_RESOURCES,
};
use crate::matching::{self, MatchContext, ResourceMatcher};
use crate::model::{PolicyKind, ResourceMap, ResourceValues, ServiceDef, Zone, ZoneResources};
use crate::{defs, limits};

pub(super) fn check(zone: &Zone, view: &View<'_>, found: &mut Found<'_>) {
    if zone.name.trim().is_empty() {
        found.missing(ZONE_FIELD_MISSING, "name", "it has no name");
    }
    found.name_limit(&zone.name);
    found.limit(&limits::DESCRIPTION_CHARS_MAX, zone.description.chars().count(), "description");
    for other in view.zones().filter(|other| other.name != zone.name) {
        if other.name.eq_ignore_ascii_case(&zone.name) {
            let reason = format!("its name differs from that of `{}` by case alone", other.name);
            found.wrong(ZONE_NAME_TAKEN, "name", reason);
        }
        if other.id == zone.id && zone.id > 0 {
            found.wrong(NUMBER_TAKEN, "id", format!("`{}` has the number {}", other.name, zone.id));
        }
    }
    if zone.admin_users.is_empty() && zone.admin_groups.is_empty() && zone.admin_roles.is_empty() {
        let field = "security zone admin users/user-groups/roles";
        found.missing(ZONE_PRINCIPALS_MISSING, field, "nobody administers it");
    }
    if zone.audit_users.is_empty() && zone.audit_groups.is_empty() && zone.audit_roles.is_empty() {
        let field = "security zone audit users/user-groups/roles";
        found.missing(ZONE_PRINCIPALS_MISSING, field, "nobody audits it");
    }
    if zone.services.is_empty() && zone.tag_services.is_empty() {
        found.missing(ZONE_SERVICES_MISSING, "services", "it takes part of no service");
    }
    for name in &zone.tag_services {
        match view.service(name) {
            None => {
                found.wrong(ZONE_SERVICE_UNKNOWN, "tagServices", format!("no such service `{name}`"));
            }
            Some(service) if service.service_def != defs::TAG => {
                let reason = format!("`{name}` is no tag service");
                found.wrong(ZONE_SERVICE_TYPE_INVALID, "tagServices", reason);
            }
            Some(_) => {}
        }
    }
    for (name, resources) in &zone.services {
        check_service(zone, name, resources, view, found);
    }
}

fn check_service(zone: &Zone, name: &str, resources: &ZoneResources, view: &View<'_>, found: &mut Found<'_>) {
    let Some(service) = view.service(name) else {
        found.wrong(ZONE_SERVICE_UNKNOWN, "services", format!("no such service `{name}`"));
        return;
    };
    if service.service_def == defs::TAG {
        if !resources.is_empty() {
            let reason = format!("the tag service `{name}` cannot have resources in a zone");
            found.wrong(ZONE_TAG_SERVICE_RESOURCES, "services", reason);
        }
        return;
    }
    let Some(def) = view.def(&service.service_def) else {
        let reason = format!("no such definition `{}`", service.service_def);
        found.wrong(ZONE_SERVICE_TYPE_INVALID, "services", reason);
        return;
    };
    if resources.is_empty() {
        found.missing(ZONE_RESOURCES_MISSING, "resources", format!("it has no resources of `{name}`"));
    }
    found.limit(&limits::RESOURCES_PER_ZONE_MAX, resources.len(), "resources");
    let levels = Levels::of(def, PolicyKind::Access);
    for resource in resources {
        check_resource(name, resource, &levels, found);
    }
    check_conflicts(zone, name, def, view, found);
}

fn check_resource(
    service: &str,
    resource: &BTreeMap<String, Vec<String>>,
    levels: &Levels,
    found: &mut Found<'_>,
) {
    let told = told(resource);
    let lies_well = matches!(lie(resource.keys().map(String::as_str), levels), Lie::Well);
    if resource.is_empty() || !lies_well {
        let reason = format!("the levels of `{told}` make no hierarchy of `{service}`");
        found.wrong(ZONE_HIERARCHY_INVALID, "resources", reason);
    }
    if resource.values().any(Vec::is_empty) {
        let reason = format!("a level of `{told}` in `{service}` has no values");
        found.missing(ZONE_RESOURCES_MISSING, "resources", reason);
    }
    for values in resource.values() {
        found.limit(&limits::VALUES_PER_RESOURCE_MAX, values.len(), "resources");
        for value in values {
            found.limit(&limits::VALUE_CHARS_MAX, value.chars().count(), "resources");
        }
    }
    let is_all = |value: &String| !value.is_empty() && value.chars().all(|c| c == '*');
    if !resource.is_empty() && resource.values().all(|values| values.iter().any(is_all)) {
        let reason = format!("`{told}` would take everything of `{service}`");
        found.wrong(ZONE_ALL_WILDCARDS, "resources", reason);
    }
}

/// A resource belongs to one zone at most.
fn check_conflicts(zone: &Zone, service: &str, def: &ServiceDef, view: &View<'_>, found: &mut Found<'_>) {
    let Ok(levels) = matching::Levels::of(def, PolicyKind::Access) else { return };
    let context = MatchContext::new("", None);
    let compiled = |zone: &Zone| -> Vec<(ResourceMap, ResourceMatcher)> {
        let maps = zone.services.get(service).into_iter().flatten().map(|resource| as_map(resource, def));
        maps.filter_map(|map| {
            let matcher = ResourceMatcher::new(&levels, &map).ok().flatten()?;
            Some((map, matcher))
        })
        .collect()
    };
    let own = compiled(zone);
    for other in view.zones().filter(|other| other.name != zone.name) {
        for (other_map, other_matcher) in compiled(other) {
            let clash = own.iter().find(|(map, matcher)| {
                matcher.covers(&levels, &other_map, &context) || other_matcher.covers(&levels, map, &context)
            });
            if let Some((map, _)) = clash {
                let told: Vec<String> = map
                    .iter()
                    .map(|(level, values)| format!("{level}={}", values.values.join("|")))
                    .collect();
                let reason =
                    format!("the zone `{}` has `{}` of `{service}` already", other.name, told.join(", "));
                found.wrong(ZONE_CONFLICT, "resources", reason);
                break;
            }
        }
    }
}

/// Zones take along what lies below a path.
fn as_map(resource: &BTreeMap<String, Vec<String>>, def: &ServiceDef) -> ResourceMap {
    let is_recursive = def.name == defs::HDFS;
    resource
        .iter()
        .map(|(level, values)| {
            (level.clone(), ResourceValues { values: values.clone(), is_excludes: false, is_recursive })
        })
        .collect()
}

fn told(resource: &BTreeMap<String, Vec<String>>) -> String {
    let levels: Vec<String> =
        resource.iter().map(|(level, values)| format!("{level}={}", values.join("|"))).collect();
    levels.join(", ")
}
