//! The way of a change: plan over governed scans, choose rows, copy files, commit; from the start again on a conflict.

use catalog::{ColumnTags, ROW, TableChange};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use futures::future::BoxFuture;
use query_api::{Description, Outcome, QueryError};
use stdx::ErrorKind;

use super::check;
use super::chosen::{ACTION, Choice, Chosen};
use super::target::Target;
use crate::error::{from_catalog, from_datafusion};
use crate::names::RelationName;
use crate::query::{self, Governed};
use crate::resolve::Resolved;
use crate::running::Running;
use crate::statement::Call;
use crate::tags::{Carried, carry};

/// How often a statement is run from its start when the table was changed under it.
pub(crate) const ROUNDS: usize = 8;

/// A change, planned over sealed sources: its plan gives row numbers, actions and values.
pub(crate) struct Planned {
    pub(crate) target: Target,
    pub(crate) plan: LogicalPlan,
    pub(crate) choice: Choice,
    pub(crate) resolved: Resolved,
    pub(crate) state: SessionState,
}

/// Column names of the choosing plan.
pub(crate) fn value_name(column: usize) -> String {
    format!("\u{0}value {column}")
}

/// The row number of the target, as the choosing plan has it.
pub(crate) fn row_number(target: &Target) -> Expr {
    Expr::Column(datafusion::common::Column::new(Some(target.qualifier.clone()), ROW))
}

/// Puts the choosing plan's columns on top: row number, action, values.
pub(crate) fn project(
    input: LogicalPlan,
    target: &Target,
    action: Expr,
    values: Vec<Expr>,
) -> Result<LogicalPlan, QueryError> {
    let named = [row_number(target).alias(ROW), action.alias(ACTION)];
    let values = values.into_iter().enumerate().map(|(i, value)| value.alias(value_name(i)));
    LogicalPlanBuilder::from(input)
        .project(named.into_iter().chain(values))
        .and_then(LogicalPlanBuilder::build)
        .map_err(|error| from_datafusion(&error))
}

/// `CASE WHEN … THEN …`, NULL where nothing holds.
pub(crate) fn case(branches: Vec<(Expr, Expr)>) -> Expr {
    match branches.is_empty() {
        true => lit(datafusion::common::ScalarValue::Int32(None)),
        false => Expr::Case(Case::new(
            None,
            branches.into_iter().map(|(when, then)| (Box::new(when), Box::new(then))).collect(),
            None,
        )),
    }
}

/// What plans a change; it is asked again when the table was changed meanwhile.
pub(crate) type Plan<'a> = dyn Fn() -> BoxFuture<'a, Result<Planned, QueryError>> + Send + Sync + 'a;

/// Runs a change to its end, and says how many rows it touched.
pub(crate) async fn run(
    running: &Running,
    call: &Call<'_>,
    tag: &'static str,
    audited: &'static str,
    plan: &Plan<'_>,
) -> Result<Outcome, QueryError> {
    let mut round = 1;
    loop {
        let planned = plan().await?;
        let name = planned.target.name.to_string();
        let input = crate::plannable::rewrite(planned.plan).map_err(|error| from_datafusion(&error))?;
        let input = query::with_parameters(input, call.parameters)?;
        let Planned { target, choice, resolved, state, .. } = planned;
        let plan = query::govern_plan(running, input, &resolved)?;
        let governed = Governed { plan, state, resolved };
        let tags = assigned(&target, &choice, &governed)?;
        if Box::pin(carry(running, &target.name, &target.table, tags, call.text)).await? {
            round = next(round, &target.name)?;
            continue;
        }
        let record = running.audit_query(&governed.resolved, call.text);
        let written = Box::pin(write(running, &target, &choice, &governed)).await;
        if let Err(error) = &written
            && error.kind() == ErrorKind::Conflict
            && round < ROUNDS
        {
            round += 1;
            continue;
        }
        if !governed.resolved.touched.is_empty() {
            record.finish(running, *written.as_ref().unwrap_or(&0), written.as_ref().err());
        }
        let n_rows = written?;
        running.audit_change(audited, &name, "table", call.text, Some(n_rows));
        return Ok(Outcome::Done { tag, n_rows: Some(n_rows), notices: Vec::new() });
    }
}

/// The round after this one, unless the table changed too often.
pub(crate) fn next(round: usize, name: &RelationName) -> Result<usize, QueryError> {
    match round < ROUNDS {
        true => Ok(round + 1),
        false => Err(QueryError::new(ErrorKind::Conflict, format!("table {name} kept changing; try again"))),
    }
}

/// The tags of what is assigned, by the columns that it is assigned to.
fn assigned(target: &Target, choice: &Choice, governed: &Governed) -> Result<ColumnTags, QueryError> {
    let mut tags = ColumnTags::new();
    // In front of the values stand the row's number and the action.
    let values = Carried::of(governed)?.columns.into_iter().skip(2);
    for (column, more) in choice.columns.iter().zip(values).filter(|(_, more)| !more.is_empty()) {
        let field = target.table.schema.fields().get(*column).ok_or_else(crate::error::internal)?;
        tags.entry(field.name().clone()).or_default().extend(more);
    }
    Ok(tags)
}

async fn write(
    running: &Running,
    target: &Target,
    choice: &Choice,
    governed: &Governed,
) -> Result<u64, QueryError> {
    let chosen = gather(running, target, choice, governed).await?;
    let n_rows = chosen.n_rows;
    let check = check::rows(running, target, &governed.state)?;
    for batch in &chosen.inserts {
        check(batch).map_err(|error| query::caller_error(running, &error))?;
    }
    let added = stream_of(chosen.inserts);
    let catalog = running.catalog(&target.name.catalog)?;
    let change = TableChange::Rows(chosen.changes);
    catalog
        .rewrite(&target.table, &governed.state, change, added, check)
        .await
        .map_err(|error| from_catalog(&error))?;
    Ok(n_rows)
}

/// Runs the choosing plan.
pub(crate) async fn gather(
    running: &Running,
    target: &Target,
    choice: &Choice,
    governed: &Governed,
) -> Result<Chosen, QueryError> {
    let rows = query::execute(running, governed).await?;
    let pool = &governed.state.runtime_env().memory_pool;
    choice
        .gather(rows, &target.table.schema, pool)
        .await
        .map_err(|error| query::caller_error(running, &error))
}

fn stream_of(batches: Vec<RecordBatch>) -> Option<SendableRecordBatchStream> {
    let schema = batches.first()?.schema();
    let rows = futures::stream::iter(batches.into_iter().map(Ok)).boxed();
    Some(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}

pub(crate) fn describe(planned: &Planned, types: &[Option<DataType>]) -> Result<Description, QueryError> {
    Ok(Description { parameters: query::parameter_types(&planned.plan, types)?, columns: None })
}

/// The rows of a table that its writer sees, each to be deleted; of one without row filters that is all of it.
pub(crate) async fn all_visible(running: &Running, target: Target) -> Result<TableChange, QueryError> {
    if target.verdict.filters.is_empty() {
        return Ok(TableChange::RemoveAll);
    }
    let planned = super::update::plan_all(target, running.state())?;
    let Planned { target, plan, choice, resolved, state } = planned;
    let plan = query::govern_plan(running, plan, &resolved)?;
    let governed = Governed { plan, state, resolved };
    let chosen = gather(running, &target, &choice, &governed).await?;
    Ok(TableChange::Rows(chosen.changes))
}
