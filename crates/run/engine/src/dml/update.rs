//! UPDATE and DELETE: which rows a condition over masked values chooses, and what is assigned to them.

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, lit};
use policy::operation::Operation;
use query_api::{Description, Outcome, QueryError};
use sqlparser::ast;
use stdx::ErrorKind;

use super::change::{self, Planned, project};
use super::chosen::{Action, Again, Choice};
use super::lineage::Masked;
use super::target::Target;
use super::written::{Planner, Written, names};
use crate::error::{from_datafusion, unsupported};
use crate::resolve::Resolved;
use crate::running::Running;
use crate::session::invalid;
use crate::statement::Call;

pub(crate) async fn delete(
    running: &Running,
    delete: ast::Delete,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let plan = || -> futures::future::BoxFuture<'_, _> { Box::pin(plan_delete(running, delete.clone())) };
    change::run(running, call, "DELETE", "delete", &plan).await
}

pub(crate) async fn update(
    running: &Running,
    update: ast::Update,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let plan = || -> futures::future::BoxFuture<'_, _> { Box::pin(plan_update(running, update.clone())) };
    change::run(running, call, "UPDATE", "update", &plan).await
}

pub(crate) async fn describe_delete(
    running: &Running,
    delete: ast::Delete,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    change::describe(&plan_delete(running, delete).await?, types)
}

pub(crate) async fn describe_update(
    running: &Running,
    update: ast::Update,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    change::describe(&plan_update(running, update).await?, types)
}

async fn plan_delete(running: &Running, delete: ast::Delete) -> Result<Planned, QueryError> {
    if delete.returning.is_some() || delete.output.is_some() {
        return Err(unsupported("RETURNING"));
    }
    let is_plain = delete.optimizer_hints.is_empty()
        && delete.tables.is_empty()
        && delete.order_by.is_empty()
        && delete.limit.is_none();
    let from = match delete.from {
        ast::FromTable::WithFromKeyword(from) | ast::FromTable::WithoutKeyword(from) => from,
    };
    let ([only], true) = (from.as_slice(), is_plain) else {
        return Err(unsupported("a clause of this DELETE"));
    };
    if !only.joins.is_empty() {
        return Err(unsupported("a join in the place of the table that is written"));
    }
    let state = running.state();
    let target =
        Target::of_factor(running, &state, &only.relation, Operation::DeleteFrom, "delete from").await?;
    let mut resolved = Resolved::default();
    target.touch(running, Operation::DeleteFrom, &mut resolved);
    let written = Written::new(delete.selection.into_iter().collect(), delete.using.unwrap_or_default())?;
    let (mut written, source) = written.resolve(running, &state, &mut resolved).await?;
    let scan = target.scan(&mut resolved)?;
    let database = running.path.namespace.join(".");
    let plan = {
        let names = names(running, &state, &resolved, &database);
        let planner = Planner::new(&names);
        let (input, schema) = joined(&planner, &target, scan, source)?;
        let input = filtered(&planner, input, &schema, written.pop())?;
        project(input, &target, lit(0_i32), Vec::new())?
    };
    let choice = Choice { actions: vec![Action::Delete], columns: Vec::new(), again: Again::First };
    Ok(Planned { target, plan, choice, resolved, state })
}

/// Every row of the target that its writer sees, to be deleted; for whom it may not be shown, too.
pub(crate) fn plan_all(
    target: Target,
    state: datafusion::execution::session_state::SessionState,
) -> Result<Planned, QueryError> {
    let mut resolved = Resolved::default();
    let scan = target.scan(&mut resolved)?;
    let plan = project(scan, &target, lit(0_i32), Vec::new())?;
    let choice = Choice { actions: vec![Action::Delete], columns: Vec::new(), again: Again::First };
    Ok(Planned { target, plan, choice, resolved, state })
}

async fn plan_update(running: &Running, update: ast::Update) -> Result<Planned, QueryError> {
    if update.returning.is_some() || update.output.is_some() {
        return Err(unsupported("RETURNING"));
    }
    let is_plain = update.optimizer_hints.is_empty()
        && update.or.is_none()
        && update.order_by.is_empty()
        && update.limit.is_none()
        && update.table.joins.is_empty();
    if !is_plain {
        return Err(unsupported("a clause of this UPDATE"));
    }
    let sources = match update.from {
        None => Vec::new(),
        Some(ast::UpdateTableFromKind::AfterSet(from)) => from,
        Some(ast::UpdateTableFromKind::BeforeSet(_)) => {
            return Err(unsupported("FROM in front of SET"));
        }
    };
    let state = running.state();
    let target =
        Target::of_factor(running, &state, &update.table.relation, Operation::UpdateTable, "update").await?;
    let mut resolved = Resolved::default();
    target.touch(running, Operation::UpdateTable, &mut resolved);
    let (columns, mut written) = assignments(&target, update.assignments)?;
    let n_values = written.len();
    written.extend(update.selection);
    let (written, source) = Written::new(written, sources)?.resolve(running, &state, &mut resolved).await?;
    let mut written = written.into_iter();
    let values: Vec<ast::Expr> = written.by_ref().take(n_values).collect();
    let scan = target.scan(&mut resolved)?;
    let database = running.path.namespace.join(".");
    let plan = {
        let names = names(running, &state, &resolved, &database);
        let planner = Planner::new(&names);
        let (input, schema) = joined(&planner, &target, scan, source)?;
        let input = filtered(&planner, input, &schema, written.next())?;
        let values = planned_values(&planner, &target, &columns, values, &schema)?;
        refuse_masked(&target, &values, &input)?;
        project(input, &target, lit(0_i32), values)?
    };
    let action = Action::Update(vec![true; columns.len()]);
    let choice = Choice { actions: vec![action], columns, again: Again::First };
    Ok(Planned { target, plan, choice, resolved, state })
}

