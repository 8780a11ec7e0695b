//! What is wrong with tags and the resources that carry them.

use std::collections::BTreeSet;

use super::policy::check_schedules;
use super::resources::{Levels, check_names, check_values};
use super::view::View;
use super::{
    By, Checks, Found, NAME_INVALID, NUMBER_TAKEN, POLICY_SERVICE_UNKNOWN, REFERENCE_UNKNOWN, principals,
};
use crate::limits;
use crate::model::{PolicyKind, Tag, TagDef, TaggedResource};

pub(super) fn check_def(def: &TagDef, view: &View<'_>, found: &mut Found<'_>) {
    principals::check_name(&def.name, found);
    found.limit(&limits::ATTRIBUTES_PER_TAG_MAX, def.attributes.len(), "attributeDefs");
    let mut seen = BTreeSet::new();
    for (name, _) in &def.attributes {
        if name.trim().is_empty() {
            found.missing(NAME_INVALID, "attributeDefs", "an attribute has no name");
        } else if !seen.insert(name) {
            found.wrong(NAME_INVALID, "attributeDefs", format!("it has two attributes `{name}`"));
        }
    }
    for other in view.tag_defs().filter(|other| other.name != def.name) {
        if other.id == def.id && def.id > 0 {
            found.wrong(NUMBER_TAKEN, "id", format!("`{}` has the number {}", other.name, def.id));
        }
    }
}

pub(super) fn check_tag(tag: &Tag, view: &View<'_>, checks: &Checks<'_>, found: &mut Found<'_>) {
    if view.tag_def(&tag.kind).is_none() {
        found.wrong(REFERENCE_UNKNOWN, "type", format!("no such tag definition `{}`", tag.kind));
    }
    found.limit(&limits::ATTRIBUTES_PER_TAG_MAX, tag.attributes.len(), "attributes");
    for value in tag.attributes.values() {
        found.limit(&limits::ATTRIBUTE_CHARS_MAX, value.chars().count(), "attributes");
    }
    check_schedules(&tag.validity, checks, found);
}

pub(super) fn check_resource(resource: &TaggedResource, view: &View<'_>, found: &mut Found<'_>) {
    found.limit(&limits::TAGS_PER_RESOURCE_MAX, resource.tags.len(), "tags");
    for id in resource.tags.iter().filter(|id| !view.has_tag(**id)) {
        found.wrong(REFERENCE_UNKNOWN, "tags", format!("no tag has the number {}", id.0));
    }
    let Some(def) = view.def_of(&resource.service) else {
        let reason = format!("no such service `{}`, or its definition is missing", resource.service);
        found.wrong(POLICY_SERVICE_UNKNOWN, "serviceName", reason);
        return;
    };
    let levels = Levels::of(def, PolicyKind::Access);
    check_names(&resource.resource, &levels, def, found);
    // Names stand for themselves, so no script is looked for in them.
    let checks = Checks {
        now: stdx::Timestamp::default(),
        time_zone: chrono_tz::Tz::UTC,
        scripts: None,
        by: By::Admin,
    };
    check_values(&resource.resource, &levels, &checks, found);
}
