//! The state as a change would leave it, without making it.

use std::collections::{HashMap, HashSet};

use super::{Fault, Found};
use crate::edit::Change;
use crate::limits;
use crate::model::{
    Policy, PolicyId, ResourceMap, Role, Service, ServiceDef, State, Table, TagDef, TagId, Zone,
};

/// What a change puts lies over what was there before.
pub(super) struct View<'a> {
    pub(super) before: &'a State,
    pub(super) change: &'a Change,
    services: Laid<'a, Service>,
    defs: Laid<'a, ServiceDef>,
    zones: Laid<'a, Zone>,
    roles: Laid<'a, Role>,
    tag_defs: Laid<'a, TagDef>,
    tags: HashMap<TagId, bool>,
    policies: HashMap<PolicyId, bool>,
}

/// Things by name: what is put, what is deleted, and what was there.
struct Laid<'a, T> {
    before: &'a Table<String, T>,
    put: HashMap<&'a str, &'a T>,
    deleted: HashSet<&'a str>,
}

impl<'a, T> Laid<'a, T> {
    fn new(
        before: &'a Table<String, T>,
        put: &'a [T],
        deleted: &'a [String],
        name: impl Fn(&'a T) -> &'a str,
    ) -> Self {
        Self {
            before,
            put: put.iter().map(|thing| (name(thing), thing)).collect(),
            deleted: deleted.iter().map(String::as_str).collect(),
        }
    }

    fn get(&self, name: &str) -> Option<&'a T> {
        let old = || self.before.get(name).filter(|_| !self.deleted.contains(name));
        self.put.get(name).copied().or_else(old)
    }

    fn iter(&self) -> impl Iterator<Item = &'a T> + '_ {
        let old = self.before.iter().filter(|(name, _)| {
            !self.put.contains_key(name.as_str()) && !self.deleted.contains(name.as_str())
        });
        old.map(|(_, thing)| thing).chain(self.put.values().copied())
    }
}

impl<'a> View<'a> {
    pub(super) fn new(before: &'a State, change: &'a Change) -> Self {
        let c = change;
        let mut tags: HashMap<TagId, bool> = c.delete_tags.iter().map(|id| (*id, false)).collect();
        tags.extend(c.put_tags.iter().map(|tag| (tag.id, true)));
        let mut policies: HashMap<PolicyId, bool> = c.delete_policies.iter().map(|id| (*id, false)).collect();
        policies.extend(c.put_policies.iter().map(|policy| (policy.id, true)));
        Self {
            before,
            change,
            services: Laid::new(&before.services, &c.put_services, &c.delete_services, |s| &s.name),
            defs: Laid::new(&before.service_defs, &c.put_service_defs, &c.delete_service_defs, |d| &d.name),
            zones: Laid::new(&before.zones, &c.put_zones, &c.delete_zones, |z| &z.name),
            roles: Laid::new(&before.roles, &c.put_roles, &c.delete_roles, |r| &r.name),
            tag_defs: Laid::new(&before.tag_defs, &c.put_tag_defs, &c.delete_tag_defs, |d| &d.name),
            tags,
            policies,
        }
    }

