//! DROP TABLE, VIEW and SCHEMA: all the objects named, or none.

use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast::{self, ObjectType};
use stdx::ErrorKind;

use super::{done, visible};
use crate::error::{from_catalog, schema_not_found, table_not_found, unsupported};
use crate::names::{RelationName, parts_of};
use crate::resolve::{Found, visible_namespace};
use crate::running::{Running, namespace_object, table_object, view_object};
use crate::statement::Call;

enum Target {
    Table(RelationName),
    View(RelationName),
    Schema(String, Vec<String>),
}

pub(crate) async fn drop(
    running: &Running,
    sql: ast::Statement,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let ast::Statement::Drop { object_type, if_exists, names, cascade, restrict: _, purge, temporary, table } =
        sql
    else {
        return Err(crate::error::internal());
    };
    if cascade || purge || temporary || table.is_some() {
        return Err(unsupported("DROP with CASCADE, PURGE or TEMPORARY"));
    }
    let tag = match object_type {
        ObjectType::Table => "DROP TABLE",
        ObjectType::View => "DROP VIEW",
        ObjectType::Schema => "DROP SCHEMA",
        other => return Err(unsupported(format!("DROP {other}"))),
    };
    let mut targets = Vec::new();
    let mut notices = Vec::new();
    // Everything is looked up and checked before the first object goes.
    for name in &names {
        let parts = parts_of(name)?;
        match checked(running, &object_type, &parts).await {
            Ok(target) => targets.push(target),
            Err(error) if if_exists && is_absent(&error) => {
                notices.push(format!("{} does not exist, skipping", parts.join(".")));
            }
            Err(error) => return Err(error),
        }
    }
    for target in targets {
        remove(running, target, call).await?;
    }
    Ok(done(tag, notices))
}

fn is_absent(error: &QueryError) -> bool {
    use stdx::ErrorKind::{CatalogNotFound, SchemaNotFound, TableNotFound};
    matches!(error.kind(), TableNotFound | SchemaNotFound | CatalogNotFound)
}

async fn checked(running: &Running, kind: &ObjectType, parts: &[String]) -> Result<Target, QueryError> {
    if matches!(kind, ObjectType::Schema) {
        let (catalog, namespace) = running.path.namespace(parts)?;
        let object = namespace_object(&catalog, &namespace);
        if !running.engine.catalogs.contains_key(&catalog) {
            return Err(schema_not_found(&format!("{catalog}.{}", namespace.join("."))));
        }
        if !running.may(Operation::DropSchema, &object, None).is_allowed() {
            visible_namespace(running, &catalog, &namespace).await?;
            running.require(
                Operation::DropSchema,
                &object,
                None,
                &format!("drop schema {catalog}.{}", namespace.join(".")),
            )?;
        }
        let found = running.catalog(&catalog)?;
        if !found.namespace_exists(&namespace).await.map_err(|error| from_catalog(&error))? {
            return Err(schema_not_found(&format!("{catalog}.{}", namespace.join("."))));
        }
        return Ok(Target::Schema(catalog, namespace));
    }
    let name = running.path.relation(parts)?;
    match (visible(running, &name).await?, kind) {
        (Found::Table(table), ObjectType::Table) => {
            running.require(
                Operation::DropTable,
                &table_object(&name),
                table.owner.as_deref(),
                &format!("drop table {name}"),
            )?;
            refuse_read_by_policies(running, &name)?;
            Ok(Target::Table(name))
        }
        (Found::View(view), ObjectType::View) => {
            running.require(
                Operation::DropView,
                &view_object(&name),
                Some(&view.owner),
                &format!("drop view {name}"),
            )?;
            refuse_read_by_policies(running, &name)?;
            Ok(Target::View(name))
        }
        _ => Err(table_not_found(&name.to_string())),
    }
}

/// A relation that the sub-query of a policy reads must be there, under the name that it is read by (L7).
pub(super) fn refuse_read_by_policies(running: &Running, name: &RelationName) -> Result<(), QueryError> {
    let reading = policy::edit::needs_relation(&running.snapshot, &name.to_string());
    if reading.is_empty() {
        return Ok(());
    }
    // Only who may see policies learns their names (L7, L8).
    let which = if running.is_admin() { format!(": {}", reading.join(", ")) } else { String::new() };
    Err(QueryError::new(ErrorKind::Dependent, format!("a policy reads {name}{which}"))
        .with_hint("drop or change the policy first"))
}

async fn remove(running: &Running, target: Target, call: &Call<'_>) -> Result<(), QueryError> {
    match target {
        Target::Table(name) => {
            let catalog = running.catalog(&name.catalog)?;
            catalog.drop_table(&name.namespace, &name.name).await.map_err(|error| from_catalog(&error))?;
            running.audit_change("drop", &name.to_string(), "table", call.text, None);
        }
        Target::View(name) => {
            let catalog = running.catalog(&name.catalog)?;
            catalog.drop_view(&name.namespace, &name.name).await.map_err(|error| from_catalog(&error))?;
            running.audit_change("drop", &name.to_string(), "view", call.text, None);
        }
        Target::Schema(catalog_name, namespace) => {
            let catalog = running.catalog(&catalog_name)?;
            catalog.drop_namespace(&namespace).await.map_err(|error| from_catalog(&error))?;
            let full = format!("{catalog_name}.{}", namespace.join("."));
            running.audit_change("drop", &full, "schema", call.text, None);
        }
    }
    Ok(())
}
