//! What is wrong with a policy.

use std::collections::HashMap;

use super::view::{View, signature_matches, zone_of};
use super::{
    By, Checks, Fault, Found, POLICY_DEF_UNKNOWN, POLICY_DENY_WITH_DENY_ALL_ELSE, POLICY_DUPLICATE,
    POLICY_FIELD_MISSING, POLICY_ITEMS_MISSING, POLICY_MOVED, POLICY_NAME_TAKEN, POLICY_NO_HIERARCHY,
    POLICY_SCHEDULE_INVALID, POLICY_SERVICE_NOT_IN_ZONE, POLICY_SERVICE_UNKNOWN, POLICY_TYPE_CHANGED,
    POLICY_ZONE_CHANGED, POLICY_ZONE_UNKNOWN, items, resources,
};
use crate::edit::ORIGIN;
use crate::limits;
use crate::model::{Policy, PolicyKind, ResourceMap, ServiceDef, ValiditySchedule};
use crate::schedule;

/// With more policies than this in one change, those that they could clash with are looked up by name.
const SCANNED_MAX: usize = 8;

pub(super) fn check_all(view: &View<'_>, checks: &Checks<'_>, faults: &mut Vec<Fault>) {
    for policy in &view.change.put_policies {
        check(policy, view, checks, &mut Found::of(faults, "policy", &policy.name));
    }
    check_clashes(view, faults);
}

fn check(policy: &Policy, view: &View<'_>, checks: &Checks<'_>, found: &mut Found<'_>) {
    check_name_and_limits(policy, found);
    check_zone(policy, view, found);
    check_moves(policy, view, found);
    check_schedules(&policy.validity, checks, found);
    if n_items(policy) == 0 && !policy.is_audit_enabled {
        let reason = "it has no items, and does not switch auditing on either";
        found.missing(POLICY_ITEMS_MISSING, "policy items", reason);
    }
    if policy.service.trim().is_empty() {
        found.missing(POLICY_FIELD_MISSING, "service name", "it belongs to no service");
        return;
    }
    let Some(service) = view.service(&policy.service) else {
        let reason = format!("no such service `{}`", policy.service);
        found.wrong(POLICY_SERVICE_UNKNOWN, "service name", reason);
        return;
    };
    let Some(def) = view.def(&service.service_def) else {
        let reason =
            format!("no such definition `{}`, which is that of `{}`", service.service_def, service.name);
        found.wrong(POLICY_DEF_UNKNOWN, "policy service def", reason);
        return;
    };
    if policy.is_deny_all_else && !(policy.deny_items.is_empty() && policy.deny_exceptions.is_empty()) {
        let reason = "a policy that denies all else takes no denials and no exceptions from them";
        found.wrong(POLICY_DENY_WITH_DENY_ALL_ELSE, "policy items", reason);
    }
    check_resources(policy, def, checks, found);
    items::check(policy, def, checks, found);
}

fn check_name_and_limits(policy: &Policy, found: &mut Found<'_>) {
    if policy.name.trim().is_empty() {
        found.missing(POLICY_FIELD_MISSING, "name", "it has no name");
    }
    found.name_limit(&policy.name);
    found.limit(&limits::DESCRIPTION_CHARS_MAX, policy.description.chars().count(), "description");
    found.limit(&limits::LABELS_PER_POLICY_MAX, policy.labels.len(), "policyLabels");
    found.limit(&limits::ADDITIONAL_RESOURCES_MAX, policy.additional_resources.len(), "additionalResources");
    found.limit(&limits::ITEMS_PER_POLICY_MAX, n_items_of_all(policy), "policy items");
}

/// Items that make a policy do something, by its kind.
fn n_items(policy: &Policy) -> usize {
    match policy.kind {
        PolicyKind::Mask => policy.mask_items.len(),
        PolicyKind::RowFilter => policy.filter_items.len(),
        // Denying all else is a denial without an item.
        PolicyKind::Access | PolicyKind::Audit => policy
            .items
            .len()
            .saturating_add(policy.deny_items.len())
            .saturating_add(usize::from(policy.is_deny_all_else)),
    }
}

fn n_items_of_all(policy: &Policy) -> usize {
    [
        policy.items.len(),
        policy.deny_items.len(),
        policy.allow_exceptions.len(),
        policy.deny_exceptions.len(),
        policy.mask_items.len(),
        policy.filter_items.len(),
    ]
    .iter()
    .sum()
}

fn check_zone(policy: &Policy, view: &View<'_>, found: &mut Found<'_>) {
    let name = zone_of(policy);
    if name.is_empty() {
        return;
    }
    match view.zone(name) {
        None => {
            found.wrong(POLICY_ZONE_UNKNOWN, "zoneName", format!("no such zone `{name}`"));
        }
        Some(zone) => {
            let service = &policy.service;
            if !zone.services.contains_key(service) && !zone.tag_services.contains(service) {
                let reason = format!("the service `{service}` has no part in the zone `{name}`");
                found.wrong(POLICY_SERVICE_NOT_IN_ZONE, "zoneName", reason);
            }
        }
    }
}

