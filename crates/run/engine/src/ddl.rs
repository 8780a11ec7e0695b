//! CREATE, DROP and ALTER of schemas, tables and views on Iceberg.

mod alter;
mod create;
mod drop;
mod refs;
mod rename;
mod replace;
mod view;

use catalog::CatalogError;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::sql::planner::SqlToRel;
use policy::operation::Operation;
use query_api::{Outcome, QueryError};
use sqlparser::ast::{self, ColumnDef, Ident};
use stdx::ErrorKind;

pub(crate) use alter::alter_table;
pub(crate) use create::{create_schema, create_table};
pub(crate) use drop::drop;
pub(crate) use refs::alter_refs;
pub(crate) use rename::rename;
pub(crate) use view::create_view;

use crate::error::{from_catalog, from_datafusion, table_not_found, unsupported};
use crate::names::RelationName;
use crate::policy_expr::parser_options;
use crate::resolve::{Found, find};
use crate::running::{Running, namespace_object};

pub(crate) fn done(tag: &'static str, notices: Vec<String>) -> Outcome {
    Outcome::Done { tag, n_rows: None, notices }
}

/// The Arrow type of an SQL type.
pub(crate) fn arrow_type(sql: &ast::DataType) -> Result<DataType, QueryError> {
    let column = ColumnDef { name: Ident::new("c"), data_type: sql.clone(), options: Vec::new() };
    let schema = arrow_schema(vec![column])?;
    schema
        .fields()
        .first()
        .map(|field| field.data_type().clone())
        .ok_or_else(|| unsupported(format!("type {sql}")))
}

/// The schema of a list of column definitions; NOT NULL is the one constraint that is kept.
pub(crate) fn arrow_schema(columns: Vec<ColumnDef>) -> Result<Schema, QueryError> {
    for column in &columns {
        for option in &column.options {
            match &option.option {
                ast::ColumnOption::Null | ast::ColumnOption::NotNull => {}
                other => return Err(unsupported(format!("column option `{other}`"))),
            }
        }
    }
    let empty = datafusion::execution::session_state::SessionStateBuilder::new().build();
    let (sources, files) = (std::collections::HashMap::new(), std::collections::HashMap::new());
    let names = crate::provider::Names {
        state: &empty,
        options: crate::provider::zoned(&empty),
        sources: &sources,
        files: &files,
        default_catalog: "",
        default_database: "",
    };
    SqlToRel::new_with_options(&names, parser_options().with_support_varchar_with_length(true))
        .build_schema(columns)
        .map_err(|error| from_datafusion(&error))
}

/// A namespace where something is to be made: it must be there for the user, and she must have the right.
pub(crate) async fn require_namespace(
    running: &Running,
    name: &RelationName,
    operation: Operation,
    what: &str,
) -> Result<(), QueryError> {
    let object = namespace_object(&name.catalog, &name.namespace);
    let may = running.may(operation, &object, None);
    if !may.is_allowed() {
        // One who may not see it is told that it is not there.
        crate::resolve::visible_namespace(running, &name.catalog, &name.namespace).await?;
        running.require(
            operation,
            &object,
            None,
            &format!("{what} in schema {}.{}", name.catalog, name.database()),
        )?;
    }
    let catalog = running.catalog(&name.catalog)?;
    let exists = catalog.namespace_exists(&name.namespace).await.map_err(|error| from_catalog(&error))?;
    if exists {
        Ok(())
    } else {
        Err(crate::error::schema_not_found(&format!("{}.{}", name.catalog, name.database())))
    }
}

/// A relation that the user may see; one that she may not is not found (L8).
pub(crate) async fn visible(running: &Running, name: &RelationName) -> Result<Found, QueryError> {
    let found = find(running, name).await?;
    let is_visible = match &found {
        Found::Table(table) => running.sees_table(name, table.owner.as_deref()),
        Found::View(view) => running.sees_view(name, Some(&view.owner)),
        Found::Nothing => false,
    };
    if is_visible { Ok(found) } else { Err(table_not_found(&name.to_string())) }
}

/// What stands in the way of a new relation. To one who may not see it, its name is one that she may not use: in the
/// words for one who may make nothing here, so that they tell neither that it is there nor what it is (L8).
pub(crate) fn in_the_way(running: &Running, name: &RelationName, found: &Found, what: &str) -> QueryError {
    let is_visible = match found {
        Found::Table(table) => running.sees_table(name, table.owner.as_deref()),
        Found::View(view) => running.sees_view(name, Some(&view.owner)),
        Found::Nothing => true,
    };
    if is_visible { exists(name) } else { denied(what, name) }
}

/// What a catalog says of a new name. Of another that differs by case alone only those learn who may see it (L8).
pub(crate) async fn name_refused(
    running: &Running,
    name: &RelationName,
    error: &CatalogError,
    what: &str,
) -> QueryError {
    if let CatalogError::CaseTwin { existing, .. } = error {
        let twin = RelationName { name: existing.clone(), ..name.clone() };
        if visible(running, &twin).await.is_err() {
            return denied(what, name);
        }
    }
    from_catalog(error)
}

fn denied(what: &str, name: &RelationName) -> QueryError {
    let schema = format!("{}.{}", name.catalog, name.database());
    QueryError::new(ErrorKind::Denied, format!("permission denied to {what} in schema {schema}"))
}

pub(crate) fn exists(name: &RelationName) -> QueryError {
    QueryError::new(ErrorKind::TableExists, format!("table '{name}' already exists"))
}

/// A column of a table or view is named once, however often its name may stand in a result.
pub(crate) fn named_twice(column: &str) -> QueryError {
    QueryError::new(ErrorKind::ObjectExists, format!("column `{column}` is specified more than once"))
        .with_hint("give one of them an alias")
}
