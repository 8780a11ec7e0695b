//! Tag definitions, and tags on resources.

use std::collections::BTreeMap;

use super::zone::administers;
use super::{OtherTags, TagSpec, TagsEdit, must_be_admin, not_there, number};
use crate::defs::TAG;
use crate::edit::Actor;
use crate::edit::draft::Draft;
use crate::edit::error::{FaultKind, Faults};
use crate::edit::names::check_text;
use crate::matching::{Levels, MatchContext, ResourceMatcher, is_complete_match};
use crate::model::{
    Policy, PolicyKind, ResourceMap, ResourceValues, State, Tag, TagDef, TagId, TagOwner, TaggedResource,
    TaggedResourceId,
};

pub(super) fn put_def(draft: &mut Draft<'_>, def: &TagDef, actor: &Actor, faults: &mut Faults) {
    must_be_admin(actor, "define tags", faults);
    let state = draft.before().state();
    let known = state.tag_defs.get(&def.name);
    if known.is_none() {
        check_text("tag", &def.name, faults);
    }
    let id = number(def.id, known.map(|known| known.id), state.tag_defs.values().map(|def| def.id));
    let def = TagDef { id, ..def.clone() };
    if known != Some(&def) {
        draft.governed.put_tag_defs.push(def);
    }
}

pub(super) fn drop_def(
    draft: &mut Draft<'_>,
    name: &str,
    if_exists: bool,
    actor: &Actor,
    faults: &mut Faults,
) {
    if !must_be_admin(actor, "drop tags", faults) {
        return;
    }
    let state = draft.before().state();
    if !state.tag_defs.contains_key(name) {
        not_there(draft, "tag", name, if_exists, faults);
        return;
    }
    let n_tags = state.tags.values().filter(|tag| tag.kind == name).count();
    if n_tags > 0 {
        faults.add_with_hint(
            FaultKind::Dependent,
            format!("{n_tags} tags `{name}` are on resources"),
            "unset them first",
        );
        return;
    }
    let speaks = |policy: &&Policy| {
        let maps = std::iter::once(&policy.resources).chain(&policy.additional_resources);
        maps.filter_map(|map| map.get(TAG)).any(|values| values.values.iter().any(|value| value == name))
    };
    let policies: Vec<String> = draft.policies().filter(speaks).map(|policy| policy.name.clone()).collect();
    if !policies.is_empty() {
        faults.add_with_hint(
            FaultKind::Dependent,
            format!("policies speak of the tag `{name}`: {}", policies.join(", ")),
            "drop these policies first",
        );
        return;
    }
    draft.governed.delete_tag_defs.push(name.to_owned());
}

pub(super) fn set(draft: &mut Draft<'_>, edit: &TagsEdit, actor: &Actor, faults: &mut Faults) {
    let state = draft.before().state();
    must_govern(state, &edit.service, &edit.resource, actor, faults);
    for spec in edit.tags.iter().filter(|spec| !state.tag_defs.contains_key(&spec.kind)) {
        faults.add(FaultKind::NotFound, format!("no such tag `{}`", spec.kind));
    }
    if !state.services.contains_key(&edit.service) {
        faults.add(FaultKind::NotFound, format!("no such service `{}`", edit.service));
    }
    if !faults.is_empty() {
        return;
    }
    let known = find(state, &edit.service, &edit.resource);
    let mut resource = known.cloned().unwrap_or_else(|| TaggedResource {
        id: TaggedResourceId(next(state.tagged_resources.keys().map(|id| id.0))),
        service: edit.service.clone(),
        resource: edit.resource.clone(),
        ..TaggedResource::default()
    });
    if edit.owner.is_some() {
        resource.owner.clone_from(&edit.owner);
    }
    let had = std::mem::take(&mut resource.tags);
    let mut free = next(state.tags.keys().map(|id| id.0));
    for spec in &edit.tags {
        let own = had.iter().filter_map(|id| state.tags.get(id));
        let mut own = own.filter(|tag| tag.kind == spec.kind && tag.owner == TagOwner::Resource);
        let tag = match own.next() {
            Some(known) => with_spec(known.clone(), spec),
            None => {
                let id = TagId(free);
                free = free.saturating_add(1);
                with_spec(Tag { id, ..Tag::default() }, spec)
            }
        };
        resource.tags.push(tag.id);
        if state.tags.get(&tag.id) != Some(&tag) {
            draft.governed.put_tags.push(tag);
        }
    }
    let others = had.iter().copied().filter(|id| !resource.tags.contains(id)).collect::<Vec<_>>();
    match edit.others {
        OtherTags::Stay => {
            let of_kind = |id: &TagId| {
                let kind = state.tags.get(id).map(|tag| tag.kind.as_str());
                edit.tags.iter().any(|spec| Some(spec.kind.as_str()) == kind)
            };
            let (replaced, mut staying): (Vec<_>, Vec<_>) = others.into_iter().partition(of_kind);
            staying.append(&mut resource.tags);
            resource.tags = staying;
            delete_unused(draft, state, resource.id, &replaced);
        }
        OtherTags::Go => delete_unused(draft, state, resource.id, &others),
    }
    keep(draft, known, resource);
}