/// A policy stays in its service and zone, and what it is.
fn check_moves(policy: &Policy, view: &View<'_>, found: &mut Found<'_>) {
    let Some(old) = view.before.policies.get(&policy.id) else { return };
    if !old.service.eq_ignore_ascii_case(&policy.service) {
        let reason = format!("it cannot move from `{}` to `{}`", old.service, policy.service);
        found.wrong(POLICY_MOVED, "service name", reason);
    }
    if old.kind != policy.kind {
        found.wrong(POLICY_TYPE_CHANGED, "policy type", "it cannot become a policy of another kind");
    }
    if zone_of(old) != zone_of(policy) {
        let reason = format!("it cannot move from zone `{}` to `{}`", zone_of(old), zone_of(policy));
        found.wrong(POLICY_ZONE_CHANGED, "zoneName", reason);
    }
}

pub(super) fn check_schedules(schedules: &[ValiditySchedule], checks: &Checks<'_>, found: &mut Found<'_>) {
    found.limit(&limits::SCHEDULES_MAX, schedules.len(), "validitySchedules");
    for schedule in schedules {
        found.limit(&limits::RECURRENCES_PER_SCHEDULE_MAX, schedule.recurrences.len(), "validitySchedules");
        if let Err(faults) = schedule::validate(schedule, checks.now, checks.time_zone) {
            for fault in faults {
                let reason = format!("its schedule: {}", fault.message);
                found.wrong(POLICY_SCHEDULE_INVALID, "validitySchedules", reason).sub(fault.field);
            }
        }
    }
}

fn check_resources(policy: &Policy, def: &ServiceDef, checks: &Checks<'_>, found: &mut Found<'_>) {
    if policy.kind == PolicyKind::Audit {
        let reason = "policies that say what is audited cannot be stored; audit filters do";
        found.wrong(POLICY_NO_HIERARCHY, "policy resources", reason);
        return;
    }
    let levels = resources::Levels::of(def, policy.kind);
    let maps: Vec<&ResourceMap> =
        std::iter::once(&policy.resources).chain(&policy.additional_resources).collect();
    for map in maps {
        resources::check_names(map, &levels, def, found);
        resources::check_values(map, &levels, checks, found);
        resources::check_flags(map, &levels, checks.by == By::Admin, found);
    }
}

/// Names that another policy has, and resources that another policy is for.
fn check_clashes(view: &View<'_>, faults: &mut Vec<Fault>) {
    let put = &view.change.put_policies;
    if put.is_empty() {
        return;
    }
    if put.len() <= SCANNED_MAX {
        for other in view.policies() {
            put.iter().for_each(|policy| check_clash(policy, other, faults));
        }
        return;
    }
    // Each policy is compared with those alone that share its service and either its name or its first value.
    let mut by_key: HashMap<(&str, String), Vec<&Policy>> = HashMap::new();
    for policy in put {
        for key in keys(policy) {
            by_key.entry((policy.service.as_str(), key)).or_default().push(policy);
        }
    }
    for other in view.policies() {
        let mut seen: Vec<&Policy> = Vec::new();
        for key in keys(other) {
            for policy in by_key.get(&(other.service.as_str(), key)).into_iter().flatten() {
                if !seen.iter().any(|known| known.id == policy.id) {
                    seen.push(policy);
                    check_clash(policy, other, faults);
                }
            }
        }
    }
}

/// What two policies must share to clash: a name, or all values of all levels.
fn keys(policy: &Policy) -> [String; 2] {
    let mut values: Vec<&str> =
        policy.resources.values().flat_map(|values| values.values.iter().map(String::as_str)).collect();
    values.sort_unstable();
    [format!("n{}", policy.name.to_lowercase()), format!("r{}", values.join("\u{1}"))]
}

fn check_clash(policy: &Policy, other: &Policy, faults: &mut Vec<Fault>) {
    if policy.id == other.id || policy.service != other.service {
        return;
    }
    if zone_of(policy) == zone_of(other) && same_name(&policy.name, &other.name) {
        let reason = format!("another policy of `{}` has this name, number {}", other.service, other.id.0);
        Found::of(faults, "policy", &policy.name).wrong(POLICY_NAME_TAKEN, "policy name", reason);
    }
    // Statements of their own may stand beside each other: each is shown and dropped by itself.
    let stands_beside = policy.options.contains_key(ORIGIN) || other.options.contains_key(ORIGIN);
    if !stands_beside && signature_matches(policy, other) {
        let reason = format!("policy `{}` is for the same resources", other.name);
        Found::of(faults, "policy", &policy.name).wrong(POLICY_DUPLICATE, "resources", reason);
    }
}

fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
