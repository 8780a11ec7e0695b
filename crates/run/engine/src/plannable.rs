//! Puts plans that DataFusion 54.1 cannot run into a form of the same meaning that it can.

mod subquery;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::logical_plan::{EmptyRelation, Filter, Projection, Union, Values};
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
    cast,
};

/// Rewrites a plan before anything is governed, so that it is checked in the form in which it runs.
pub(crate) fn rewrite(plan: LogicalPlan) -> Result<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Values(values) if has_subquery(&values)? => rows(values).map(Transformed::yes),
        LogicalPlan::RecursiveQuery(_) => whole(node).map(Transformed::yes),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(rewritten.data)
}

/// The same for sub-queries in select lists and conditions, wherever a plan is made to be run: in queries, writes and policies.
pub(crate) fn with_joined_queries(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(subquery::in_select_list)?.data;
    Ok(plan.transform_up_with_subqueries(subquery::in_condition)?.data)
}

fn has_subquery(values: &Values) -> Result<bool> {
    for value in values.values.iter().flatten() {
        let is_subquery = |part: &Expr| {
            Ok(matches!(
                part,
                Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_)
            ))
        };
        if value.exists(is_subquery)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A list of rows as a union of selects without a table: only there are sub-queries planned.
fn rows(values: Values) -> Result<LogicalPlan> {
    let mut selects = Vec::with_capacity(values.values.len());
    for row in values.values {
        let nothing = EmptyRelation { produce_one_row: true, schema: Arc::new(DFSchema::empty()) };
        let columns = row
            .into_iter()
            .zip(values.schema.fields())
            .map(|(value, field)| cast(value, field.data_type().clone()).alias(field.name().clone()))
            .collect();
        let select = Projection::try_new(columns, Arc::new(LogicalPlan::EmptyRelation(nothing)))?;
        selects.push(Arc::new(LogicalPlan::Projection(select)));
    }
    match selects.as_slice() {
        [only] => Ok(only.as_ref().clone()),
        _ => Union::try_new_with_loose_types(selects).map(LogicalPlan::Union),
    }
}

/// A recursive query whose columns are all asked for: where none is (`count(*)`), the optimizer takes them from its
/// static part and leaves the recursive part looking for them.
fn whole(query: LogicalPlan) -> Result<LogicalPlan> {
    let columns: Vec<Expr> = query.schema().columns().into_iter().map(Expr::Column).collect();
    if columns.is_empty() {
        return Ok(query);
    }
    let asked = ScalarUDF::from(Asked::new()).call(columns);
    Filter::try_new(asked, Arc::new(query)).map(LogicalPlan::Filter)
}

/// True, whatever it is given; what it is given is read. No user can call it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Asked {
    signature: Signature,
}

impl Asked {
    fn new() -> Self {
        Self { signature: Signature::variadic_any(Volatility::Stable) }
    }
}

impl ScalarUDFImpl for Asked {
    fn name(&self) -> &'static str {
        "recursion"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
    }
}
