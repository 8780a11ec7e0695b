//! Which zones of a service a resource lies in, or has below it.

use smallvec::SmallVec;

use super::index::{Index, Reach, Slot, Slots};
use crate::matching::{Levels, MatchContext, MatchType, Outline, RequestPath, ResourceMatcher};
use crate::model::{ResourceDef, ResourceMap, ResourceValues, Table, Zone};

/// Zone names that are held without memory of their own.
pub(crate) type ZoneNames<'s> = SmallVec<[&'s str; 2]>;

/// The zones of one service.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneIndex {
    index: Index,
    resources: Vec<ZoneResource>,
    zones: Vec<OneZone>,
}

#[derive(Clone, Debug)]
struct ZoneResource {
    /// The place of its zone.
    zone: usize,
    /// `None`: what the index finds must still be compared.
    outline: Option<Outline>,
    matcher: ResourceMatcher,
}

#[derive(Clone, Debug)]
struct OneZone {
    name: Box<str>,
    has_tag_service: bool,
}

impl ZoneIndex {
    pub(crate) fn new(
        zones: &Table<String, Zone>,
        service: &str,
        tag_service: Option<&str>,
        defs: &[ResourceDef],
        levels: &Levels,
    ) -> (Self, Vec<String>) {
        let mut all = Self::default();
        let mut faults = Vec::new();
        for zone in zones.values() {
            let Some(resources) = zone.services.get(service) else { continue };
            let at = all.zones.len();
            let has_tag_service = tag_service.is_some_and(|name| zone.tag_services.contains(name));
            all.zones.push(OneZone { name: zone.name.as_str().into(), has_tag_service });
            for resource in resources {
                let is_recursive =
                    |level: &str| defs.iter().any(|def| def.name == level && def.is_recursive_supported);
                let map: ResourceMap = resource
                    .iter()
                    .map(|(level, values)| {
                        let is_recursive = is_recursive(level);
                        let values =
                            ResourceValues { values: values.clone(), is_excludes: false, is_recursive };
                        (level.clone(), values)
                    })
                    .collect();
                match ResourceMatcher::new(levels, &map) {
                    Ok(Some(matcher)) => {
                        if let Ok(slot) = Slot::try_from(all.resources.len()) {
                            all.index.insert(&matcher, slot);
                            let outline = matcher.outline().filter(|_| Index::is_sorted_in(&matcher));
                            all.resources.push(ZoneResource { zone: at, outline, matcher });
                        }
                    }
                    Ok(None) => {}
                    Err(fault) => faults.push(format!("zone `{}`: {fault}", zone.name)),
                }
            }
        }
        (all, faults)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.zones.is_empty()
    }

    pub(crate) fn all(&self) -> ZoneNames<'_> {
        self.zones.iter().map(|zone| &*zone.name).collect()
    }

    /// The zones of a resource, in the order of their names. The empty name stands for what is in no zone.
    pub(crate) fn of(&self, request: &RequestPath<'_>) -> ZoneNames<'_> {
        let mut names = ZoneNames::new();
        let mut found: SmallVec<[usize; 4]> = SmallVec::new();
        let mut slots = Slots::new();
        self.index.find(request, Reach::ANYWHERE, &mut slots);
        let has_keys = !slots.is_empty() && request.has_keys();
        for slot in &slots {
            let entry = usize::try_from(*slot).ok().and_then(|at| self.resources.get(at));
            let Some(ZoneResource { zone, outline, matcher }) = entry else { continue };
            let lies = match outline.as_ref().filter(|_| has_keys) {
                Some(outline) => outline.match_type(request),
                None => matcher.match_type(request, &MatchContext::NONE),
            };
            match lies {
                MatchType::Nothing => continue,
                MatchType::Below if !names.contains(&"") => names.push(""),
                MatchType::Below | MatchType::Itself | MatchType::ItselfAndAllBelow | MatchType::Above => {}
            }
            if !found.contains(zone) {
                found.push(*zone);
            }
        }
        found.sort_unstable();
        names.extend(found.iter().filter_map(|at| self.zones.get(*at)).map(|zone| &*zone.name));
        names
    }

    /// Whether a zone has tag policies of its own. What is in no zone has none.
    pub(crate) fn has_tag_service(&self, zone: &str) -> bool {
        self.zones.iter().any(|known| &*known.name == zone && known.has_tag_service)
    }
}
