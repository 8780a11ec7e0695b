//! Sub-queries in select lists: as aggregates, which DataFusion 54.1 joins to the rows that they stand beside.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DataFusionError, ExprSchema, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::{count, first_value};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::logical_plan::Filter;
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Subquery, Volatility, cast, lit, when,
};
use query_api::QueryError;
use stdx::ErrorKind;

/// Puts `EXISTS`, `IN` and sub-queries of one value in a select list into a form that can be planned.
pub(crate) fn in_select_list(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Projection(projection) = &node else { return Ok(Transformed::no(node)) };
    let schema = Arc::clone(projection.input.schema());
    let names = NamePreserver::new(&node);
    let changed = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let changed = expr.transform_up(|part| plannable(part, &schema))?;
        Ok(if changed.transformed { changed.update_data(|expr| name.restore(expr)) } else { changed })
    })?;
    if changed.transformed { changed.map_data(LogicalPlan::recompute_schema) } else { Ok(changed) }
}

/// The same in conditions, but for those parts that stand there by themselves and that a semi-join answers. DataFusion
/// takes an unknown answer of any other for false, and so shows rows of which NOT knows nothing.
pub(crate) fn in_condition(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(filter) = node else { return Ok(Transformed::no(node)) };
    let schema = Arc::clone(filter.input.schema());
    let mut is_changed = false;
    let mut parts = Vec::new();
    for part in split_conjunction_owned(filter.predicate.clone()) {
        if is_joined(&part) {
            parts.push(part);
            continue;
        }
        let changed = part.transform_up(|part| match part {
            // One value is joined to the row wherever it stands.
            Expr::ScalarSubquery(_) => Ok(Transformed::no(part)),
            other => plannable(other, &schema),
        })?;
        is_changed |= changed.transformed;
        parts.push(changed.data);
    }
    match conjunction(parts) {
        Some(predicate) if is_changed => Filter::try_new(predicate, filter.input)
            .map(|filter| Transformed::yes(LogicalPlan::Filter(filter))),
        _ => Ok(Transformed::no(LogicalPlan::Filter(filter))),
    }
}

/// Whether a part of a condition is a sub-query that a semi-join or anti-join stands for.
fn is_joined(part: &Expr) -> bool {
    match part {
        Expr::Exists(exists) => !is_one_row(&exists.subquery.subquery) && !skips(&exists.subquery.subquery),
        // Only a join that knows of NULL answers NOT IN, and it takes no further conditions.
        Expr::InSubquery(within) => !within.negated || within.subquery.outer_ref_columns.is_empty(),
        _ => false,
    }
}

/// Whether a query leaves rows out by their number, which a semi-join would not.
fn skips(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Limit(_) => true,
        LogicalPlan::Projection(projection) => skips(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => skips(&alias.input),
        LogicalPlan::Sort(sort) => skips(&sort.input),
        LogicalPlan::Filter(filter) => skips(&filter.input),
        _ => false,
    }
}

fn plannable(part: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    Ok(match part {
        Expr::Exists(Exists { subquery, negated }) => {
            let exists = if gives_a_row(&subquery.subquery) { lit(true) } else { has_rows(&subquery)? };
            Transformed::yes(if negated { Expr::Not(Box::new(exists)) } else { exists })
        }
        Expr::InSubquery(within) => Transformed::yes(is_in(within, schema)?),
        Expr::ScalarSubquery(query)
            if !query.outer_ref_columns.is_empty() && !is_one_row(&query.subquery) =>
        {
            Transformed::yes(only_one(&query)?)
        }
        other => Transformed::no(other),
    })
}

/// Whether a plan gives one row whatever there is, as an aggregate of everything does.
fn gives_a_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => gives_a_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => gives_a_row(&alias.input),
        LogicalPlan::Sort(sort) => gives_a_row(&sort.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

/// Whether a plan gives one row at most by its form.
fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_one_row(&alias.input),
        LogicalPlan::Filter(filter) => is_one_row(&filter.input),
        LogicalPlan::Sort(sort) => is_one_row(&sort.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(_) | LogicalPlan::Limit(_) => true,
        _ => false,
    }
}

/// A sub-query over the same rows of the query around it, and over others of them.
fn beside(query: &Subquery, plan: LogicalPlan, outer: &[Expr]) -> Expr {
    let mut outer_ref_columns = query.outer_ref_columns.clone();
    for column in outer {
        if !outer_ref_columns.contains(column) {
            outer_ref_columns.push(column.clone());
        }
    }
    Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: query.spans.clone() })
}

fn counted(plan: LogicalPlan) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64))])?.build()
}

