//! Renaming a column or table carries every policy and tag that names it along, and keeps the old name as well but for
//! tags that are bound to the column.
//!
//! So a swap of names leaves both things protected, here and in engines that know only names. Where only a pattern
//! covered the old name, and it does not cover the new one, the rename takes the right to write that policy.

use super::Actor;
use super::cover::{Cover, covers};
use super::draft::Draft;
use super::error::Faults;
use super::grant::sql_policy;
use super::items::{self, Delegation};
use super::names::check_text;
use super::pins::{self, names_table};
use super::policy::{ColumnRef, may_write_existing};
use super::record::{self, LabelKind, ORIGIN, ORIGIN_GRANT, Record};
use super::scope::{GATE_ONE, Scope};
use crate::matching::MatchContext;
use crate::model::{
    FIELD_ID_OPTION, Policy, PolicyKind, ResourceMap, ResourceValues, State, TABLE_UUID_OPTION,
    TaggedResource, TaggedResourceId, bound_field,
};
use crate::privilege::{Level, StepTarget};

/// A column that gets another name.
pub(crate) struct Column<'e> {
    pub(crate) service: &'e str,
    pub(crate) database: &'e str,
    pub(crate) table: &'e str,
    pub(crate) from: &'e str,
    pub(crate) to: &'e str,
    pub(crate) field_id: Option<i32>,
    /// The table's, where it is known.
    pub(crate) uuid: Option<&'e str>,
}

/// A table or view that gets another name: `(database, table)` before and after.
pub(crate) struct Table<'e> {
    pub(crate) service: &'e str,
    pub(crate) catalog: &'e str,
    pub(crate) from: &'e (String, String),
    pub(crate) to: &'e (String, String),
    pub(crate) uuid: Option<&'e str>,
}

pub(crate) fn column(draft: &mut Draft<'_>, column: &Column<'_>, actor: &Actor, faults: &mut Faults) {
    check_text("column", column.to, faults);
    let Some(def) = draft.def(column.service) else {
        return;
    };
    let covered = |map: &ResourceMap, name: &str| {
        let levels = [("database", column.database), ("table", column.table), ("column", name)];
        map.contains_key("column") && covers(def, map, &levels, &MatchContext::new("", None)) == Cover::Object
    };
    let of_service: Vec<Policy> = draft.policies().filter(|p| p.service == column.service).cloned().collect();
    for policy in of_service {
        let pinned = pins::pins(&policy);
        let is_pinned = names_table(&policy, column.service, column.database, column.table)
            && pinned.columns.iter().any(|c| c.is(column.from, column.field_id));
        let mut changed = policy.clone();
        let mut is_named = is_pinned;
        let mut is_lost = false;
        for map in std::iter::once(&mut changed.resources).chain(&mut changed.additional_resources) {
            let is_covered = covered(map, column.from) || (is_pinned && map.contains_key("column"));
            if !is_covered || covered(map, column.to) {
                continue;
            }
            let Some(values) = map.get_mut("column") else {
                continue;
            };
            let is_literal = values.values.iter().any(|v| v.eq_ignore_ascii_case(column.from));
            is_named |= is_literal;
            is_lost |= !is_literal && !is_pinned;
            if values.is_excludes {
                values.values.retain(|v| !v.eq_ignore_ascii_case(column.to));
            } else {
                values.values.push(column.to.to_owned());
            }
        }
        if is_lost && !may_write_existing(draft, actor, &policy) {
            faults.denied(format!("rename the column `{}` to `{}`", column.from, column.to));
            continue;
        }
        if is_named && matches!(policy.kind, PolicyKind::Mask | PolicyKind::Access) {
            let mut pins = pinned;
            let new = ColumnRef { name: column.to.to_owned(), field_id: column.field_id };
            if !pins.columns.is_empty() && !pins.columns.contains(&new) {
                pins.columns.push(new);
                pins::set_pins(&mut changed, &pins);
            }
        }
        draft.put_policy(changed);
    }
    tags_of_column(draft, column, actor, faults);
}

