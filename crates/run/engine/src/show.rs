//! SHOW and DESCRIBE: each lists only what the caller may see.

pub(crate) mod governance;
mod policy_text;

use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use futures::StreamExt;
use policy::operation::Operation;
use query_api::{Outcome, QueryError, Rows};
use sqlparser::ast::{
    self, Ident, ObjectName, ShowStatementFilter, ShowStatementFilterPosition, ShowStatementOptions,
};
use stdx::ErrorKind;

use crate::ddl::visible as visible_relation;
use crate::error::{catalog_not_found, from_datafusion, table_not_found, unsupported};
use crate::names::parts_of;
use crate::resolve::{Found, visible_namespace};
use crate::running::{Running, table_object};
use crate::session::EngineSession;
use crate::settings;
use crate::types::sql_name;
use crate::visible::{self, RelationKind};

/// A batch as a statement's result.
pub(crate) fn rows(batch: RecordBatch, tag: &'static str) -> Outcome {
    let schema = batch.schema();
    let batches = futures::stream::once(async move { Ok(batch) }).boxed();
    Outcome::Rows { rows: Rows { schema, batches }, tag, notices: Vec::new() }
}

/// Rows of texts under a schema of texts; a column of truth values takes `true` and `false`.
pub(crate) fn text_rows(schema: &SchemaRef, lines: &[Vec<Option<String>>]) -> Result<Outcome, QueryError> {
    let arrays = schema
        .fields()
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let cells = lines.iter().map(|line| line.get(i).cloned().flatten());
            match field.data_type() {
                DataType::Boolean => {
                    Arc::new(cells.map(|cell| cell.map(|text| text == "true")).collect::<BooleanArray>())
                        as datafusion::arrow::array::ArrayRef
                }
                DataType::Int64 => Arc::new(
                    cells.map(|cell| cell.and_then(|text| text.parse().ok())).collect::<Int64Array>(),
                ),
                _ => Arc::new(cells.collect::<StringArray>()),
            }
        })
        .collect();
    let batch =
        RecordBatch::try_new(Arc::clone(schema), arrays).map_err(|error| from_datafusion(&error.into()))?;
    Ok(rows(batch, "SHOW"))
}

fn schema_of(names: &[&str]) -> SchemaRef {
    Arc::new(Schema::new(
        names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect::<Vec<_>>(),
    ))
}

/// The columns of a statement that shows something; `None` for any other.
pub(crate) fn columns(statement: &ast::Statement) -> Option<SchemaRef> {
    Some(match statement {
        ast::Statement::ShowTables { .. } | ast::Statement::ShowViews { .. } => {
            schema_of(&["catalog_name", "schema_name", "table_name", "table_type"])
        }
        ast::Statement::ShowSchemas { .. } => schema_of(&["catalog_name", "schema_name"]),
        ast::Statement::ShowCatalogs { .. } | ast::Statement::ShowDatabases { .. } => {
            schema_of(&["catalog_name"])
        }
        ast::Statement::ShowColumns { .. } | ast::Statement::ExplainTable { .. } => {
            schema_of(&["column_name", "data_type", "is_nullable"])
        }
        ast::Statement::ShowCreate { .. } => schema_of(&["name", "statement"]),
        ast::Statement::ShowVariable { variable } => {
            let name = setting_name(variable);
            if name == "all" { schema_of(&["name", "setting"]) } else { schema_of(&[&name]) }
        }
        _ => return None,
    })
}