/// Whether a sub-query gives rows: true or false, never NULL.
fn has_rows(query: &Subquery) -> Result<Expr> {
    has_rows_of(query, query.subquery.as_ref().clone(), &[])
}

fn has_rows_of(query: &Subquery, plan: LogicalPlan, outer: &[Expr]) -> Result<Expr> {
    when(beside(query, counted(plan)?, outer).gt(lit(0_i64)), lit(true)).otherwise(lit(false))
}

/// `x IN (query)`: true if one is equal; NULL if none is and `x` or one of them is NULL; else false.
fn is_in(within: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let InSubquery { expr, subquery, negated } = within;
    let plan = subquery.subquery.as_ref().clone();
    let Some((qualifier, field)) = plan.schema().iter().next() else {
        return Err(DataFusionError::Plan("a sub-query after IN gives one column".to_owned()));
    };
    let column = Expr::Column(Column::from((qualifier, field)));
    let (own, other) = (expr.get_type(schema)?, field.data_type().clone());
    let kind = comparison_coercion(&own, &other).ok_or_else(|| {
        DataFusionError::Plan(format!("a value of type {own} cannot be compared with one of type {other}"))
    })?;
    let mut outer = Vec::new();
    let value = from_within(expr.as_ref().clone(), schema, &mut outer)?;
    let as_kind = |expr: Expr, own: &DataType| if *own == kind { expr } else { cast(expr, kind.clone()) };
    let filtered = |condition: Expr| LogicalPlanBuilder::from(plan.clone()).filter(condition)?.build();
    let equal = filtered(as_kind(column.clone(), &other).eq(as_kind(value, &own)))?;
    let unknown = filtered(column.is_null())?;
    let null = || Expr::Literal(ScalarValue::Boolean(None), None);
    let is_in = when(has_rows_of(&subquery, equal, &outer)?, lit(true))
        .when(has_rows_of(&subquery, unknown, &[])?, null())
        .when(expr.is_null().and(has_rows(&subquery)?), null())
        .otherwise(lit(false))?;
    Ok(if negated { Expr::Not(Box::new(is_in)) } else { is_in })
}

/// An expression of the query around a sub-query, as it reads within it.
fn from_within(expr: Expr, schema: &DFSchema, outer: &mut Vec<Expr>) -> Result<Expr> {
    let seen = expr.transform_up(|part| {
        Ok(match part {
            Expr::Column(column) => {
                let field = Arc::clone(schema.field_from_column(&column)?);
                let reference = Expr::OuterReferenceColumn(field, column);
                outer.push(reference.clone());
                Transformed::yes(reference)
            }
            other => Transformed::no(other),
        })
    })?;
    Ok(seen.data)
}

/// A sub-query of one value that is joined to each row: its only value, NULL if there is none, an error if there are
/// several.
fn only_one(query: &Subquery) -> Result<Expr> {
    let plan = query.subquery.as_ref().clone();
    let Some((qualifier, field)) = plan.schema().iter().next() else {
        return Err(DataFusionError::Plan("a sub-query as a value gives one column".to_owned()));
    };
    let column = Expr::Column(Column::from((qualifier, field)));
    let value = LogicalPlanBuilder::from(plan.clone())
        .aggregate(Vec::<Expr>::new(), vec![first_value(column, Vec::new())])?
        .build()?;
    let checked = [beside(query, value, &[]), beside(query, counted(plan)?, &[])];
    Ok(ScalarUDF::from(OnlyOne::new()).call(checked.to_vec()))
}

/// Its first argument, unless its second, the number of rows that there were, is above one. No user can call it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyOne {
    signature: Signature,
}

impl OnlyOne {
    fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Stable) }
    }
}

impl ScalarUDFImpl for OnlyOne {
    fn name(&self) -> &'static str {
        "only_one"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types.first().cloned().unwrap_or(DataType::Null))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        use datafusion::arrow::array::AsArray;
        use datafusion::arrow::datatypes::Int64Type;
        let mut arguments = args.args.into_iter();
        let (Some(value), Some(n_rows), None) = (arguments.next(), arguments.next(), arguments.next()) else {
            return Err(DataFusionError::Internal("two arguments were expected".to_owned()));
        };
        let n_rows = n_rows.into_array(args.number_rows)?;
        let n_rows = n_rows
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| DataFusionError::Internal("a number of rows was expected".to_owned()))?;
        if n_rows.iter().flatten().any(|n_rows| n_rows > 1) {
            return Err(DataFusionError::External(Box::new(QueryError::new(
                ErrorKind::Cardinality,
                "a sub-query that is used as a value gives more than one row",
            ))));
        }
        Ok(value)
    }
}
