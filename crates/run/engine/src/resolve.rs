//! Turns the names of a statement into sealed sources, each with the verdict for this user (L3, L8).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use catalog::{TableHandle, Version, View};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::TableReference;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::planner::SqlToRel;
use datafusion::sql::resolve::resolve_table_references;
use enforce::{ColumnVerdict, Relation, SealedSource, TableVerdict, governed_schema};
use futures::future::{BoxFuture, FutureExt};
use policy::TableRules;
use policy::operation::Operation;
use query_api::QueryError;
use sqlparser::ast;

use crate::bind::{self, Columns};
use crate::error::{from_catalog, from_datafusion, schema_not_found, table_not_found, unsupported};
use crate::files::FileRead;
use crate::names::{RelationName, SearchPath, write_in_full};
use crate::past::PastName;
use crate::policy_expr::parser_options;
use crate::provider::{Names, source_key};
use crate::rules::rules_for;
use crate::running::{Opener, Running, table_object, view_object};
use crate::statement::apart;
use crate::view;

/// A table of the statement, with what the audit record tells of it.
#[derive(Clone, Debug)]
pub(crate) struct TouchedTable {
    pub(crate) name: RelationName,
    pub(crate) is_restricting: bool,
    pub(crate) rules: Option<TableRules>,
    /// The names of its columns, in the order of the rules.
    pub(crate) columns: Vec<String>,
    /// Whether a view reads it with its owner's rights, so that it is not the reader's to know of.
    pub(crate) is_below: bool,
    pub(crate) gate_one: policy::Verdict,
}

/// Everything that the names of a statement stand for.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) sources: HashMap<String, Arc<dyn TableSource>>,
    pub(crate) files: HashMap<(String, String), Arc<dyn TableSource>>,
    pub(crate) verdicts: HashMap<Relation, Arc<TableVerdict>>,
    pub(crate) touched: Vec<TouchedTable>,
    /// The former states that the statement names, by number.
    pub(crate) past: Vec<PastName>,
    /// Whether it reads `information_schema`, `pg_catalog` or `sys`.
    pub(crate) reads_catalog: bool,
    /// What the text of a policy reads, by full name, views and what they stand on.
    pub(crate) read_by_policies: BTreeSet<String>,
    /// The views that are read, each with a digest of its text.
    pub(crate) views: BTreeMap<String, String>,
}

impl Resolved {
    /// Takes a verdict on. Two on one relation must say the same: one of them would be applied where the other is due.
    pub(crate) fn judge(&mut self, relation: Relation, verdict: Arc<TableVerdict>) -> Result<(), QueryError> {
        if self.verdicts.get(&relation).is_some_and(|own| **own != *verdict) {
            tracing::error!(table = %relation, "two verdicts on one relation");
            return Err(crate::error::internal());
        }
        self.verdicts.insert(relation, verdict);
        Ok(())
    }

    /// Takes on what a text within this one is cleared by.
    pub(crate) fn judge_all(
        &mut self,
        verdicts: HashMap<Relation, Arc<TableVerdict>>,
    ) -> Result<(), QueryError> {
        verdicts.into_iter().try_for_each(|(relation, verdict)| self.judge(relation, verdict))
    }

    /// Whether a policy hides anything of what is read; a view that is read with its owner's rights hides by itself.
    pub(crate) fn hides_anything(&self) -> bool {
        self.touched.iter().any(|table| match &table.rules {
            Some(rules) => rules.hide_anything(),
            None => table.is_restricting,
        })
    }

    pub(crate) fn is_restricting(&self) -> bool {
        self.touched.iter().any(|table| table.is_restricting)
    }
}

/// Plans a query: names resolve to sealed sources, views are put in place; nothing can run yet.
///
/// Boxed with its type written out: planning may list views, and listing a view plans it.
pub(crate) fn plan<'a>(
    running: &'a Running,
    state: &'a SessionState,
    statement: &'a mut ast::Statement,
    resolved: &'a mut Resolved,
) -> BoxFuture<'a, Result<LogicalPlan, QueryError>> {
    plan_in(running, state, statement, resolved, &running.path, 0).boxed()
}

