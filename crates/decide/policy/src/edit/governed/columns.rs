//! Tags on the columns of one table, by the columns' names and by the fields that they are.
//!
//! A column's tags stand under its name, for engines that know only names, and are bound to the table and the field,
//! so that they go along with a renaming and do not fall to another column that later takes the name.

use super::tag::{delete_unused, keep, must_govern, next};
use super::{ColumnTags, ColumnTagsEdit, UnsetColumnTags};
use crate::edit::Actor;
use crate::edit::draft::Draft;
use crate::edit::error::{FaultKind, Faults};
use crate::edit::names::check_text;
use crate::edit::policy::ColumnRef;
use crate::matching::is_complete_match;
use crate::model::{
    FIELD_ID_OPTION, ResourceMap, ResourceValues, State, TABLE_UUID_OPTION, Tag, TagDef, TagId,
    TaggedResource, TaggedResourceId, bound_field,
};

/// The numbers that one edit gives out.
struct Free {
    tag: i64,
    resource: i64,
}

pub(super) fn tag(draft: &mut Draft<'_>, edit: &ColumnTagsEdit, actor: &Actor, faults: &mut Faults) {
    let state = draft.before().state();
    if !state.services.contains_key(&edit.service) {
        faults.add(FaultKind::NotFound, format!("no such service `{}`", edit.service));
        return;
    }
    let denied = edit.columns.iter().any(|change| {
        let mut found = Faults::default();
        must_govern(state, &edit.service, &resource(edit, &change.column), actor, &mut found);
        !found.is_empty()
    });
    if denied {
        faults.denied(format!("tag columns of `{}.{}`", edit.database, edit.table));
        return;
    }
    define_missing(draft, edit, actor, faults);
    if !faults.is_empty() {
        return;
    }
    let mut free = Free {
        tag: next(state.tags.keys().map(|id| id.0)),
        resource: next(state.tagged_resources.keys().map(|id| id.0)),
    };
    for change in &edit.columns {
        apply(draft, edit, change, &mut free);
    }
}

fn resource(edit: &ColumnTagsEdit, column: &ColumnRef) -> ResourceMap {
    let levels = [("database", &edit.database), ("table", &edit.table), ("column", &column.name)];
    levels.into_iter().map(|(level, value)| (level.to_owned(), ResourceValues::one(value.clone()))).collect()
}

/// An admin's tag defines itself; anybody else must take one that there is.
fn define_missing(draft: &mut Draft<'_>, edit: &ColumnTagsEdit, actor: &Actor, faults: &mut Faults) {
    let state = draft.before().state();
    let mut id = next(state.tag_defs.values().map(|def| def.id));
    for kind in edit.columns.iter().flat_map(|change| &change.set) {
        let is_new = |def: &TagDef| def.name == *kind;
        if state.tag_defs.contains_key(kind) || draft.governed.put_tag_defs.iter().any(is_new) {
            continue;
        }
        check_text("tag", kind, faults);
        if !actor.is_admin() {
            faults.add(FaultKind::NotFound, format!("no such tag `{kind}`"));
            continue;
        }
        draft.governed.put_tag_defs.push(TagDef { id, name: kind.clone(), ..TagDef::default() });
        id = id.saturating_add(1);
    }
}