/// Tags that are bound to the field bear its new name from now on; those that were put on the name bear both, also
/// where they are bound to a field of another table that stood under this name before (L7).
fn tags_of_column(draft: &mut Draft<'_>, column: &Column<'_>, actor: &Actor, faults: &mut Faults) {
    let state = draft.before().state();
    let Some(def) = draft.def(column.service) else { return };
    let covered = |map: &ResourceMap, name: &str| {
        let levels = [("database", column.database), ("table", column.table), ("column", name)];
        map.contains_key("column") && covers(def, map, &levels, &MatchContext::new("", None)) == Cover::Object
    };
    let mut beside = Beside::new(state);
    let mut changed = Vec::new();
    for entry in state.tagged_resources.values().filter(|entry| entry.service == column.service) {
        let field = bound_field(entry).filter(|(uuid, _)| column.uuid.is_none_or(|own| own == *uuid));
        let is_bound = field.is_some_and(|(_, id)| Some(id) == column.field_id);
        if !covered(&entry.resource, column.from) || (field.is_some() && !is_bound) {
            continue;
        }
        if covered(&entry.resource, column.to) {
            continue;
        }
        if !names(&entry.resource, "column", column.from) {
            if !actor.is_admin() {
                faults.denied(format!("rename the column `{}` to `{}`", column.from, column.to));
            }
            continue;
        }
        let mut entry = entry.clone();
        if bound_field(&entry).is_some() && !is_bound {
            entry.resource.insert("column".to_owned(), ResourceValues::one(column.to.to_owned()));
            beside.put_by_name(entry);
            continue;
        }
        if let Some(values) = entry.resource.get_mut("column") {
            if is_bound {
                values.values.retain(|name| !name.eq_ignore_ascii_case(column.from));
            }
            values.values.push(column.to.to_owned());
        }
        changed.push(entry);
    }
    let beside = beside.entries;
    draft.governed.put_tagged_resources.extend(changed.into_iter().chain(beside));
}

/// Tags of the table and of its columns stand under the new name too. What was protected by its name alone, with tags
/// that are bound to another table, stays so (L7).
fn tags_of_table(draft: &mut Draft<'_>, table: &Table<'_>, actor: &Actor, faults: &mut Faults) {
    let state = draft.before().state();
    let Some(def) = draft.def(table.service) else { return };
    let covered = |map: &ResourceMap, (database, name): &(String, String)| {
        let mut map = map.clone();
        map.remove("column");
        let levels = [("database", database.as_str()), ("table", name.as_str())];
        covers(def, &map, &levels, &MatchContext::new("", None)) != Cover::No
    };
    let mut beside = Beside::new(state);
    for entry in state.tagged_resources.values().filter(|entry| entry.service == table.service) {
        if !covered(&entry.resource, table.from) || covered(&entry.resource, table.to) {
            continue;
        }
        // Tags of a schema, or of what a pattern describes, fall off what is moved away from under them.
        if !names(&entry.resource, "database", &table.from.0)
            || !names(&entry.resource, "table", &table.from.1)
        {
            if !actor.is_admin() {
                faults.denied(format!("rename the table `{}` to `{}`", table.from.1, table.to.1));
            }
            continue;
        }
        let is_other = bound_field(entry).is_some_and(|(uuid, _)| table.uuid.is_some_and(|own| own != uuid));
        let mut entry = entry.clone();
        entry.resource.insert("database".to_owned(), ResourceValues::one(table.to.0.clone()));
        entry.resource.insert("table".to_owned(), ResourceValues::one(table.to.1.clone()));
        match is_other {
            true => beside.put_by_name(entry),
            false => beside.put(entry),
        }
    }
    draft.governed.put_tagged_resources.extend(beside.entries);
}

/// Entries of tags that come beside those that there are.
struct Beside<'s> {
    state: &'s State,
    entries: Vec<TaggedResource>,
    last: i64,
}

impl<'s> Beside<'s> {
    fn new(state: &'s State) -> Self {
        let last = state.tagged_resources.keys().next_back().map_or(0, |id| id.0).max(0);
        Self { state, entries: Vec::new(), last }
    }

    fn put(&mut self, mut entry: TaggedResource) {
        let is_there = |old: &TaggedResource| {
            old.service == entry.service && old.resource == entry.resource && old.tags == entry.tags
        };
        if self.state.tagged_resources.values().chain(&self.entries).any(is_there) {
            return;
        }
        self.last = self.last.saturating_add(1);
        entry.id = TaggedResourceId(self.last);
        entry.guid.clear();
        self.entries.push(entry);
    }