pub(crate) async fn run(running: &Running, statement: &ast::Statement) -> Result<Outcome, QueryError> {
    let Some(schema) = columns(statement) else {
        return Err(crate::error::internal());
    };
    let lines = match statement {
        ast::Statement::ShowTables {
            terse: false, history: false, external: false, show_options, ..
        } => relations(running, show_options, None).await?,
        ast::Statement::ShowViews { terse: false, materialized: false, show_options } => {
            relations(running, show_options, Some(RelationKind::View)).await?
        }
        ast::Statement::ShowSchemas { terse: false, history: false, show_options } => {
            schemas(running, show_options).await?
        }
        ast::Statement::ShowCatalogs { terse: false, history: false, show_options }
        | ast::Statement::ShowDatabases { terse: false, history: false, show_options } => {
            let like = like(show_options)?;
            let catalogs = visible::catalogs(running).into_iter();
            catalogs.filter(|name| matches(like.as_deref(), name)).map(|name| vec![Some(name)]).collect()
        }
        ast::Statement::ShowColumns { show_options, .. } => {
            let Some(name) = show_options.show_in.as_ref().and_then(|scope| scope.parent_name.as_ref())
            else {
                return Err(QueryError::new(ErrorKind::Syntax, "SHOW COLUMNS needs FROM and a table"));
            };
            described(running, name).await?
        }
        ast::Statement::ExplainTable { table_name, .. } => described(running, table_name).await?,
        ast::Statement::ShowCreate { obj_type, obj_name } => created(running, *obj_type, obj_name).await?,
        _ => return Err(unsupported("this form of SHOW")),
    };
    text_rows(&schema, &lines)
}

fn like(options: &ShowStatementOptions) -> Result<Option<String>, QueryError> {
    if options.starts_with.is_some() || options.limit.is_some() || options.limit_from.is_some() {
        return Err(unsupported("STARTS WITH or LIMIT in SHOW"));
    }
    match &options.filter_position {
        None => Ok(None),
        Some(
            ShowStatementFilterPosition::Infix(ShowStatementFilter::Like(pattern))
            | ShowStatementFilterPosition::Suffix(ShowStatementFilter::Like(pattern)),
        ) => Ok(Some(pattern.clone())),
        Some(_) => Err(unsupported("a filter other than LIKE in SHOW")),
    }
}

