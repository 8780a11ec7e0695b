//! What a store keeps besides policies and people, and the versions of it.

use policy::model::{Service, ServiceDef, State, Table, Tag, TagDef, TaggedResource, Version, Zone};
use stdx::Timestamp;

/// What sort of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GovernedKind {
    ServiceDef,
    Service,
    Zone,
    TagDef,
    Tag,
    TaggedResource,
}

impl GovernedKind {
    /// As messages and the audit call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ServiceDef => "service definition",
            Self::Service => "service",
            Self::Zone => "zone",
            Self::TagDef => "tag definition",
            Self::Tag => "tag",
            Self::TaggedResource => "tagged resource",
        }
    }
}

/// One of these things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Governed {
    ServiceDef(ServiceDef),
    Service(Service),
    Zone(Zone),
    TagDef(TagDef),
    Tag(Tag),
    TaggedResource(TaggedResource),
}

impl Governed {
    pub const fn kind(&self) -> GovernedKind {
        match self {
            Self::ServiceDef(_) => GovernedKind::ServiceDef,
            Self::Service(_) => GovernedKind::Service,
            Self::Zone(_) => GovernedKind::Zone,
            Self::TagDef(_) => GovernedKind::TagDef,
            Self::Tag(_) => GovernedKind::Tag,
            Self::TaggedResource(_) => GovernedKind::TaggedResource,
        }
    }

    /// The name, or for what has none the number.
    pub fn key(&self) -> String {
        match self {
            Self::ServiceDef(def) => def.name.clone(),
            Self::Service(service) => service.name.clone(),
            Self::Zone(zone) => zone.name.clone(),
            Self::TagDef(def) => def.name.clone(),
            Self::Tag(tag) => tag.id.0.to_string(),
            Self::TaggedResource(resource) => resource.id.0.to_string(),
        }
    }
}

/// One version of one such thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GovernedEntry {
    /// The store version of the edit.
    pub version: Version,
    pub at: Timestamp,
    pub by: String,
    /// `None`: the edit deleted it.
    pub thing: Option<Governed>,
}

/// What is different between two states: kind, key, and the new thing or none.
pub(crate) fn touched(before: &State, after: &State) -> Vec<(GovernedKind, String, Option<Governed>)> {
    let mut all = Vec::new();
    let mut note = |kind, key: String, thing| all.push((kind, key, thing));
    each(&before.service_defs, &after.service_defs, |name, thing| {
        note(GovernedKind::ServiceDef, name.clone(), thing.cloned().map(Governed::ServiceDef));
    });
    each(&before.services, &after.services, |name, thing| {
        note(GovernedKind::Service, name.clone(), thing.cloned().map(Governed::Service));
    });
    each(&before.zones, &after.zones, |name, thing| {
        note(GovernedKind::Zone, name.clone(), thing.cloned().map(Governed::Zone));
    });
    each(&before.tag_defs, &after.tag_defs, |name, thing| {
        note(GovernedKind::TagDef, name.clone(), thing.cloned().map(Governed::TagDef));
    });
    each(&before.tags, &after.tags, |id, thing| {
        note(GovernedKind::Tag, id.0.to_string(), thing.cloned().map(Governed::Tag));
    });
    each(&before.tagged_resources, &after.tagged_resources, |id, thing| {
        note(GovernedKind::TaggedResource, id.0.to_string(), thing.cloned().map(Governed::TaggedResource));
    });
    all
}

fn each<K: Ord + Clone, T: PartialEq>(
    before: &Table<K, T>,
    after: &Table<K, T>,
    mut note: impl FnMut(&K, Option<&T>),
) {
    after.changes_since(before).into_iter().for_each(|(key, thing)| note(key, thing));
}