/// The columns that are assigned, each once, with what is assigned to them.
pub(crate) fn assignments(
    target: &Target,
    assignments: Vec<ast::Assignment>,
) -> Result<(Vec<usize>, Vec<ast::Expr>), QueryError> {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for assignment in assignments {
        let pairs = match (assignment.target, assignment.value) {
            (ast::AssignmentTarget::ColumnName(column), value) => vec![(column, value)],
            (ast::AssignmentTarget::Tuple(names), ast::Expr::Tuple(values))
                if names.len() == values.len() =>
            {
                names.into_iter().zip(values).collect()
            }
            (ast::AssignmentTarget::Tuple(_), _) => {
                return Err(unsupported(
                    "assigning anything but a list of as many values to several columns",
                ));
            }
        };
        for (column, value) in pairs {
            let position = target.column(&column)?;
            if columns.contains(&position) {
                return Err(invalid(format!("column `{column}` is assigned twice")));
            }
            columns.push(position);
            values.push(without_default(value)?);
        }
    }
    Ok((columns, values))
}

/// DEFAULT in the place of a value would be read as a column.
pub(crate) fn without_default(value: ast::Expr) -> Result<ast::Expr, QueryError> {
    match &value {
        ast::Expr::Identifier(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("default") =>
        {
            Err(unsupported("DEFAULT in the place of a value"))
        }
        _ => Ok(value),
    }
}

/// Values for columns of the target, in their types.
pub(crate) fn planned_values(
    planner: &Planner<'_>,
    target: &Target,
    columns: &[usize],
    values: Vec<ast::Expr>,
    schema: &DFSchema,
) -> Result<Vec<datafusion::logical_expr::Expr>, QueryError> {
    let bare = enforce::bare_schema(&target.table.schema);
    columns
        .iter()
        .zip(values)
        .map(|(column, value)| {
            let field: &Field = bare.fields().get(*column).ok_or_else(crate::error::internal)?;
            planner.value(value, schema, field)
        })
        .collect()
}

/// The target beside what the statement reads, and the columns that its expressions may name.
fn joined(
    planner: &Planner<'_>,
    target: &Target,
    scan: LogicalPlan,
    source: Option<ast::Statement>,
) -> Result<(LogicalPlan, DFSchema), QueryError> {
    let visible = target.visible_schema()?;
    let Some(source) = source else {
        return Ok((scan, visible));
    };
    let source = planner.source(source)?;
    let schema = visible.join(source.schema()).map_err(|error| from_datafusion(&error))?;
    let input = LogicalPlanBuilder::from(scan)
        .cross_join(source)
        .and_then(LogicalPlanBuilder::build)
        .map_err(|error| from_datafusion(&error))?;
    Ok((input, schema))
}

fn filtered(
    planner: &Planner<'_>,
    input: LogicalPlan,
    schema: &DFSchema,
    condition: Option<ast::Expr>,
) -> Result<LogicalPlan, QueryError> {
    let Some(condition) = condition else {
        return Ok(input);
    };
    let condition = planner.predicate(condition, schema)?;
    LogicalPlanBuilder::from(input)
        .filter(condition)
        .and_then(LogicalPlanBuilder::build)
        .map_err(|error| from_datafusion(&error))
}

/// What a mask shows must not be written back into the table that it was read from (L9).
pub(crate) fn refuse_masked(
    target: &Target,
    values: &[datafusion::logical_expr::Expr],
    input: &LogicalPlan,
) -> Result<(), QueryError> {
    let masked = Masked {
        uuid: target.table.uuid.to_string(),
        columns: target.table.schema.fields().iter().map(|field| field.name().as_str()).collect(),
        verdict: &target.verdict,
    };
    for value in values {
        if masked.is_in(value, input).map_err(|error| from_datafusion(&error))? {
            return Err(written_back(&target.name));
        }
    }
    Ok(())
}

pub(crate) fn written_back(name: &crate::names::RelationName) -> QueryError {
    QueryError::new(
        ErrorKind::Denied,
        format!("what is read from a masked column of table {name} cannot be written into that table"),
    )
}
