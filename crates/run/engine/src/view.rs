//! A view's text, planned where it was written, with the rights that it is read with (L1, L8).

use std::collections::BTreeSet;
use std::sync::Arc;

use catalog::{View, ViewSecurity};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, TableSource};
use enforce::{SealedSource, SealedView, governed_schema};
use query_api::QueryError;
use sha2::{Digest, Sha256};
use stdx::ErrorKind;

use crate::bind::{self, Columns};
use crate::error::{from_datafusion, table_not_found};
use crate::names::{RelationName, SearchPath};
use crate::policy_expr::reads;
use crate::resolve::{Resolved, TouchedTable, plan_in, relation_of};
use crate::rules::parts::parts_of;
use crate::rules::rules_of_view;
use crate::running::Running;
use crate::scan::ViewPlan;
use crate::statement::apart;
use crate::titles;

/// Views may stand on views this deep.
pub(crate) const VIEW_DEPTH_MAX: usize = 32;

/// A view in which nothing is hidden, and which reads with its reader's rights, is put in place. Any other is one leaf
/// with a barrier of its own: its reader's policies on it stand above its text, and what the text leaves out of tables
/// that she may not read is as hidden as any row (L1, L4).
pub(crate) async fn source(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    view: &View,
    gate_one: policy::Verdict,
    resolved: &mut Resolved,
    depth: usize,
) -> Result<Arc<dyn TableSource>, QueryError> {
    let plan = apart(|| plan(running, state, name, view, resolved, depth)).await?;
    let relation = relation_of(running, name, &view.uuid.to_string());
    let schema = crate::scan::bare(plan.schema().as_arrow());
    let rules = rules_of_view(running, name, view, &schema);
    let is_ruled = rules.hide_anything();
    let is_closed = view.security == ViewSecurity::Definer || is_ruled;
    let touched = TouchedTable {
        name: name.clone(),
        is_restricting: is_closed,
        columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
        rules: Some(rules.clone()),
        is_below: false,
        gate_one,
    };
    resolved.touched.push(touched);
    check_below(running, name, view, &plan, is_ruled, resolved)?;
    if !is_closed {
        return Ok(Arc::new(SealedView::new(relation, plan)));
    }
    // Its types are settled here, for what stands above a leaf no longer settles them.
    let plan = state
        .analyzer()
        .execute_and_check(plan, state.config_options(), |_, _| {})
        .map_err(|error| from_datafusion(&error))?;
    let schema = crate::scan::bare(plan.schema().as_arrow());
    let verdict = bind::rules(running, state, &Columns::of_view(name, &view.uuid, &schema), &rules).await?;
    let governed = governed_schema(&schema, &verdict);
    resolved.judge(relation.clone(), Arc::new(verdict))?;
    let sealed = SealedSource::new(relation, schema, governed, Arc::new(ViewPlan(plan.clone())));
    Ok(Arc::new(sealed.over(plan)))
}

/// What holds for a column by its name in a view holds for what it was made of (L7): one for whom anything holds reads
/// the view only while its columns are those that they were when it was written.
fn check_below(
    running: &Running,
    name: &RelationName,
    view: &View,
    plan: &LogicalPlan,
    is_ruled: bool,
    resolved: &Resolved,
) -> Result<(), QueryError> {
    // A view that was kept before there was anything to compare it with.
    let is_old = view.reads.is_empty();
    if !is_ruled && (is_old || !was_ruled(running, name, view, plan)) {
        return Ok(());
    }
    if is_old {
        return Err(changed_below());
    }
    let today = reads_of(plan, resolved)?;
    if view.reads.iter().any(|line| !today.contains(line)) {
        return Err(changed_below());
    }
    Ok(())
}

/// Whether anything holds for a column, or a part of one, by a name that the view has no more.
fn was_ruled(running: &Running, name: &RelationName, view: &View, plan: &LogicalPlan) -> bool {
    let shown: BTreeSet<String> = shows(plan).collect();
    let gone = view.reads.iter().filter(|line| line.starts_with(SHOWS) && !shown.contains(*line));
    let names = gone.filter_map(|line| line.strip_prefix(SHOWS));
    let fields: Vec<Field> = names.map(|name| Field::new(name, DataType::Null, true)).collect();
    !fields.is_empty() && rules_of_view(running, name, view, &Arc::new(Schema::new(fields))).hide_columns()
}

/// A line for each column that a plan shows, and for each part of one.
fn shows(plan: &LogicalPlan) -> impl Iterator<Item = String> {
    plan.schema().fields().iter().flat_map(|field| {
        let name = titles::shown(field.name());
        let parts = parts_of(field).into_iter().map(move |part| part.name(name));
        std::iter::once(name.to_owned()).chain(parts).map(|name| format!("{SHOWS}{name}"))
    })
}

/// Among the lines of what a view reads, a column that it shows.
const SHOWS: &str = "shows ";

/// What a view's text reads: columns of tables by their field ids, and views by their texts; and what it shows.
pub(crate) fn reads_of(plan: &LogicalPlan, resolved: &Resolved) -> Result<Vec<String>, QueryError> {
    let mut lines = reads::of_plan(plan).map_err(|error| from_datafusion(&error))?;
    lines.extend(shows(plan));
    lines.extend(resolved.views.iter().map(|(name, text)| format!("view {name} {text}")));
    Ok(lines)
}