    pub(super) fn service(&self, name: &str) -> Option<&'a Service> {
        self.services.get(name)
    }

    pub(super) fn services(&self) -> impl Iterator<Item = &'a Service> + '_ {
        self.services.iter()
    }

    pub(super) fn def(&self, name: &str) -> Option<&'a ServiceDef> {
        self.defs.get(name)
    }

    pub(super) fn defs(&self) -> impl Iterator<Item = &'a ServiceDef> + '_ {
        self.defs.iter()
    }

    pub(super) fn def_of(&self, service: &str) -> Option<&'a ServiceDef> {
        self.def(&self.service(service)?.service_def)
    }

    pub(super) fn zone(&self, name: &str) -> Option<&'a Zone> {
        self.zones.get(name)
    }

    pub(super) fn zones(&self) -> impl Iterator<Item = &'a Zone> + '_ {
        self.zones.iter()
    }

    pub(super) fn role(&self, name: &str) -> Option<&'a Role> {
        self.roles.get(name)
    }

    pub(super) fn roles(&self) -> impl Iterator<Item = &'a Role> + '_ {
        self.roles.iter()
    }

    pub(super) fn tag_def(&self, name: &str) -> Option<&'a TagDef> {
        self.tag_defs.get(name)
    }

    pub(super) fn tag_defs(&self) -> impl Iterator<Item = &'a TagDef> + '_ {
        self.tag_defs.iter()
    }

    pub(super) fn has_tag(&self, id: TagId) -> bool {
        self.tags.get(&id).copied().unwrap_or_else(|| self.before.tags.contains_key(&id))
    }

    /// Those that the change puts, and those that it leaves alone.
    pub(super) fn policies(&self) -> impl Iterator<Item = &'a Policy> + '_ {
        let old = self.before.policies.iter().filter(|(id, _)| !self.policies.contains_key(id));
        old.map(|(_, policy)| policy).chain(&self.change.put_policies)
    }
}

/// Limits of the state as a whole, looked at where the change adds to it.
pub(super) fn check_totals(view: &View<'_>, faults: &mut Vec<Fault>) {
    let change = view.change;
    if !change.put_zones.is_empty() {
        Found::of(faults, "zones", "*").limit(&limits::ZONES_MAX, view.zones().count(), "zones");
    }
    if !change.put_tagged_resources.is_empty() {
        let after = view.before.tagged_resources.len().saturating_add(change.put_tagged_resources.len());
        Found::of(faults, "tagged resources", "*").limit(
            &limits::TAGGED_RESOURCES_MAX,
            after,
            "serviceResources",
        );
    }
    // Counting all policies for each edit would cost more than the edit; below the sum nothing can be above it.
    let sum = view.before.policies.len().saturating_add(change.put_policies.len());
    if limits::POLICIES_PER_SERVICE_MAX.exceeded_by(sum).is_some() && !change.put_policies.is_empty() {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for policy in view.policies() {
            let count = counts.entry(policy.service.as_str()).or_default();
            *count = count.saturating_add(1);
        }
        let touched: HashSet<&str> = change.put_policies.iter().map(|p| p.service.as_str()).collect();
        for (service, count) in counts.into_iter().filter(|(service, _)| touched.contains(service)) {
            Found::of(faults, "service", service).limit(&limits::POLICIES_PER_SERVICE_MAX, count, "policies");
        }
    }
}

/// Whether two policies are for the same thing, as Ranger's resource signature has it: kind, resources, zone,
/// priority, schedules and conditions. A disabled policy is like no other.
pub fn signature_matches(a: &Policy, b: &Policy) -> bool {
    a.service == b.service
        && a.kind == b.kind
        && a.priority == b.priority
        && a.is_enabled
        && b.is_enabled
        && zone_of(a) == zone_of(b)
        && same_resources(&a.resources, &b.resources)
        && same_additional(a, b)
        && a.validity == b.validity
        && same_conditions(a, b)
}

pub(super) fn zone_of(policy: &Policy) -> &str {
    policy.zone.as_deref().unwrap_or_default()
}

fn same_resources(a: &ResourceMap, b: &ResourceMap) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((a_name, a), (b_name, b))| {
            a_name == b_name
                && a.is_excludes == b.is_excludes
                && a.is_recursive == b.is_recursive
                && same_texts(&a.values, &b.values)
        })
}

/// Whether two lists hold the same texts, in whatever order.
fn same_texts(a: &[String], b: &[String]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a == b {
        return true;
    }
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    sorted(a) == sorted(b)
}

fn same_additional(a: &Policy, b: &Policy) -> bool {
    let (a, b) = (&a.additional_resources, &b.additional_resources);
    a.len() == b.len() && a.iter().all(|a| b.iter().any(|b| same_resources(a, b)))
}

fn same_conditions(a: &Policy, b: &Policy) -> bool {
    let (a, b) = (&a.conditions, &b.conditions);
    a.len() == b.len()
        && a.iter().all(|a| b.iter().any(|b| a.kind == b.kind && same_texts(&a.values, &b.values)))
}