/// Resolves the names of a statement that is planned elsewhere; its select list keeps the names that it has.
pub(crate) fn names<'a>(
    running: &'a Running,
    state: &'a SessionState,
    statement: &'a mut ast::Statement,
    resolved: &'a mut Resolved,
    path: &'a SearchPath,
) -> BoxFuture<'a, Result<(), QueryError>> {
    async move {
        write_names(running, statement, resolved, path)?;
        find_names(running, state, statement, resolved, path, 0).await
    }
    .boxed()
}

fn write_names(
    running: &Running,
    statement: &mut ast::Statement,
    resolved: &mut Resolved,
    path: &SearchPath,
) -> Result<(), QueryError> {
    crate::sample::write_out(statement)?;
    crate::clauses::refuse_unheeded(statement)?;
    crate::metadata::give_names(statement, path)?;
    write_in_full(statement, path)?;
    crate::past::take(running, statement, resolved, path)
}

async fn find_names(
    running: &Running,
    state: &SessionState,
    statement: &mut ast::Statement,
    resolved: &mut Resolved,
    path: &SearchPath,
    depth: usize,
) -> Result<(), QueryError> {
    crate::files::resolve(running, state, statement, &mut resolved.files).await?;
    let df_statement = DfStatement::Statement(Box::new(statement.clone()));
    let (references, _) =
        resolve_table_references(&df_statement, true).map_err(|error| from_datafusion(&error))?;
    for reference in references {
        resolve_one(running, state, &reference, resolved, path, depth).await?;
    }
    crate::pg::load_numbers(running, state, statement).await
}

pub(crate) async fn plan_in(
    running: &Running,
    state: &SessionState,
    statement: &mut ast::Statement,
    resolved: &mut Resolved,
    path: &SearchPath,
    depth: usize,
) -> Result<LogicalPlan, QueryError> {
    write_names(running, statement, resolved, path)?;
    crate::titles::give(statement);
    find_names(running, state, statement, resolved, path, depth).await?;
    let df_statement = DfStatement::Statement(Box::new(statement.clone()));
    let names = Names {
        state,
        options: crate::provider::zoned(state),
        sources: &resolved.sources,
        files: &resolved.files,
        default_catalog: &path.catalog,
        default_database: &path.namespace.join("."),
    };
    let planner = SqlToRel::new_with_options(&names, parser_options());
    let plan = planner.statement_to_plan(df_statement).map_err(|error| from_datafusion(&error))?;
    crate::plannable::rewrite(plan).map_err(|error| from_datafusion(&error))
}

/// The relation that a reference of the rewritten text means.
fn name_of(reference: &TableReference, path: &SearchPath) -> RelationName {
    let namespace = match reference.schema() {
        Some(database) => database.split('.').map(str::to_owned).collect(),
        None => path.namespace.clone(),
    };
    RelationName {
        catalog: reference.catalog().unwrap_or(&path.catalog).to_owned(),
        namespace,
        name: reference.table().to_owned(),
    }
}

async fn resolve_one(
    running: &Running,
    state: &SessionState,
    reference: &TableReference,
    resolved: &mut Resolved,
    path: &SearchPath,
    depth: usize,
) -> Result<(), QueryError> {
    if reference.schema().is_none()
        && (FileRead::is_function(reference.table()) || is_series(reference.table()))
    {
        return Ok(());
    }
    let past = crate::past::named(resolved, reference.table()).cloned();
    let mut name = past.as_ref().map_or_else(|| name_of(reference, path), |past| past.name.clone());
    if reference.schema().is_none() && crate::pg::is_catalog_table(&name.name) {
        name.namespace = vec![crate::names::PG_CATALOG.to_owned()];
    }
    let key = source_key(
        &name.catalog,
        &reference.schema().map_or_else(|| path.namespace.join("."), str::to_owned),
        reference.table(),
    );
    if resolved.sources.contains_key(&key) {
        return Ok(());
    }
    if running.is_policy_text() && (name.is_virtual() || crate::metadata::is_metadata_name(&name)) {
        return Err(unsupported("a catalog table or metadata table in a policy expression"));
    }
    let source: Arc<dyn TableSource> = if name.is_virtual() {
        resolved.reads_catalog = true;
        crate::pg::source(running, state, &name).await?
    } else if let Some(source) = crate::metadata::source(running, state, &name, resolved).await? {
        if past.is_some() {
            return Err(unsupported("a former state of a metadata table"));
        }
        source
    } else {
        let version = past.as_ref().map(|past| &past.version);
        relation_source(running, state, &name, version, resolved, depth).await?
    };
    resolved.sources.insert(key, source);
    Ok(())
}

