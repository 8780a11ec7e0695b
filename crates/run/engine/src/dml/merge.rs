//! MERGE: each row of the source against the visible rows of the target; the first clause that holds acts.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, JoinType};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use policy::operation::Operation;
use query_api::{Description, Outcome, QueryError};
use sqlparser::ast::{self, MergeAction, MergeClauseKind, MergeInsertKind};

use super::change::{self, Planned, case, project, row_number};
use super::chosen::{ACTION, Action, Again, Choice};
use super::target::Target;
use super::update::{assignments, planned_values, refuse_masked, without_default};
use super::written::{Planner, Written, names};
use crate::error::{from_datafusion, unsupported};
use crate::resolve::Resolved;
use crate::running::Running;
use crate::session::invalid;
use crate::statement::Call;

/// Stands behind the source's columns, to tell a row of the target that no row of the source matched.
const SOURCE: &str = "\u{0}source";

pub(crate) async fn merge(
    running: &Running,
    merge: ast::Merge,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let plan = || -> futures::future::BoxFuture<'_, _> { Box::pin(plan(running, merge.clone())) };
    change::run(running, call, "MERGE", "merge", &plan).await
}

pub(crate) async fn describe(
    running: &Running,
    merge: ast::Merge,
    types: &[Option<DataType>],
) -> Result<Description, QueryError> {
    change::describe(&plan(running, merge).await?, types)
}

/// When a clause is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Matched,
    NotMatched,
    NotMatchedBySource,
}

struct Clause {
    kind: Kind,
    has_condition: bool,
    action: Action,
    columns: Vec<usize>,
    n_values: usize,
}

async fn plan(running: &Running, merge: ast::Merge) -> Result<Planned, QueryError> {
    if merge.output.is_some() {
        return Err(unsupported("RETURNING"));
    }
    if !merge.optimizer_hints.is_empty() {
        return Err(unsupported("an optimizer hint"));
    }
    let state = running.state();
    let target = Target::of_factor(running, &state, &merge.table, Operation::MergeInto, "merge into").await?;
    let mut resolved = Resolved::default();
    target.touch(running, Operation::MergeInto, &mut resolved);
    let mut written = vec![*merge.on];
    let mut clauses = Vec::new();
    for clause in merge.clauses {
        clauses.push(read_clause(&target, clause, &mut written)?);
    }
    let source = ast::TableWithJoins { relation: merge.source, joins: Vec::new() };
    let (written, source) =
        Written::new(written, vec![source])?.resolve(running, &state, &mut resolved).await?;
    let scan = target.scan(&mut resolved)?;
    let database = running.path.namespace.join(".");
    let (plan, choice) = {
        let names = names(running, &state, &resolved, &database);
        let planner = Planner::new(&names);
        let source = planner.source(source.ok_or_else(crate::error::internal)?)?;
        build(&planner, &target, scan, source, &clauses, written)?
    };
    Ok(Planned { target, plan, choice, resolved, state })
}

/// Takes a clause apart; its expressions go behind `written` in the order condition, values.
fn read_clause(
    target: &Target,
    clause: ast::MergeClause,
    written: &mut Vec<ast::Expr>,
) -> Result<Clause, QueryError> {
    let kind = match clause.clause_kind {
        MergeClauseKind::Matched => Kind::Matched,
        MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => Kind::NotMatched,
        MergeClauseKind::NotMatchedBySource => Kind::NotMatchedBySource,
    };
    let has_condition = clause.predicate.is_some();
    written.extend(clause.predicate);
    let (action, columns, values) = match clause.action {
        MergeAction::Delete { .. } => (Action::Delete, Vec::new(), Vec::new()),
        MergeAction::Update(update) => {
            if update.update_predicate.is_some() || update.delete_predicate.is_some() {
                return Err(unsupported("WHERE behind UPDATE SET in MERGE"));
            }
            let (columns, values) = assignments(target, update.assignments)?;
            (Action::Update(Vec::new()), columns, values)
        }
        MergeAction::Insert(insert) => {
            let (columns, values) = inserted(target, insert)?;
            (Action::Insert, columns, values)
        }
    };
    if (kind == Kind::NotMatched) != (action == Action::Insert) {
        return Err(invalid("in MERGE, INSERT stands behind WHEN NOT MATCHED, and UPDATE and DELETE do not"));
    }
    let n_values = values.len();
    written.extend(values);
    Ok(Clause { kind, has_condition, action, columns, n_values })
}

fn inserted(
    target: &Target,
    insert: ast::MergeInsertExpr,
) -> Result<(Vec<usize>, Vec<ast::Expr>), QueryError> {
    if insert.insert_predicate.is_some() {
        return Err(unsupported("WHERE behind INSERT in MERGE"));
    }
    let MergeInsertKind::Values(values) = insert.kind else {
        return Err(unsupported("INSERT ROW"));
    };
    let Ok([row]) = <[_; 1]>::try_from(values.rows) else {
        return Err(invalid("INSERT in MERGE takes one row of values"));
    };
    let row = row.iter().cloned().map(without_default).collect::<Result<Vec<_>, _>>()?;
    let columns = match insert.columns.is_empty() {
        true => (0..target.table.schema.fields().len()).collect(),
        false => insert.columns.iter().map(|name| target.column(name)).collect::<Result<Vec<_>, _>>()?,
    };
    let is_twice =
        columns.iter().enumerate().any(|(i, column)| columns.iter().skip(i + 1).any(|c| c == column));
    if is_twice {
        return Err(invalid("a column is named twice"));
    }
    if columns.len() != row.len() {
        return Err(invalid(format!("INSERT has {} columns and {} values", columns.len(), row.len())));
    }
    Ok((columns, row))
}