/// SQL's LIKE over a name.
fn matches(pattern: Option<&str>, name: &str) -> bool {
    let Some(pattern) = pattern else {
        return true;
    };
    let mut regex = String::from("^");
    for c in pattern.chars() {
        match c {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    regex::Regex::new(&regex).is_ok_and(|regex| regex.is_match(name))
}

async fn relations(
    running: &Running,
    options: &ShowStatementOptions,
    only: Option<RelationKind>,
) -> Result<Vec<Vec<Option<String>>>, QueryError> {
    let like = like(options)?;
    let (catalog, namespace) = match options.show_in.as_ref().and_then(|scope| scope.parent_name.as_ref()) {
        Some(name) => {
            let (catalog, namespace) = running.path.namespace(&parts_of(name)?)?;
            visible_namespace(running, &catalog, &namespace).await?;
            (catalog, namespace)
        }
        None => (running.path.catalog.clone(), running.path.namespace.clone()),
    };
    let listed = visible::relations(running, &catalog, &namespace).await?;
    Ok(listed
        .into_iter()
        .filter(|relation| only.is_none_or(|kind| relation.kind == kind))
        .filter(|relation| matches(like.as_deref(), &relation.name.name))
        .map(|relation| {
            let kind = match relation.kind {
                RelationKind::Table => "TABLE",
                RelationKind::View => "VIEW",
            };
            vec![
                Some(catalog.clone()),
                Some(relation.name.database()),
                Some(relation.name.name),
                Some(kind.to_owned()),
            ]
        })
        .collect())
}

async fn schemas(
    running: &Running,
    options: &ShowStatementOptions,
) -> Result<Vec<Vec<Option<String>>>, QueryError> {
    let like = like(options)?;
    let catalog = match options.show_in.as_ref().and_then(|scope| scope.parent_name.as_ref()) {
        Some(name) => {
            let parts = parts_of(name)?;
            match parts.as_slice() {
                [catalog] if running.sees_catalog(catalog) => catalog.clone(),
                _ => return Err(catalog_not_found(&parts.join("."))),
            }
        }
        None => running.path.catalog.clone(),
    };
    if !running.sees_catalog(&catalog) {
        return Ok(Vec::new());
    }
    let namespaces = visible::namespaces(running, &catalog).await?;
    Ok(namespaces
        .into_iter()
        .map(|namespace| namespace.join("."))
        .filter(|name| matches(like.as_deref(), name))
        .map(|name| vec![Some(catalog.clone()), Some(name)])
        .collect())
}

/// The columns as SELECT shows them.
async fn described(running: &Running, name: &ObjectName) -> Result<Vec<Vec<Option<String>>>, QueryError> {
    let name = running.path.relation(&parts_of(name)?)?;
    let schema = match visible_relation(running, &name).await? {
        Found::Table(table) => {
            let object = table_object(&name);
            if !running.may(Operation::DescribeTable, &object, table.owner.as_deref()).is_allowed() {
                return Err(table_not_found(&name.to_string()));
            }
            visible::seen_schema(running, &name, &table)
        }
        Found::View(_) => visible::view_schema(running, &name).await.ok_or_else(|| {
            QueryError::new(
                ErrorKind::TableNotFound,
                format!("view '{name}' reads a relation that was not found"),
            )
        })?,
        Found::Nothing => return Err(table_not_found(&name.to_string())),
    };
    Ok(schema
        .fields()
        .iter()
        .map(|field| {
            vec![
                Some(field.name().clone()),
                Some(sql_name(field.data_type())),
                Some(if field.is_nullable() { "YES" } else { "NO" }.to_owned()),
            ]
        })
        .collect())
}

async fn created(
    running: &Running,
    kind: ast::ShowCreateObject,
    name: &ObjectName,
) -> Result<Vec<Vec<Option<String>>>, QueryError> {
    let name = running.path.relation(&parts_of(name)?)?;
    match (visible_relation(running, &name).await?, kind) {
        // A view's text may name what its reader may not see; one who may read it may read the text.
        (Found::View(view), ast::ShowCreateObject::View) => {
            let may_know = visible::may_know_text(running, &name, &view);
            if !may_know || visible::view_schema(running, &name).await.is_none() {
                return Err(table_not_found(&name.to_string()));
            }
            Ok(vec![vec![Some(name.to_string()), Some(visible::view_statement(&name, &view))]])
        }
        (Found::Table(table), ast::ShowCreateObject::Table) => {
            let schema = visible::seen_schema(running, &name, &table);
            let columns: Vec<String> = schema
                .fields()
                .iter()
                .map(|field| {
                    let not_null = if field.is_nullable() { "" } else { " NOT NULL" };
                    format!(
                        "\"{}\" {}{not_null}",
                        field.name().replace('"', "\"\""),
                        sql_name(field.data_type())
                    )
                })
                .collect();
            Ok(vec![vec![
                Some(name.to_string()),
                Some(format!("CREATE TABLE {name} ({})", columns.join(", "))),
            ]])
        }
        (_, ast::ShowCreateObject::Table | ast::ShowCreateObject::View) => {
            Err(table_not_found(&name.to_string()))
        }
        (_, other) => Err(unsupported(format!("SHOW CREATE {other}"))),
    }
}

fn setting_name(variable: &[Ident]) -> String {
    let words: Vec<String> = variable.iter().map(|word| word.value.to_lowercase()).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["time", "zone"] => "timezone".to_owned(),
        ["transaction", "isolation", "level"] => "transaction_isolation".to_owned(),
        ["session", "authorization"] => "session_authorization".to_owned(),
        _ => words.join("."),
    }
}

pub(crate) fn setting(session: &EngineSession, variable: &[Ident]) -> Result<Outcome, QueryError> {
    let name = setting_name(variable);
    let vars = session.vars();
    let user = &session.principal.user;
    if name == "all" {
        let lines: Vec<_> = settings::all(&vars, user)
            .into_iter()
            .map(|(name, value)| vec![Some(name), Some(value)])
            .collect();
        return text_rows(&schema_of(&["name", "setting"]), &lines);
    }
    match settings::value(&vars, user, &name) {
        Some(value) => text_rows(&schema_of(&[&name]), &[vec![Some(value)]]),
        None => Err(QueryError::new(ErrorKind::ObjectNotFound, format!("no such setting `{name}`"))),
    }
}
