//! What a user may know to exist: catalogs, schemas, tables and views, each with the columns that she sees.

use std::sync::Arc;

use catalog::{Catalog, View, ViewSecurity};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use policy::ColumnRule;
use policy::operation::Operation;
use query_api::QueryError;

use crate::error::from_catalog;
use crate::names::RelationName;
use crate::resolve::{self, Resolved};
use crate::rules::rules_for;
use crate::running::{Running, view_object};

/// Names that completion offers at most.
const COMPLETIONS_MAX: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelationKind {
    Table,
    View,
}

/// A relation as its reader sees it.
#[derive(Clone, Debug)]
pub(crate) struct VisibleRelation {
    pub(crate) name: RelationName,
    pub(crate) kind: RelationKind,
    /// `None`: a view that the reader may see, over something that she may not.
    pub(crate) schema: Option<SchemaRef>,
    /// A view's text.
    pub(crate) sql: Option<String>,
}

/// The catalogs that a user may know of, in configured order.
pub(crate) fn catalogs(running: &Running) -> Vec<String> {
    running.engine.catalog_order.iter().filter(|name| running.sees_catalog(name)).cloned().collect()
}

pub(crate) async fn namespaces(running: &Running, catalog: &str) -> Result<Vec<Vec<String>>, QueryError> {
    let Some(found) = running.engine.catalogs.get(catalog) else {
        return Ok(Vec::new());
    };
    let all = found.namespaces().await.map_err(|error| from_catalog(&error))?;
    Ok(all.into_iter().filter(|namespace| running.sees_namespace(catalog, namespace)).collect())
}

/// The relations of one namespace that are listed for a user: she must see the namespace, too.
pub(crate) async fn relations(
    running: &Running,
    catalog: &str,
    namespace: &[String],
) -> Result<Vec<VisibleRelation>, QueryError> {
    let Some(found) = running.engine.catalogs.get(catalog) else {
        return Ok(Vec::new());
    };
    let exists = found.namespace_exists(namespace).await.map_err(|error| from_catalog(&error))?;
    if !exists || !running.sees_namespace(catalog, namespace) {
        return Ok(Vec::new());
    }
    let mut listed = tables(running, found, catalog, namespace).await?;
    for view_name in found.views(namespace).await.map_err(|error| from_catalog(&error))? {
        let name = full(catalog, namespace, view_name);
        let Some(view) =
            found.load_view(namespace, &name.name).await.map_err(|error| from_catalog(&error))?
        else {
            continue;
        };
        if !running.sees_view(&name, Some(&view.owner)) {
            continue;
        }
        let schema = view_schema(running, &name).await;
        let sql = may_know_text(running, &name, &view).then_some(view.sql);
        listed.push(VisibleRelation { name, kind: RelationKind::View, schema, sql });
    }
    // What got another name meanwhile is not known to this statement's policies by it (L7).
    running.check_names()?;
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listed)
}

async fn tables(
    running: &Running,
    found: &Arc<Catalog>,
    catalog: &str,
    namespace: &[String],
) -> Result<Vec<VisibleRelation>, QueryError> {
    let mut listed = Vec::new();
    for table_name in found.tables(namespace).await.map_err(|error| from_catalog(&error))? {
        let name = full(catalog, namespace, table_name);
        // Dropped meanwhile: it is no longer there to be listed.
        let Some(table) = found.load(namespace, &name.name).await.map_err(|error| from_catalog(&error))?
        else {
            continue;
        };
        if !running.sees_table(&name, table.owner.as_deref()) {
            continue;
        }
        let schema = seen_schema(running, &name, &table);
        listed.push(VisibleRelation { name, kind: RelationKind::Table, schema: Some(schema), sql: None });
    }
    Ok(listed)
}

fn full(catalog: &str, namespace: &[String], name: String) -> RelationName {
    RelationName { catalog: catalog.to_owned(), namespace: namespace.to_vec(), name }
}

/// The columns with the nullability that masks and restrictions give them, as SELECT shows them (L1).
pub(crate) fn seen_schema(running: &Running, name: &RelationName, table: &catalog::TableHandle) -> SchemaRef {
    let rules = rules_for(running, name, table);
    let fields: Vec<Field> = table
        .schema
        .fields()
        .iter()
        .zip(&rules.columns)
        .map(|(field, rule)| {
            let is_raw = matches!(rule, ColumnRule::Raw);
            Field::new(field.name(), field.data_type().clone(), field.is_nullable() || !is_raw)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The text of a view that reads with its owner's rights may name what its reader may not see, and is for those who
/// may write it.
pub(crate) fn may_know_text(running: &Running, name: &RelationName, view: &View) -> bool {
    match view.security {
        ViewSecurity::Invoker => true,
        ViewSecurity::Definer => {
            running.may(Operation::ReplaceView, &view_object(name), Some(&view.owner)).is_allowed()
        }
    }
}

/// The statement that makes a view.
pub(crate) fn view_statement(name: &RelationName, view: &View) -> String {
    let columns = match view.columns.as_slice() {
        [] => String::new(),
        columns => {
            let quoted = columns.iter().map(|column| format!("\"{}\"", column.replace('"', "\"\"")));
            format!(" ({})", quoted.collect::<Vec<_>>().join(", "))
        }
    };
    let security = match view.security {
        ViewSecurity::Invoker => "",
        ViewSecurity::Definer => " SECURITY DEFINER",
    };
    format!("CREATE VIEW {name}{columns}{security} AS {}", view.sql)
}

/// A view's columns as they come out for this reader.
pub(crate) async fn view_schema(running: &Running, name: &RelationName) -> Option<SchemaRef> {
    let mut statement = sqlparser::ast::Statement::Query(Box::new(select_all(name)?));
    let mut resolved = Resolved::default();
    let state = running.state();
    let plan = resolve::plan(running, &state, &mut statement, &mut resolved).await.ok()?;
    Some(Arc::new(plan.schema().as_arrow().clone()))
}

fn select_all(name: &RelationName) -> Option<sqlparser::ast::Query> {
    let sql = format!("SELECT * FROM {}", crate::names::quoted(name));
    match dialect::parse(&sql).ok()? {
        dialect::ast::Statement::Sql(statement) => match *statement {
            sqlparser::ast::Statement::Query(query) => Some(*query),
            _ => None,
        },
        _ => None,
    }
}

/// Visible names that begin with a prefix, for completion in a shell.
pub(crate) async fn complete(running: &Running, prefix: &str) -> Result<Vec<String>, QueryError> {
    let mut names = catalogs(running);
    let catalog = running.path.catalog.clone();
    for namespace in namespaces(running, &catalog).await? {
        let dotted = namespace.join(".");
        for relation in relations(running, &catalog, &namespace).await? {
            if namespace == running.path.namespace {
                names.push(relation.name.name.clone());
            }
            names.push(format!("{dotted}.{}", relation.name.name));
            names.push(relation.name.to_string());
            if let Some(schema) = relation.schema {
                names.extend(schema.fields().iter().map(|field| field.name().clone()));
            }
        }
        names.push(dotted);
    }
    names.retain(|name| name.starts_with(prefix));
    names.sort();
    names.dedup();
    names.truncate(COMPLETIONS_MAX);
    Ok(names)
}