fn apply(draft: &mut Draft<'_>, edit: &ColumnTagsEdit, change: &ColumnTags, free: &mut Free) {
    let state = draft.before().state();
    let (named, elsewhere) = entries(state, edit, &change.column);
    let all = named.iter().chain(&elsewhere).flat_map(|entry| &entry.tags);
    let mut had: Vec<&Tag> = Vec::new();
    for tag in all.filter_map(|id| state.tags.get(id)) {
        if !had.iter().any(|known| known.kind == tag.kind) {
            had.push(tag);
        }
    }
    let goes = |kind: &str| match &change.unset {
        UnsetColumnTags::None => false,
        UnsetColumnTags::All => true,
        UnsetColumnTags::These(kinds) => kinds.iter().any(|unset| unset == kind),
    };
    tell_missing(draft, change, &had);
    let mut tags: Vec<TagId> = Vec::new();
    let mut put = |draft: &mut Draft<'_>, tag: Tag| {
        let tag = Tag { id: TagId(free.tag), ..tag };
        free.tag = free.tag.saturating_add(1);
        tags.push(tag.id);
        draft.governed.put_tags.push(tag);
    };
    let mut own: Vec<TagId> = Vec::new();
    for tag in had.iter().filter(|tag| !goes(&tag.kind)) {
        match named.is_some_and(|named| named.tags.contains(&tag.id)) {
            true => own.push(tag.id),
            false => put(draft, (*tag).clone()),
        }
    }
    for kind in change.set.iter().filter(|kind| goes(kind) || !had.iter().any(|tag| tag.kind == **kind)) {
        put(draft, Tag { kind: kind.clone(), ..Tag::default() });
    }
    own.append(&mut tags);
    // What is bound to this field under another name holds on by that name only, if a tag of it is unset.
    for entry in elsewhere {
        let kinds = entry.tags.iter().filter_map(|id| state.tags.get(id));
        if kinds.into_iter().any(|tag| goes(&tag.kind)) {
            let mut unbound = entry.clone();
            unbound.options.retain(|key, _| key != TABLE_UUID_OPTION && key != FIELD_ID_OPTION);
            draft.governed.put_tagged_resources.push(unbound);
        }
    }
    let mut resource = named.cloned().unwrap_or_else(|| {
        let id = TaggedResourceId(free.resource);
        free.resource = free.resource.saturating_add(1);
        TaggedResource {
            id,
            service: edit.service.clone(),
            resource: resource(edit, &change.column),
            ..TaggedResource::default()
        }
    });
    let gone: Vec<TagId> = resource.tags.iter().copied().filter(|id| !own.contains(id)).collect();
    delete_unused(draft, state, resource.id, &gone);
    resource.tags = own;
    if edit.owner.is_some() {
        resource.owner.clone_from(&edit.owner);
    }
    if let (Some(uuid), Some(field_id)) = (&edit.uuid, change.column.field_id) {
        resource.options.insert(TABLE_UUID_OPTION.to_owned(), uuid.clone());
        resource.options.insert(FIELD_ID_OPTION.to_owned(), field_id.to_string());
    }
    keep(draft, named, resource);
}

fn tell_missing(draft: &mut Draft<'_>, change: &ColumnTags, had: &[&Tag]) {
    let column = &change.column.name;
    match &change.unset {
        UnsetColumnTags::None => {}
        UnsetColumnTags::All if had.is_empty() => {
            draft.notice(format!("column `{column}` has no tags, skipped"));
        }
        UnsetColumnTags::All => {}
        UnsetColumnTags::These(kinds) => {
            for kind in kinds.iter().filter(|kind| !had.iter().any(|tag| tag.kind == **kind)) {
                draft.notice(format!("column `{column}` has no tag `{kind}`, skipped"));
            }
        }
    }
}

/// What stands under the column's name, and what is bound to its field under other names.
fn entries<'s>(
    state: &'s State,
    edit: &ColumnTagsEdit,
    column: &ColumnRef,
) -> (Option<&'s TaggedResource>, Vec<&'s TaggedResource>) {
    let name = resource(edit, column);
    let mut named = None;
    let mut elsewhere = Vec::new();
    for entry in state.tagged_resources.values().filter(|entry| entry.service == edit.service) {
        let bound = bound_field(entry).filter(|(uuid, _)| Some(*uuid) == edit.uuid.as_deref());
        let is_bound = bound.is_some_and(|(_, field_id)| Some(field_id) == column.field_id);
        // Under this name, and another column of this very table: one that is gone.
        let is_other = bound.is_some() && !is_bound;
        if is_complete_match(&entry.resource, &name) && !is_other {
            named = named.or(Some(entry));
        } else if is_bound {
            elsewhere.push(entry);
        }
    }
    (named, elsewhere)
}