pub(super) fn unset(
    draft: &mut Draft<'_>,
    service: &str,
    resource: &ResourceMap,
    kinds: &[String],
    actor: &Actor,
    faults: &mut Faults,
) {
    let state = draft.before().state();
    must_govern(state, service, resource, actor, faults);
    if !faults.is_empty() {
        return;
    }
    let Some(known) = find(state, service, resource) else {
        draft.notice("the resource has no tags, skipped");
        return;
    };
    let goes = |id: &TagId| {
        let kind = state.tags.get(id).map_or("", |tag| tag.kind.as_str());
        kinds.is_empty() || kinds.iter().any(|name| name == kind)
    };
    for kind in kinds {
        let has = known.tags.iter().filter_map(|id| state.tags.get(id)).any(|tag| tag.kind == *kind);
        if !has {
            draft.notice(format!("the resource has no tag `{kind}`, skipped"));
        }
    }
    let (going, staying): (Vec<_>, Vec<_>) = known.tags.iter().copied().partition(goes);
    delete_unused(draft, state, known.id, &going);
    keep(draft, Some(known), TaggedResource { tags: staying, ..known.clone() });
}

/// A resource without tags is none.
pub(super) fn keep(draft: &mut Draft<'_>, known: Option<&TaggedResource>, resource: TaggedResource) {
    if resource.tags.is_empty() {
        if let Some(known) = known {
            draft.governed.delete_tagged_resources.push(known.id);
        }
    } else if known != Some(&resource) {
        draft.governed.put_tagged_resources.push(resource);
    }
}

fn with_spec(tag: Tag, spec: &TagSpec) -> Tag {
    Tag {
        kind: spec.kind.clone(),
        attributes: spec.attributes.clone(),
        validity: spec.validity.clone(),
        ..tag
    }
}

pub(super) fn next(numbers: impl Iterator<Item = i64>) -> i64 {
    numbers.max().unwrap_or(0).max(0).saturating_add(1)
}

fn find<'s>(state: &'s State, service: &str, resource: &ResourceMap) -> Option<&'s TaggedResource> {
    let is_it =
        |known: &&TaggedResource| known.service == service && is_complete_match(&known.resource, resource);
    state.tagged_resources.values().find(is_it)
}

/// A resource's own tags go with it, unless another resource carries them too.
pub(super) fn delete_unused(draft: &mut Draft<'_>, state: &State, of: TaggedResourceId, tags: &[TagId]) {
    for id in tags {
        let is_own = state.tags.get(id).is_some_and(|tag| tag.owner == TagOwner::Resource);
        let mut others = state.tagged_resources.values().filter(|resource| resource.id != of);
        if is_own && !others.any(|resource| resource.tags.contains(id)) {
            draft.governed.delete_tags.push(*id);
        }
    }
}

/// Whether the actor may tag the resource: as admin, or as administrator of the zone that has it.
pub(super) fn must_govern(
    state: &State,
    service: &str,
    resource: &ResourceMap,
    actor: &Actor,
    faults: &mut Faults,
) {
    let is_in_own_zone = || {
        let def =
            state.services.get(service).and_then(|service| state.service_defs.get(&service.service_def));
        let Some(levels) = def.and_then(|def| Levels::of(def, PolicyKind::Access).ok()) else { return false };
        let covers = |of_zone: &BTreeMap<String, Vec<String>>| {
            let value = |values: &Vec<String>| ResourceValues {
                values: values.clone(),
                is_excludes: false,
                is_recursive: true,
            };
            let map: ResourceMap =
                of_zone.iter().map(|(level, values)| (level.clone(), value(values))).collect();
            let matcher = ResourceMatcher::new(&levels, &map).ok().flatten();
            // What a zone says nothing of lies in it whole.
            let known: ResourceMap = resource
                .iter()
                .filter(|(level, _)| map.contains_key(*level))
                .map(|(level, values)| (level.clone(), values.clone()))
                .collect();
            matcher.is_some_and(|m| m.covers(&levels, &known, &MatchContext::new("", None)))
        };
        let own = state.zones.values().filter(|zone| administers(zone, actor));
        own.filter_map(|zone| zone.services.get(service)).flatten().any(covers)
    };
    if !actor.is_admin() && !is_in_own_zone() {
        faults.denied("tag this resource");
    }
}
