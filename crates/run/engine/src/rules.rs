//! What gate two says of a relation's columns, before any text is bound.

pub(crate) mod parts;

use catalog::{TableHandle, View};
use datafusion::arrow::datatypes::{FieldRef, SchemaRef};
use policy::operation::Object;
use policy::{ColumnName, ColumnRule, FieldOf, TableRequest, TableRules};

use crate::names::RelationName;
use crate::rules::parts::{Part, gather, parts_of};
use crate::running::{Running, table_object, view_object};

/// The rules for the columns that the handle has.
pub(crate) fn rules_for(running: &Running, name: &RelationName, handle: &TableHandle) -> TableRules {
    let ids = handle.field_ids.iter().zip(handle.schema.fields());
    let columns: Vec<(i32, Vec<String>)> = ids
        .map(|(id, field)| {
            let own = std::iter::once(field.name().clone());
            (*id, own.chain(handle.former_names(*id)).collect())
        })
        .collect();
    let parts: Vec<(usize, Part)> =
        handle.schema.fields().iter().enumerate().flat_map(numbered_parts).collect();
    let names_of_part = |(column, part): &(usize, Part)| {
        let id = part.field_id().unwrap_or(NO_FIELD);
        let whole = columns.get(*column).map_or([].as_slice(), |(_, names)| names);
        (id, whole.iter().map(|name| part.name(name)).chain(handle.former_names(id)).collect())
    };
    let of_parts: Vec<(i32, Vec<String>)> = parts.iter().map(names_of_part).collect();
    let n_columns = columns.len();
    let asked: Vec<(i32, Vec<String>)> = columns.into_iter().chain(of_parts).collect();
    rules_of_columns(running, name, handle, &asked, n_columns, parts)
}

/// The rules for the columns that the table has or ever had, and for their parts behind them.
pub(crate) fn rules_of_all_times(running: &Running, name: &RelationName, handle: &TableHandle) -> TableRules {
    let columns = handle.columns_of_all_times();
    rules_of_columns(running, name, handle, &columns, columns.len(), Vec::new())
}

/// No field has this id.
const NO_FIELD: i32 = -1;

fn numbered_parts((column, field): (usize, &FieldRef)) -> impl Iterator<Item = (usize, Part)> {
    parts_of(field).into_iter().map(move |part| (column, part))
}

/// Each column is asked about under every name that it bore and as the field that it is, so that neither a policy nor
/// a tag is lost by a rename (L7), and with the tags that the table itself tells.
fn rules_of_columns(
    running: &Running,
    name: &RelationName,
    handle: &TableHandle,
    columns: &[(i32, Vec<String>)],
    n_columns: usize,
    parts: Vec<(usize, Part)>,
) -> TableRules {
    let uuid = handle.uuid.to_string();
    let own = running.engine.settings.tag_source.field_tags(handle);
    let of_field = |id: &i32| -> Vec<String> {
        let tags = own.as_ref().ok().and_then(|tags| tags.get(id));
        tags.into_iter().flatten().cloned().collect()
    };
    let tags: Vec<Vec<String>> = columns.iter().map(|(id, _)| of_field(id)).collect();
    let asked: Vec<ColumnName<'_>> = columns
        .iter()
        .zip(&tags)
        .map(|((id, names), tags)| {
            let (name, older) = names.split_first().map_or(("", [].as_slice()), |(n, o)| (n.as_str(), o));
            ColumnName { name, older, field: Some(FieldOf { table_uuid: &uuid, field_id: *id }), tags }
        })
        .collect();
    let mut rules = running.snapshot.table_rules(&TableRequest {
        service: running.snapshot.gate_two_service(&name.catalog),
        database: &name.database(),
        table: &name.name,
        columns: &asked,
        owner: handle.owner.as_deref(),
        who: &running.who,
        now: running.now,
        client_addr: running.context.client_addr,
        context: &policy::NO_CONTEXT,
        settings: &running.engine.settings.gate_two,
    });
    gather(&mut rules, n_columns, parts);
    let fields = columns.iter().take(n_columns).map(|(id, names)| {
        let field = FieldOf { table_uuid: &uuid, field_id: *id };
        (names.first().map_or("", String::as_str), Some(field))
    });
    restrict_ungranted(running, &table_object(name), handle.owner.as_deref(), fields, &mut rules);
    match own {
        Ok(_) => rules,
        Err(unknown) => crate::tags::unavailable(rules, &unknown),
    }
}

/// The rules for a view's columns, which have their names alone.
pub(crate) fn rules_of_view(
    running: &Running,
    name: &RelationName,
    view: &View,
    schema: &SchemaRef,
) -> TableRules {
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    let parts: Vec<(usize, Part)> = schema.fields().iter().enumerate().flat_map(numbered_parts).collect();
    let of_part = |(column, part): &(usize, Part)| part.name(schema.field(*column).name());
    let of_parts: Vec<String> = parts.iter().map(of_part).collect();
    let asked: Vec<ColumnName<'_>> = names()
        .chain(of_parts.iter().map(String::as_str))
        .map(|name| ColumnName { name, older: &[], field: None, tags: &[] })
        .collect();
    let mut rules = running.snapshot.table_rules(&TableRequest {
        service: running.snapshot.gate_two_service(&name.catalog),
        database: &name.database(),
        table: &name.name,
        columns: &asked,
        owner: Some(&view.owner),
        who: &running.who,
        now: running.now,
        client_addr: running.context.client_addr,
        context: &policy::NO_CONTEXT,
        settings: &running.engine.settings.gate_two,
    });
    gather(&mut rules, schema.fields().len(), parts);
    let fields = names().map(|name| (name, None));
    restrict_ungranted(running, &view_object(name), Some(&view.owner), fields, &mut rules);
    rules
}

/// Restricts the columns that no grant gives, where grants give columns (L10).
fn restrict_ungranted<'c>(
    running: &Running,
    object: &Object,
    owner: Option<&str>,
    columns: impl Iterator<Item = (&'c str, Option<FieldOf<'c>>)>,
    rules: &mut TableRules,
) {
    let granted = running.granted_columns(object, owner);
    for (rule, (name, field)) in rules.columns.iter_mut().zip(columns) {
        if granted.iter().any(|granted| !granted.has(name, field)) {
            *rule = ColumnRule::Restricted(policy::Restriction {
                policy: None,
                policy_name: None,
                reason: "the column is not among those that are granted".to_owned(),
            });
        }
    }
}