/// A view for the text of a policy, over whole tables.
pub(crate) async fn whole(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    view: &View,
    resolved: &mut Resolved,
    depth: usize,
) -> Result<Arc<dyn TableSource>, QueryError> {
    if !running.may_govern(name) {
        return Err(table_not_found(&name.to_string()));
    }
    resolved.read_by_policies.insert(name.to_string());
    let plan = apart(|| plan(running, state, name, view, resolved, depth)).await?;
    Ok(Arc::new(SealedView::new(relation_of(running, name, &view.uuid.to_string()), plan)))
}

/// Plans a view's text where it was written. Its relations are the reader's to be allowed (SECURITY INVOKER), or the
/// view's owner's (SECURITY DEFINER); policies are the session user's, whoever opens what they stand on.
async fn plan(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
    view: &View,
    resolved: &mut Resolved,
    depth: usize,
) -> Result<LogicalPlan, QueryError> {
    if depth >= VIEW_DEPTH_MAX {
        return Err(QueryError::new(
            ErrorKind::Limit,
            format!("view '{name}' stands on more than {VIEW_DEPTH_MAX} views"),
        ));
    }
    let parsed = dialect::parse(&view.sql).map_err(|_| broken_view(name))?;
    let dialect::ast::Statement::Sql(mut statement) = parsed else {
        return Err(broken_view(name));
    };
    let Some(running) = &running.within(view) else {
        return Err(QueryError::new(
            ErrorKind::Denied,
            format!("view '{name}' cannot be read: its owner is gone"),
        )
        .with_hint("whoever may replace the view can make it anew"));
    };
    let is_definer = view.security == ViewSecurity::Definer;
    let catalogs = match is_definer {
        true => running.engine.catalog_order.clone(),
        false => running.path.catalogs.clone(),
    };
    let path = SearchPath {
        catalogs,
        catalog: view.default_catalog.clone(),
        namespace: view.default_namespace.clone(),
    };
    // A view has sources of its own: a name means what it meant where the view was written.
    let mut inner = Resolved::default();
    let plan = plan_in(running, state, &mut statement, &mut inner, &path, depth + 1).await;
    resolved.judge_all(inner.verdicts)?;
    let below = |touched: TouchedTable| TouchedTable { is_below: touched.is_below || is_definer, ..touched };
    resolved.touched.extend(inner.touched.into_iter().map(below));
    resolved.read_by_policies.extend(inner.read_by_policies);
    resolved.views.extend(inner.views);
    let text = Sha256::digest(format!("{}\n{}", view.columns.join(","), view.sql));
    resolved.views.insert(name.to_string(), format!("{text:x}"));
    resolved.reads_catalog |= inner.reads_catalog;
    aliased(plan.map_err(|error| view_error(name, is_definer, error))?, &view.columns)
}

/// What a view's reader learns of a fault below it. A relation that she may not see is not named to her (L8), and of
/// what a view reads with its owner's rights nothing is.
fn view_error(name: &RelationName, is_definer: bool, error: QueryError) -> QueryError {
    let kind = error.kind();
    match kind {
        ErrorKind::TableNotFound | ErrorKind::SchemaNotFound | ErrorKind::CatalogNotFound => QueryError::new(
            ErrorKind::TableNotFound,
            format!("view '{name}' reads a relation that was not found"),
        ),
        ErrorKind::Limit | ErrorKind::Cancelled => error,
        _ if !is_definer => error,
        ErrorKind::Unavailable => QueryError::new(kind, format!("policy unavailable for view '{name}'"))
            .with_hint("a row filter below it cannot be evaluated; ask a policy admin"),
        ErrorKind::Denied => {
            QueryError::new(kind, format!("view '{name}' cannot be read with its owner's rights"))
        }
        _ => QueryError::new(kind, format!("view '{name}' cannot be planned any more")),
    }
}

/// Gives a view's columns the names that its definition lists, else those that its query's client would see.
pub(crate) fn aliased(plan: LogicalPlan, columns: &[String]) -> Result<LogicalPlan, QueryError> {
    let own = plan.schema().columns();
    let names: Vec<&str> = match columns {
        [] => own.iter().map(|column| titles::shown(&column.name)).collect(),
        listed => listed.iter().map(String::as_str).collect(),
    };
    if own.len() != names.len() {
        return Err(changed_below());
    }
    if own.iter().map(|column| column.name.as_str()).eq(names.iter().copied()) {
        return Ok(plan);
    }
    let exprs: Vec<_> = own
        .iter()
        .zip(&names)
        .map(|(column, name)| datafusion::logical_expr::Expr::Column(column.clone()).alias(*name))
        .collect();
    LogicalPlanBuilder::from(plan)
        .project(exprs)
        .and_then(LogicalPlanBuilder::build)
        .map_err(|error| from_datafusion(&error))
}

/// Below the view columns came, went or changed their names, so that its own would be others than they were.
fn changed_below() -> QueryError {
    QueryError::new(ErrorKind::Dependent, "a view no longer reads the columns that it was written over")
        .with_hint("whoever may replace the view can make it anew")
}

fn broken_view(name: &RelationName) -> QueryError {
    QueryError::new(ErrorKind::Internal, format!("the text of view '{name}' does not parse"))
}
