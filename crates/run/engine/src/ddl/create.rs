//! CREATE SCHEMA, CREATE TABLE and CREATE TABLE AS.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::{COLUMN_TAGS, CatalogError, column_tags_text};
use datafusion::arrow::datatypes::{Field, Schema};
use policy::operation::{Object, Operation};
use query_api::{Outcome, QueryError};
use sqlparser::ast::{self, helpers::stmt_create_table::CreateTableBuilder};
use stdx::ErrorKind;

use super::{arrow_schema, done, in_the_way, name_refused, named_twice, require_namespace};
use crate::error::{catalog_not_found, from_catalog, unsupported};
use crate::names::{RelationName, fold_ident, parts_of};
use crate::query;
use crate::resolve::{Found, find};
use crate::running::Running;
use crate::session::invalid;
use crate::statement::Call;
use crate::tags::Carried;

/// The table property that names its owner.
const OWNER: &str = "owner";

pub(crate) async fn create_schema(
    running: &Running,
    sql: ast::Statement,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let ast::Statement::CreateSchema {
        schema_name, if_not_exists, with, options, default_collate_spec, ..
    } = sql
    else {
        return Err(crate::error::internal());
    };
    if with.is_some() || options.is_some() || default_collate_spec.is_some() {
        return Err(unsupported("CREATE SCHEMA with options"));
    }
    let ast::SchemaName::Simple(name) = schema_name else {
        return Err(unsupported("CREATE SCHEMA … AUTHORIZATION"));
    };
    let (catalog_name, namespace) = running.path.namespace(&parts_of(&name)?)?;
    let is_reserved =
        |part: &String| [crate::names::INFORMATION_SCHEMA, crate::names::PG_CATALOG].contains(&part.as_str());
    if namespace.iter().any(is_reserved) || namespace.first().is_some_and(|part| part == crate::names::SYS) {
        return Err(invalid("this schema name is reserved"));
    }
    if !running.sees_catalog(&catalog_name) {
        return Err(catalog_not_found(&catalog_name));
    }
    let object = Object::Catalog { catalog: catalog_name.clone() };
    running.require(
        Operation::CreateSchema,
        &object,
        None,
        &format!("create a schema in catalog {catalog_name}"),
    )?;
    let catalog = running.catalog(&catalog_name)?;
    let exists = catalog.namespace_exists(&namespace).await.map_err(|error| from_catalog(&error))?;
    if exists && !running.sees_namespace(&catalog_name, &namespace) {
        // The words for one who may make none at all; see `in_the_way`.
        return Err(schema_denied(&catalog_name));
    }
    if if_not_exists && exists {
        return Ok(done(
            "CREATE SCHEMA",
            vec![format!("schema \"{}\" already exists, skipping", namespace.join("."))],
        ));
    }
    match catalog.create_namespace(&namespace).await {
        Ok(()) => {}
        Err(CatalogError::CaseTwin { existing, .. })
            if !running.sees_namespace(
                &catalog_name,
                &existing.split('.').map(str::to_owned).collect::<Vec<_>>(),
            ) =>
        {
            return Err(schema_denied(&catalog_name));
        }
        Err(error) => return Err(from_catalog(&error)),
    }
    running.audit_change(
        "create",
        &format!("{catalog_name}.{}", namespace.join(".")),
        "schema",
        call.text,
        None,
    );
    Ok(done("CREATE SCHEMA", Vec::new()))
}

fn schema_denied(catalog: &str) -> QueryError {
    let reason = format!("permission denied to create a schema in catalog {catalog}");
    QueryError::new(ErrorKind::Denied, reason)
}

pub(crate) async fn create_table(
    running: &Running,
    create: ast::CreateTable,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    refuse_unknown_clauses(&create)?;
    let name = running.path.relation(&parts_of(&create.name)?)?;
    if name.is_virtual() {
        return Err(invalid("tables cannot be made in this schema"));
    }
    let tag = if create.query.is_some() { "CREATE TABLE AS" } else { "CREATE TABLE" };
    require_namespace(running, &name, Operation::CreateTable, "create a table").await?;
    let found = find(running, &name).await?;
    if create.or_replace && create.if_not_exists {
        return Err(invalid("OR REPLACE and IF NOT EXISTS exclude each other"));
    }
    if let (Found::Table(old), true) = (&found, create.or_replace) {
        return Box::pin(super::replace::replace(running, &name, old, create, tag, call)).await;
    }
    if !matches!(found, Found::Nothing) {
        let error = in_the_way(running, &name, &found, "create a table");
        if create.if_not_exists && error.kind() == ErrorKind::TableExists {
            return Ok(done(tag, vec![format!("relation \"{}\" already exists, skipping", name.name)]));
        }
        return Err(error);
    }
    let partition_by = partition_columns(create.partition_by.as_deref())?;
    let n_rows = match create.query {
        Some(query) if create.columns.is_empty() => {
            Some(create_as(running, &name, *query, &partition_by, call).await?)
        }
        Some(_) => return Err(unsupported("CREATE TABLE with both columns and a query")),
        None => {
            let schema = arrow_schema(create.columns)?;
            let catalog = running.catalog(&name.catalog)?;
            let made = catalog
                .create_table(&name.namespace, &name.name, &schema, &partition_by, properties(running))
                .await;
            if let Err(error) = made {
                return Err(name_refused(running, &name, &error, "create a table").await);
            }
            None
        }
    };
    running.audit_change("create", &name.to_string(), "table", call.text, n_rows);
    Ok(Outcome::Done { tag, n_rows, notices: protected_by_name(running, "table", &name) })
}

