//! ALTER TABLE: columns added, renamed and dropped; protections go along or hold the change back (L7).

use policy::edit::Edit;
use policy::model::PolicyKind;
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast::{self, AlterTableOperation};
use stdx::ErrorKind;

use super::{arrow_schema, done, visible};
use crate::error::{from_catalog, table_not_found, unsupported};
use crate::names::{RelationName, fold_ident, parts_of};
use crate::resolve::Found;
use crate::running::{Running, table_object};
use crate::statement::Call;

pub(crate) async fn alter_table(
    running: &Running,
    alter: ast::AlterTable,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    if alter.only || alter.location.is_some() || alter.on_cluster.is_some() || alter.table_type.is_some() {
        return Err(unsupported("a clause of this ALTER TABLE"));
    }
    let name = running.path.relation(&parts_of(&alter.name)?)?;
    let table = match visible(running, &name).await {
        Ok(Found::Table(table)) => table,
        Ok(_) => return Err(table_not_found(&name.to_string())),
        Err(error) if alter.if_exists && error.kind() == ErrorKind::TableNotFound => {
            return Ok(done("ALTER TABLE", vec![format!("relation \"{name}\" does not exist, skipping")]));
        }
        Err(error) => return Err(error),
    };
    let [operation] = alter.operations.as_slice() else {
        return Err(unsupported("ALTER TABLE with more than one action"));
    };
    match operation {
        AlterTableOperation::AddColumn {
            if_not_exists: false, column_def, column_position: None, ..
        } => {
            require(running, &name, &table, Operation::AlterTableAddColumn)?;
            add_column(running, &name, column_def).await?;
        }
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            require(running, &name, &table, Operation::AlterTableRenameColumn)?;
            let (from, to) = (fold_ident(old_column_name), fold_ident(new_column_name));
            rename_column(running, &name, &table, (&from, &to), call.text).await?;
        }
        AlterTableOperation::DropColumn { column_names, if_exists: false, drop_behavior: None, .. } => {
            require(running, &name, &table, Operation::AlterTableDropColumn)?;
            let [column] = column_names.as_slice() else {
                return Err(unsupported("dropping several columns at once"));
            };
            drop_column(running, &name, &table, &fold_ident(column)).await?;
        }
        other => return Err(unsupported(format!("ALTER TABLE … {}", action_words(other)))),
    }
    running.audit_change("alter", &name.to_string(), "table", call.text, None);
    Ok(done("ALTER TABLE", Vec::new()))
}