fn is_series(name: &str) -> bool {
    matches!(name, "generate_series" | "range" | "unnest")
}

async fn relation_source(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    version: Option<&Version>,
    resolved: &mut Resolved,
    depth: usize,
) -> Result<Arc<dyn TableSource>, QueryError> {
    match find(running, name).await? {
        Found::Table(handle) if running.is_policy_text() => {
            let handle = match version {
                Some(version) => handle.at(version).map_err(|error| from_catalog(&error))?,
                None => handle,
            };
            whole_source(running, name, handle, resolved)
        }
        Found::Table(handle) => {
            let gate_one =
                running.may_read(Operation::SelectTable, &table_object(name), handle.owner.as_deref());
            if !gate_one.is_allowed() {
                running.audit_denied(Operation::SelectTable, &table_object(name), &gate_one);
                return Err(table_not_found(&name.to_string()));
            }
            let handle = match version {
                Some(version) => handle.at(version).map_err(|error| from_catalog(&error))?,
                None => handle,
            };
            let (rules, verdict) = apart(|| verdict_for(running, state, name, &handle)).await?;
            let relation = relation_of(running, name, &identity_of(&handle));
            let schema = governed_schema(&shown_columns(&handle), &verdict);
            resolved.touched.push(TouchedTable {
                name: name.clone(),
                is_restricting: verdict.is_restricting(),
                rules: Some(rules),
                columns: shown_columns(&handle).fields().iter().map(|field| field.name().clone()).collect(),
                is_below: false,
                gate_one,
            });
            resolved.judge(relation.clone(), Arc::new(verdict))?;
            let raw_schema = Arc::clone(&handle.schema);
            Ok(Arc::new(SealedSource::new(relation, raw_schema, schema, Arc::new(handle))))
        }
        Found::View(view) if running.is_policy_text() => {
            if version.is_some() {
                return Err(unsupported("a former state of a view"));
            }
            view::whole(running, state, name, &view, resolved, depth).await
        }
        Found::View(view) => {
            let gate_one = running.may_read(Operation::SelectView, &view_object(name), Some(&view.owner));
            if !gate_one.is_allowed() {
                running.audit_denied(Operation::SelectView, &view_object(name), &gate_one);
                return Err(table_not_found(&name.to_string()));
            }
            if version.is_some() {
                return Err(unsupported("a former state of a view"));
            }
            apart(|| view::source(running, state, name, &view, gate_one, resolved, depth)).await
        }
        Found::Nothing => Err(table_not_found(&name.to_string())),
    }
}

/// A table for the text of a policy: whole, for its author decides who sees what of it.
fn whole_source(
    running: &Running,
    name: &RelationName,
    handle: TableHandle,
    resolved: &mut Resolved,
) -> Result<Arc<dyn TableSource>, QueryError> {
    if !running.may_govern(name) {
        return Err(table_not_found(&name.to_string()));
    }
    resolved.read_by_policies.insert(name.to_string());
    let schema = shown_columns(&handle);
    let columns = handle.schema.fields().iter().map(|_| ColumnVerdict::Raw).collect();
    let snapshot_version = running.snapshot.version().0;
    let verdict = TableVerdict { filters: Vec::new(), columns, snapshot_version };
    let relation = relation_of(running, name, &identity_of(&handle));
    let governed = governed_schema(&schema, &verdict);
    resolved.judge(relation.clone(), Arc::new(verdict))?;
    let raw_schema = Arc::clone(&handle.schema);
    Ok(Arc::new(SealedSource::new(relation, raw_schema, governed, Arc::new(handle))))
}