    /// Not bound to the field that the entry was written for.
    fn put_by_name(&mut self, mut entry: TaggedResource) {
        entry.options.remove(TABLE_UUID_OPTION);
        entry.options.remove(FIELD_ID_OPTION);
        self.put(entry);
    }
}

/// Gives an earlier version of a policy the names that its table and columns got since: going back undoes what the
/// policy says, and takes no protection off a thing that was renamed (L7).
pub(crate) fn keep_names(earlier: &mut Policy, newest: &Policy) {
    let (mut pinned, now) = (pins::pins(earlier), pins::pins(newest));
    let same_level = |level: &str| earlier.resources.get(level) == newest.resources.get(level);
    if pinned.table_uuid != now.table_uuid || !same_level("database") || !same_level("table") {
        return;
    }
    for map in &newest.additional_resources {
        let mut map = map.clone();
        // The columns are those that the earlier version protects.
        if let Some(columns) = earlier.resources.get("column") {
            map.insert("column".to_owned(), columns.clone());
        }
        if !earlier.additional_resources.contains(&map) && map != earlier.resources {
            earlier.additional_resources.push(map);
        }
    }
    let is_renamed = |column: &ColumnRef| {
        column.field_id.is_some() && pinned.columns.iter().any(|old| old.field_id == column.field_id)
    };
    let renamed: Vec<ColumnRef> = now
        .columns
        .into_iter()
        .filter(|column| is_renamed(column) && !pinned.columns.contains(column))
        .collect();
    for column in renamed {
        for map in std::iter::once(&mut earlier.resources).chain(&mut earlier.additional_resources) {
            if let Some(values) = map.get_mut("column")
                && !values.is_excludes
                && !values.values.contains(&column.name)
            {
                values.values.push(column.name.clone());
            }
        }
        pinned.columns.push(column);
    }
    pins::set_pins(earlier, &pinned);
}

pub(crate) fn table(draft: &mut Draft<'_>, table: &Table<'_>, actor: &Actor, faults: &mut Faults) {
    check_text("table", &table.to.1, faults);
    gate_two(draft, table, actor, faults);
    gate_one(draft, table, actor, faults);
    tags_of_table(draft, table, actor, faults);
}

fn gate_two(draft: &mut Draft<'_>, table: &Table<'_>, actor: &Actor, faults: &mut Faults) {
    let Some(def) = draft.def(table.service) else {
        return;
    };
    let covered = |map: &ResourceMap, (database, name): &(String, String)| {
        let mut map = map.clone();
        map.remove("column");
        let levels = [("database", database.as_str()), ("table", name.as_str())];
        covers(def, &map, &levels, &MatchContext::new("", None)) == Cover::Object
    };
    let of_service: Vec<Policy> = draft.policies().filter(|p| p.service == table.service).cloned().collect();
    for policy in of_service {
        let is_pinned = table.uuid.is_some() && pins::pins(&policy).table_uuid.as_deref() == table.uuid;
        let maps = || std::iter::once(&policy.resources).chain(&policy.additional_resources);
        let covering: Vec<&ResourceMap> = maps().filter(|m| is_pinned || covered(m, table.from)).collect();
        if covering.is_empty() || maps().any(|m| covered(m, table.to)) {
            continue;
        }
        let is_named = is_pinned || covering.iter().any(|m| names(m, "table", &table.from.1));
        if !is_named && !may_write_existing(draft, actor, &policy) {
            faults.denied(format!("rename the table `{}` to `{}`", table.from.1, table.to.1));
            continue;
        }
        let mut changed = policy.clone();
        for map in covering {
            let mut beside = map.clone();
            beside.insert("database".to_owned(), ResourceValues::one(table.to.0.clone()));
            beside.insert("table".to_owned(), ResourceValues::one(table.to.1.clone()));
            if !changed.additional_resources.contains(&beside) {
                changed.additional_resources.push(beside);
            }
        }
        draft.put_policy(changed);
    }
}

fn names(map: &ResourceMap, level: &str, name: &str) -> bool {
    map.get(level).is_some_and(|v| v.values.iter().any(|v| v.eq_ignore_ascii_case(name)))
}

