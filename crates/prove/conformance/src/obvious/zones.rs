//! Finds the zones that a request falls into, and asks the policies of each.

use std::collections::{BTreeMap, BTreeSet};

use policy::MatchType;
use policy::model::{PolicyKind, ResourceMap, ResourceValues, Zone};

use super::World;
use super::asking::Asking;
use super::definition::Definition;
use super::resource_match::{Asked, match_type};
use super::tokens::Fillings;
use crate::answer::Answer;

impl World {
    /// The answer of the zones that the resource touches, or of what belongs to no zone.
    pub(crate) fn in_zones(&self, kind: PolicyKind, asking: &Asking<'_, '_>) -> Answer {
        let zones = self.zones_of(asking);
        let is_one_zone_asked = zones.len() == 1 || asking.is_any();
        if zones.is_empty() || !is_one_zone_asked {
            return self.in_zone(kind, asking, None);
        }
        let mut answer = Answer::default();
        for zone in &zones {
            answer = self.in_zone(kind, asking, zone.as_deref());
            if answer.is_allowed {
                return answer;
            }
        }
        if asking.is_any() && asking.resource().levels().is_empty() {
            let service = asking.request.service;
            for zone in self.state.zones.values().filter(|zone| zone.services.contains_key(service)) {
                let other = self.in_zone(kind, asking, Some(&zone.name));
                if other.is_allowed {
                    return other;
                }
            }
        }
        answer
    }

    /// The zones that cover the resource, lie around it, or lie below it; `None` in the set is what is in no zone.
    pub(crate) fn zones_of(&self, asking: &Asking<'_, '_>) -> BTreeSet<Option<String>> {
        let mut found = BTreeSet::new();
        for zone in self.state.zones.values() {
            for lies in self.zone_matches(zone, asking) {
                found.insert(Some(zone.name.clone()));
                if lies == MatchType::Below {
                    // Part of what was asked for lies outside.
                    found.insert(None);
                }
            }
        }
        found
    }

    /// How the resources that the zone takes of the service lie to the requested one.
    fn zone_matches(&self, zone: &Zone, asking: &Asking<'_, '_>) -> Vec<MatchType> {
        let service = self.service(asking.request.service);
        let def = service.and_then(|service| self.state.service_defs.get(&service.service_def));
        let Some(def) = def else { return Vec::new() };
        let definition = Definition::of(def);
        // Where a resource lies does not depend on who asks.
        let fillings = Fillings { tokens: BTreeMap::new(), expression: None };
        let asked =
            Asked { resource: asking.resource(), scopes: asking.element_scopes(), fillings: &fillings };
        let maps = zone.services.get(asking.request.service).into_iter().flatten();
        maps.filter_map(|map| {
            match_type(&definition, PolicyKind::Access, &zone_map(map, &definition), &asked)
        })
        .collect()
    }

    /// Whether the zone has policies of the service's tag service.
    pub(crate) fn has_tag_service(&self, zone: Option<&str>, tag_service: &str) -> bool {
        zone.and_then(|zone| self.state.zones.get(zone))
            .is_some_and(|zone| zone.tag_services.contains(tag_service))
    }
}

/// A zone takes paths with everything below them.
fn zone_map(map: &BTreeMap<String, Vec<String>>, definition: &Definition) -> ResourceMap {
    let is_recursive = |level: &str| {
        let def = definition.resources(PolicyKind::Access).iter().find(|def| def.name == level);
        def.is_some_and(|def| def.is_recursive_supported)
    };
    map.iter()
        .map(|(level, values)| {
            let values = ResourceValues {
                values: values.clone(),
                is_excludes: false,
                is_recursive: is_recursive(level),
            };
            (level.clone(), values)
        })
        .collect()
}
