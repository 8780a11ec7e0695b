//! What gate two says of a table's columns, before any text is bound.

use catalog::TableHandle;
use policy::{ColumnName, FieldOf, TableRequest, TableRules};

use crate::names::RelationName;
use crate::running::Running;

/// The rules for the columns that the handle has.
pub(crate) fn rules_for(running: &Running, name: &RelationName, handle: &TableHandle) -> TableRules {
    let ids = handle.field_ids.iter().zip(handle.schema.fields());
    let columns: Vec<(i32, Vec<String>)> = ids
        .map(|(id, field)| {
            let own = std::iter::once(field.name().clone());
            (*id, own.chain(handle.former_names(*id)).collect())
        })
        .collect();
    rules_of_columns(running, name, handle, &columns)
}

/// The rules for the columns that the table has or ever had.
pub(crate) fn rules_of_all_times(running: &Running, name: &RelationName, handle: &TableHandle) -> TableRules {
    rules_of_columns(running, name, handle, &handle.columns_of_all_times())
}

/// Each column is asked about under every name that it bore and as the field that it is, so that neither a policy nor
/// a tag is lost by a rename (L7), and with the tags that the table itself tells.
fn rules_of_columns(
    running: &Running,
    name: &RelationName,
    handle: &TableHandle,
    columns: &[(i32, Vec<String>)],
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
    let rules = running.snapshot.table_rules(&TableRequest {
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
    match own {
        Ok(_) => rules,
        Err(unknown) => crate::tags::unavailable(rules, &unknown),
    }
}