/// Grants and denials of the table get a policy for the new name, so that REVOKE finds them under either.
fn gate_one(draft: &mut Draft<'_>, table: &Table<'_>, actor: &Actor, faults: &mut Faults) {
    let scope = |(namespace, name): &(String, String)| Scope::Table {
        catalog: table.catalog.to_owned(),
        namespace: namespace.clone(),
        table: name.clone(),
    };
    let (from, to) = (scope(table.from), scope(table.to));
    let at = StepTarget::Named(Level::Table);
    let (old, new) = (from.policy_resources(at), to.policy_resources(at));
    let Some(def) = draft.def(GATE_ONE) else {
        return;
    };
    let of_service: Vec<Policy> =
        draft.policies().filter(|p| p.service == GATE_ONE && p.kind == PolicyKind::Access).cloned().collect();
    for policy in of_service {
        if policy.resources == old && policy.additional_resources.is_empty() {
            carry_over(draft, &policy, &to, &new);
            continue;
        }
        let covered = |scope: &Scope| {
            let levels = scope.levels(at);
            let levels: Vec<(&str, &str)> =
                levels.iter().map(|(level, value)| (*level, value.as_str())).collect();
            super::cover::policy_covers(def, &policy, &levels, &MatchContext::new("", None)) == Cover::Object
        };
        if !covered(&from) || covered(&to) {
            continue;
        }
        let maps = std::iter::once(&policy.resources).chain(&policy.additional_resources);
        if maps.clone().any(|m| names(m, "table", &table.from.1)) {
            let mut changed = policy.clone();
            changed.additional_resources.push(new.clone());
            draft.put_policy(changed);
        } else if !policy.deny_items.is_empty() && !actor.is_admin() {
            // A pattern that allowed the old name gives nothing to the new one; one that denied it must not fall off.
            faults.denied(format!("rename the table `{}` to `{}`", table.from.1, table.to.1));
        } else if !policy.deny_items.is_empty() {
            draft.notice(format!(
                "policy `{}` denies the old name by a pattern, and not the new one",
                policy.name
            ));
        }
    }
}

/// Writes what a policy says of the old name into the policy of the new name.
fn carry_over(draft: &mut Draft<'_>, policy: &Policy, to: &Scope, resources: &ResourceMap) {
    let found = sql_policy(draft, resources, policy.validity.first());
    let is_from_sql = policy.options.get(ORIGIN).is_some_and(|o| o == ORIGIN_GRANT);
    let Some(mut target) =
        found.filter(|_| is_from_sql).and_then(|id| draft.policies().find(|p| p.id == id).cloned())
    else {
        let named = draft.new_policy(GATE_ONE, &format!("grant {to}"), PolicyKind::Access);
        let copy = Policy {
            id: named.id,
            guid: named.guid,
            version: named.version,
            name: named.name,
            created_by: named.created_by,
            created_at: named.created_at,
            resources: resources.clone(),
            ..policy.clone()
        };
        // A policy of another door may be there already, from an earlier rename.
        let is_same = |p: &Policy| {
            p.resources == copy.resources && p.items == copy.items && p.deny_items == copy.deny_items
        };
        if !draft.policies().any(is_same) {
            draft.put_policy(copy);
        }
        return;
    };
    for (list, source) in [(&mut target.items, &policy.items), (&mut target.deny_items, &policy.deny_items)] {
        for item in source {
            let types: Vec<&str> = item.accesses.iter().map(|a| a.kind.as_str()).collect();
            let delegation = if item.delegate_admin { Delegation::Delegated } else { Delegation::None };
            for grantee in items::grantees(item) {
                items::add(list, &grantee, &types, delegation);
            }
        }
    }
    for label in &policy.labels {
        let record = record::record_of(policy, label).unwrap_or(Record {
            at: policy.created_at,
            by: policy.created_by.clone(),
            has_grant_option: false,
            has_read: false,
        });
        let is_ours =
            [LabelKind::Grant, LabelKind::Deny].iter().any(|k| record::Label::parse(label, *k).is_some());
        if is_ours {
            record::put_label(&mut target, label, record);
        }
    }
    draft.put_policy(target);
}