fn build(
    planner: &Planner<'_>,
    target: &Target,
    scan: LogicalPlan,
    source: LogicalPlan,
    clauses: &[Clause],
    written: Vec<ast::Expr>,
) -> Result<(LogicalPlan, Choice), QueryError> {
    let failed = |error: datafusion::common::DataFusionError| from_datafusion(&error);
    let visible = target.visible_schema()?;
    let schemas = Schemas {
        both: source.schema().join(&visible).map_err(failed)?,
        source: source.schema().as_ref().clone(),
        target: visible,
    };
    let mut written = written.into_iter();
    let on = planner.predicate(written.next().ok_or_else(crate::error::internal)?, &schemas.both)?;
    let has = |kind: Kind| clauses.iter().any(|clause| clause.kind == kind);
    let join_type = match (has(Kind::NotMatched), has(Kind::NotMatchedBySource)) {
        (false, false) => JoinType::Inner,
        (true, false) => JoinType::Left,
        (false, true) => JoinType::Right,
        (true, true) => JoinType::Full,
    };
    let marked: Vec<Expr> = source.schema().columns().into_iter().map(Expr::Column).collect();
    let source = LogicalPlanBuilder::from(source)
        .project(marked.into_iter().chain([lit(true).alias(SOURCE)]))
        .and_then(LogicalPlanBuilder::build)
        .map_err(failed)?;
    let input = LogicalPlanBuilder::from(source)
        .join_on(scan, join_type, [on])
        .and_then(LogicalPlanBuilder::build)
        .map_err(failed)?;
    let mut columns: Vec<usize> = Vec::new();
    for column in clauses.iter().flat_map(|clause| &clause.columns) {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    let mut actions = Vec::new();
    let mut conditions: Vec<(Kind, Expr, Expr)> = Vec::new();
    let mut values: Vec<Vec<(Expr, Expr)>> = vec![Vec::new(); columns.len()];
    for (i, clause) in clauses.iter().enumerate() {
        let schema = schemas.of(clause.kind);
        let condition = match clause.has_condition {
            true => planner.predicate(written.next().ok_or_else(crate::error::internal)?, schema)?,
            false => lit(true),
        };
        let number = i32::try_from(i).map_err(|_| crate::error::internal())?;
        conditions.push((clause.kind, condition, lit(number)));
        let mine: Vec<ast::Expr> = written.by_ref().take(clause.n_values).collect();
        let mine = planned_values(planner, target, &clause.columns, mine, schema)?;
        refuse_masked(target, &mine, &input)?;
        for (column, value) in clause.columns.iter().zip(mine) {
            let at = columns.iter().position(|c| c == column);
            if let Some(branches) = at.and_then(|at| values.get_mut(at)) {
                branches.push((acts(number), value));
            }
        }
        actions.push(match &clause.action {
            Action::Update(_) => {
                Action::Update(columns.iter().map(|column| clause.columns.contains(column)).collect())
            }
            other => other.clone(),
        });
    }
    let plan = with_action(input, target, conditions)?;
    let plan = project(plan, target, action(), values.into_iter().map(case).collect())?;
    Ok((plan, Choice { actions, columns, again: Again::Refused }))
}

/// What a clause's expressions may name.
struct Schemas {
    both: DFSchema,
    source: DFSchema,
    target: DFSchema,
}

impl Schemas {
    const fn of(&self, kind: Kind) -> &DFSchema {
        match kind {
            Kind::Matched => &self.both,
            Kind::NotMatched => &self.source,
            Kind::NotMatchedBySource => &self.target,
        }
    }
}

fn action() -> Expr {
    Expr::Column(Column::new_unqualified(ACTION))
}

fn acts(number: i32) -> Expr {
    action().eq(lit(number))
}

/// The rows for which some clause acts, and which; a condition meets only rows that its clause is about.
fn with_action(
    input: LogicalPlan,
    target: &Target,
    conditions: Vec<(Kind, Expr, Expr)>,
) -> Result<LogicalPlan, QueryError> {
    let in_target = row_number(target).is_not_null();
    let in_source = Expr::Column(Column::new_unqualified(SOURCE)).is_not_null();
    let kinds = [
        (Kind::Matched, in_target.clone().and(in_source.clone())),
        (Kind::NotMatched, row_number(target).is_null()),
        (Kind::NotMatchedBySource, Expr::Column(Column::new_unqualified(SOURCE)).is_null()),
    ];
    let mut branches = Vec::new();
    for (kind, holds) in kinds {
        let mine: Vec<(Expr, Expr)> = conditions
            .iter()
            .filter(|(of, ..)| *of == kind)
            .map(|(_, condition, number)| (condition.clone(), number.clone()))
            .collect();
        if !mine.is_empty() {
            branches.push((holds, case(mine)));
        }
    }
    let all: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    LogicalPlanBuilder::from(input)
        .project(all.into_iter().chain([case(branches).alias(ACTION)]))
        .and_then(|builder| builder.filter(action().is_not_null()))
        .and_then(LogicalPlanBuilder::build)
        .map_err(|error| from_datafusion(&error))
}
