//! Branches and tags of a table: made, moved and dropped.

use catalog::{NewRef, Version};
use dialect::ast::{RefAction, RefKind, RefVersion, TableRef};
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use stdx::ErrorKind;

use super::{done, visible};
use crate::error::{from_catalog, table_not_found};
use crate::names::parts_of_name;
use crate::resolve::Found;
use crate::running::{Running, table_object};
use crate::statement::Call;

pub(crate) async fn alter_refs(
    running: &Running,
    change: TableRef,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let name = running.path.relation(&parts_of_name(&change.table))?;
    let table = match visible(running, &name).await {
        Ok(Found::Table(table)) => table,
        Ok(_) => return Err(table_not_found(&name.to_string())),
        Err(error) if change.if_exists && error.kind() == ErrorKind::TableNotFound => {
            return Ok(done("ALTER TABLE", vec![format!("relation \"{name}\" does not exist, skipping")]));
        }
        Err(error) => return Err(error),
    };
    let operation = match change.action {
        RefAction::Create { .. } => Operation::SetSnapshotRef,
        RefAction::Drop { .. } => Operation::RemoveSnapshotRef,
    };
    let what = format!("alter table {name}");
    running.require(operation, &table_object(&name), table.owner.as_deref(), &what)?;
    if matches!(change.action, RefAction::Create { .. }) {
        // Whether there is a state to name tells whether anything was ever written, hidden rows included (L2).
        let what = format!("the states of table '{name}'");
        let _open = crate::metadata::require_open(running, &running.state(), &name, &table, &what).await?;
    }
    let is_branch = change.kind == RefKind::Branch;
    let catalog = running.catalog(&name.catalog)?;
    let (skipped, changed) = match change.action {
        RefAction::Create { or_replace, if_not_exists, version } => {
            let version = version.map(|version| match version {
                RefVersion::Snapshot(id) => Version::Snapshot(id),
                RefVersion::Name(name) => Version::Named(name),
            });
            let new = NewRef { name: change.name.value.clone(), is_branch, version, or_replace };
            let changed = catalog.create_ref(&name.namespace, &name.name, &new).await;
            (if_not_exists.then_some((ErrorKind::ObjectExists, "already exists")), changed)
        }
        RefAction::Drop { if_exists } => {
            let changed = catalog.drop_ref(&name.namespace, &name.name, &change.name.value, is_branch).await;
            (if_exists.then_some((ErrorKind::ObjectNotFound, "does not exist")), changed)
        }
    };
    match (changed, skipped) {
        (Ok(_), _) => {}
        (Err(error), Some((kind, why))) if error.kind() == kind => {
            let notice = format!("\"{}\" of relation \"{name}\" {why}, skipping", change.name.value);
            return Ok(done("ALTER TABLE", vec![notice]));
        }
        (Err(error), _) => return Err(from_catalog(&error)),
    }
    running.audit_change("alter", &name.to_string(), "table", call.text, None);
    Ok(done("ALTER TABLE", Vec::new()))
}