/// The table's identity, and for a former state which one: each has a verdict over its own columns.
fn identity_of(handle: &TableHandle) -> String {
    match &handle.past {
        Some(past) => format!("{}@{}", handle.uuid, past.key),
        None => handle.uuid.to_string(),
    }
}

/// Whether a relation is this table, in whatever state.
pub(crate) fn is_of_table(relation: &Relation, uuid: &str) -> bool {
    relation.uuid.split(['@', '#']).next() == Some(uuid)
}

/// Whether a relation is this table in a former state.
pub(crate) fn is_former_of_table(relation: &Relation, uuid: &str) -> bool {
    relation.uuid.strip_prefix(uuid).is_some_and(|rest| rest.starts_with('@'))
}

/// The columns that a reader sees: behind those of a former state stand others, for policies alone.
fn shown_columns(handle: &TableHandle) -> SchemaRef {
    match &handle.past {
        Some(past) => {
            let fields: Vec<_> = handle.schema.fields().iter().take(past.n_columns).cloned().collect();
            Arc::new(datafusion::arrow::datatypes::Schema::new(fields))
        }
        None => Arc::clone(&handle.schema),
    }
}

/// A relation as it is opened here. What one statement opens with several rights has a verdict for each (L10).
pub(crate) fn relation_of(running: &Running, name: &RelationName, uuid: &str) -> Relation {
    let uuid = match &running.opener {
        Opener::User => uuid.to_owned(),
        Opener::Owners(owners) => {
            let owners: Vec<&str> = owners.iter().map(|owner| owner.user.as_str()).collect();
            format!("{uuid}#{owners:?}")
        }
        Opener::Author(_) => format!("{uuid}#policy"),
    };
    relation_with(name, uuid)
}

pub(crate) fn relation_with(name: &RelationName, uuid: String) -> Relation {
    Relation {
        catalog: name.catalog.clone(),
        namespace: name.namespace.clone(),
        name: name.name.clone(),
        uuid,
    }
}

/// What stands under a name.
pub(crate) enum Found {
    Table(TableHandle),
    View(View),
    Nothing,
}

/// Looks a relation up, whether the user may see it or not.
pub(crate) async fn find(running: &Running, name: &RelationName) -> Result<Found, QueryError> {
    let Some(catalog) = running.engine.catalogs.get(&name.catalog) else {
        return Ok(Found::Nothing);
    };
    let table = catalog.load(&name.namespace, &name.name).await.map_err(|error| from_catalog(&error))?;
    let found = match table {
        Some(table) => Found::Table(table),
        None => {
            let view = catalog.load_view(&name.namespace, &name.name).await;
            view.map_err(|error| from_catalog(&error))?.map_or(Found::Nothing, Found::View)
        }
    };
    // Asked behind the look-up: what was found before a rename is known by the old name.
    running.check_names()?;
    Ok(found)
}

/// The rules of gate two for a table, bound to expressions over its stored columns.
pub(crate) async fn verdict_for(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    handle: &TableHandle,
) -> Result<(TableRules, TableVerdict), QueryError> {
    let mut rules = rules_for(running, name, handle);
    crate::tags::refuse_unknown(running, name, &rules)?;
    if let Some(past) = &handle.past {
        bind::restrict_forgotten(past, &mut rules);
    }
    let verdict = bind::rules(running, state, &Columns::of_table(name, handle), &rules).await?;
    Ok((rules, verdict))
}

/// A namespace that exists and that the user may see; anything else is not found.
pub(crate) async fn visible_namespace(
    running: &Running,
    catalog: &str,
    namespace: &[String],
) -> Result<(), QueryError> {
    let full = format!("{catalog}.{}", namespace.join("."));
    let Some(found) = running.engine.catalogs.get(catalog) else {
        return Err(schema_not_found(&full));
    };
    let exists = found.namespace_exists(namespace).await.map_err(|error| from_catalog(&error))?;
    if exists && running.sees_namespace(catalog, namespace) { Ok(()) } else { Err(schema_not_found(&full)) }
}