/// Every clause that is not known to be honoured is refused: the statement is rebuilt from the known ones.
fn refuse_unknown_clauses(create: &ast::CreateTable) -> Result<(), QueryError> {
    let known = CreateTableBuilder::new(create.name.clone())
        .columns(create.columns.clone())
        .query(create.query.clone())
        .if_not_exists(create.if_not_exists)
        .or_replace(create.or_replace)
        .partition_by(create.partition_by.clone())
        .hive_distribution(create.hive_distribution.clone())
        .hive_formats(create.hive_formats.clone())
        .build();
    let plain = matches!(create.hive_distribution, ast::HiveDistributionStyle::NONE)
        && create.hive_formats.as_ref().is_none_or(|formats| *formats == ast::HiveFormat::default());
    if plain && known.to_string() == create.to_string() {
        Ok(())
    } else {
        Err(unsupported("a clause of this CREATE TABLE"))
    }
}

/// `PARTITION BY (a, b)`: columns as they are.
pub(super) fn partition_columns(expr: Option<&ast::Expr>) -> Result<Vec<String>, QueryError> {
    let columns = match expr {
        None => return Ok(Vec::new()),
        Some(ast::Expr::Tuple(columns)) => columns.iter().collect(),
        Some(ast::Expr::Nested(column)) => vec![column.as_ref()],
        Some(column) => vec![column],
    };
    columns
        .into_iter()
        .map(|column| match column {
            ast::Expr::Identifier(ident) => Ok(fold_ident(ident)),
            _ => Err(unsupported("partitioning by anything but a column")),
        })
        .collect()
}

fn properties(running: &Running) -> HashMap<String, String> {
    HashMap::from([(OWNER.to_owned(), running.who.user.clone())])
}

/// The new table holds what its maker may see, and is seen by nobody before it is whole (L9).
async fn create_as(
    running: &Running,
    name: &RelationName,
    source: ast::Query,
    partition_by: &[String],
    call: &Call<'_>,
) -> Result<u64, QueryError> {
    let governed = query::govern(running, ast::Statement::Query(Box::new(source)), call.parameters).await?;
    let record = running.audit_query(&governed.resolved, call.text);
    let written = fill(running, name, &governed, partition_by).await;
    record.finish(running, *written.as_ref().unwrap_or(&0), written.as_ref().err());
    written
}

async fn fill(
    running: &Running,
    name: &RelationName,
    governed: &query::Governed,
    partition_by: &[String],
) -> Result<u64, QueryError> {
    let rows = query::execute(running, governed).await?;
    let schema = storable(&rows.schema())?;
    let catalog = running.catalog(&name.catalog)?;
    // The tags of what is read go along, and the table bears them from its first moment.
    let tags = Carried::of(governed)?.named(schema.fields().iter().map(|field| field.name()));
    let mut properties = properties(running);
    properties.extend(column_tags_text(&tags).map(|text| (COLUMN_TAGS.to_owned(), text)));
    let begun = catalog.begin_create(&name.namespace, &name.name, &schema, partition_by, properties).await;
    let mut pending = match begun {
        Ok(pending) => pending,
        Err(error) => return Err(name_refused(running, name, &error, "create a table").await),
    };
    match pending.append(rows).await {
        Ok(n_rows) => {
            let table = pending.commit().await.map_err(|error| from_catalog(&error))?;
            crate::tags::project(running, name, &table, &tags).await?;
            Ok(n_rows)
        }
        Err(error) => {
            pending.abandon().await;
            Err(from_catalog(&error))
        }
    }
}

/// A query's columns as a table can have them: named once each, of types that Iceberg knows, all nullable.
pub(super) fn storable(schema: &Schema) -> Result<Arc<Schema>, QueryError> {
    use datafusion::arrow::datatypes::DataType;
    let mut fields: Vec<Field> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let name = crate::titles::shown(field.name());
        if fields.iter().any(|other| other.name() == name) {
            return Err(named_twice(name));
        }
        let stored = match field.data_type() {
            DataType::Null => DataType::Utf8,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => DataType::Int32,
            DataType::UInt32 => DataType::Int64,
            DataType::UInt64 => DataType::Decimal128(20, 0),
            DataType::Dictionary(_, value) => value.as_ref().clone(),
            other => other.clone(),
        };
        fields.push(Field::new(name, stored, true));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// Says so when the new table's name falls under a policy that was there before (L7).
pub(crate) fn protected_by_name(running: &Running, what: &str, name: &RelationName) -> Vec<String> {
    let service = running.snapshot.gate_two_service(&name.catalog);
    let n = policy::edit::policies_on(&running.snapshot, service, &name.database(), &name.name).len();
    match n {
        0 => Vec::new(),
        _ => vec![format!("{what} {name} is protected by name: policies written for this name apply to it")],
    }
}