fn action_words(operation: &AlterTableOperation) -> String {
    operation
        .to_string()
        .split_whitespace()
        .take(2)
        .take_while(|word| word.chars().all(|c| c.is_ascii_uppercase()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn require(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    operation: Operation,
) -> Result<(), QueryError> {
    running.require(operation, &table_object(name), table.owner.as_deref(), &format!("alter table {name}"))
}

async fn add_column(
    running: &Running,
    name: &RelationName,
    column: &ast::ColumnDef,
) -> Result<(), QueryError> {
    let mut folded = column.clone();
    folded.name = ast::Ident::with_quote('"', fold_ident(&column.name));
    let schema = arrow_schema(vec![folded])?;
    let Some(field) = schema.fields().first() else {
        return Err(crate::error::internal());
    };
    let catalog = running.catalog(&name.catalog)?;
    catalog.add_column(&name.namespace, &name.name, field).await.map_err(|error| from_catalog(&error))?;
    Ok(())
}

async fn rename_column(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    (from, to): (&str, &str),
    text: &str,
) -> Result<(), QueryError> {
    let field_id = field_id(name, table, from)?;
    if table.schema.index_of(to).is_ok() {
        return Err(super::named_twice(to));
    }
    refuse_read(running, name, from, field_id)?;
    // Before any policy says it: a name that cannot be one would be a pattern there.
    let catalog = running.catalog(&name.catalog)?;
    catalog.check_column_name(table, from, to).map_err(|error| from_catalog(&error))?;
    // The policies learn the new name before the table bears it: a crash in between leaves a name too many.
    let edit = Edit::RenameColumn {
        service: running.snapshot.gate_two_service(&name.catalog).to_owned(),
        database: name.database(),
        table: name.name.clone(),
        from: from.to_owned(),
        to: to.to_owned(),
        field_id: Some(field_id),
        uuid: Some(table.uuid.to_string()),
    };
    crate::governance::commit(running, &edit, "rename", text).await?;
    catalog
        .rename_column(&name.namespace, &name.name, from, to)
        .await
        .map_err(|error| from_catalog(&error))?;
    Ok(())
}

/// A column that a policy needs cannot go (L7).
pub(super) fn refuse_needed(
    running: &Running,
    name: &RelationName,
    column: &str,
    field_id: i32,
) -> Result<(), QueryError> {
    let service = running.snapshot.gate_two_service(&name.catalog);
    let snapshot = &running.snapshot;
    let mut needing =
        policy::edit::needs_column(snapshot, service, &name.database(), &name.name, column, Some(field_id));
    needing.extend(policy::edit::reads_column(snapshot, &name.to_string(), column, field_id));
    refuse_if_any(running, name, column, &needing)
}

/// A column that the sub-query of a policy reads keeps its name: the text would come to mean another.
fn refuse_read(
    running: &Running,
    name: &RelationName,
    column: &str,
    field_id: i32,
) -> Result<(), QueryError> {
    let reading = policy::edit::reads_column(&running.snapshot, &name.to_string(), column, field_id);
    refuse_if_any(running, name, column, &reading)
}

/// A column by whose tag rows are filtered cannot go, or the filter would go with it (L7).
pub(super) fn refuse_filtering(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    (column, field_id): (&str, i32),
) -> Result<(), QueryError> {
    let tags = running.engine.settings.tag_source.field_tags(table);
    let tags = tags.map_err(|_| crate::error::policy_unavailable(&name.to_string()))?;
    let own = tags.get(&field_id).into_iter().flatten();
    let policies = running.snapshot.state().policies.values();
    let filters: Vec<_> = policies.filter(|policy| policy.kind == PolicyKind::RowFilter).collect();
    let mut needing = Vec::new();
    for tag in own {
        let of_tag = filters.iter().filter(|policy| policy::edit::speaks_of(&running.snapshot, policy, tag));
        needing.extend(of_tag.map(|policy| policy.name.clone()));
    }
    refuse_if_any(running, name, column, &needing)
}

fn refuse_if_any(
    running: &Running,
    name: &RelationName,
    column: &str,
    needing: &[String],
) -> Result<(), QueryError> {
    if !needing.is_empty() {
        // Only who may see policies learns their names (L7, L8).
        let which = if running.is_admin() { format!(": {}", needing.join(", ")) } else { String::new() };
        return Err(QueryError::new(
            ErrorKind::Dependent,
            format!("column `{column}` is needed by a policy on table {name}{which}"),
        )
        .with_hint("drop or change the policy first"));
    }
    Ok(())
}

async fn drop_column(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    column: &str,
) -> Result<(), QueryError> {
    let field_id = field_id(name, table, column)?;
    refuse_needed(running, name, column, field_id)?;
    refuse_filtering(running, name, table, (column, field_id))?;
    let catalog = running.catalog(&name.catalog)?;
    catalog.drop_column(&name.namespace, &name.name, column).await.map_err(|error| from_catalog(&error))?;
    Ok(())
}

fn field_id(name: &RelationName, table: &catalog::TableHandle, column: &str) -> Result<i32, QueryError> {
    let position = table.schema.index_of(column).ok();
    position.and_then(|i| table.field_ids.get(i).copied()).ok_or_else(|| {
        QueryError::new(ErrorKind::ColumnNotFound, format!("no such column `{column}` in table {name}"))
    })
}
