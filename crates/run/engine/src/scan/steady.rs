//! Whether conditions that stand below a barrier have an answer for every row: only then may a reader's run beside them.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, lit};
use enforce::cannot_fail;

/// Whether a row filter, with the sub-queries in it, cannot fail.
pub(super) fn is_steady_filter(filter: &Expr, schema: &Schema) -> bool {
    let without_queries = filter.clone().transform_up(|part| {
        Ok(match &part {
            Expr::InSubquery(within)
                if cannot_fail(&within.expr, schema)
                    && is_of_its_type(within, schema)
                    && is_steady_query(&within.subquery.subquery) =>
            {
                Transformed::yes(lit(true))
            }
            Expr::Exists(exists) if is_steady_query(&exists.subquery.subquery) => Transformed::yes(lit(true)),
            _ => Transformed::no(part),
        })
    });
    without_queries.is_ok_and(|filter| cannot_fail(&filter.data, schema))
}

fn is_of_its_type(within: &InSubquery, schema: &Schema) -> bool {
    let own = DFSchema::try_from(schema.clone()).and_then(|schema| within.expr.get_type(&schema));
    let listed = within.subquery.subquery.schema().fields().first().map(|field| field.data_type().clone());
    own.ok().is_some_and(|own| Some(own) == listed)
}

/// Whether the conditions of a view's text cannot fail. Its columns are the reader's own rows, whose failure is hers.
pub(super) fn is_steady_view(plan: &LogicalPlan) -> bool {
    let may_fail = |node: &LogicalPlan| match node {
        LogicalPlan::Filter(filter) => !holds(&filter.predicate, &filter.input),
        LogicalPlan::Join(join) => join.filter.iter().any(|filter| {
            !has_names_of_its_own(&join.schema) || !cannot_fail(filter, join.schema.as_arrow())
        }),
        _ => false,
    };
    never(plan, may_fail)
}

/// A sub-query that is read in any order and as far as anybody likes: nothing in it may fail, and it counts nothing.
fn is_steady_query(plan: &LogicalPlan) -> bool {
    let may_fail = |node: &LogicalPlan| match node {
        LogicalPlan::TableScan(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Distinct(_) => false,
        LogicalPlan::Filter(filter) => !holds(&filter.predicate, &filter.input),
        LogicalPlan::Projection(projection) => {
            projection.expr.iter().any(|expr| !holds(&expr.clone().unalias_nested().data, &projection.input))
        }
        _ => true,
    };
    never(plan, may_fail)
}

fn never(plan: &LogicalPlan, may_fail: impl Fn(&LogicalPlan) -> bool) -> bool {
    let found: Result<bool> = plan.exists(|node| Ok(may_fail(node)));
    found.is_ok_and(|found| !found)
}

fn holds(expr: &Expr, input: &LogicalPlan) -> bool {
    let schema = input.schema();
    has_names_of_its_own(schema) && is_coerced(expr, schema) && cannot_fail(expr, schema.as_arrow())
}

/// Operands of different types would be cast, which can fail.
fn is_coerced(expr: &Expr, schema: &DFSchema) -> bool {
    let is_mixed = |part: &Expr| match part {
        Expr::BinaryExpr(BinaryExpr { left, right, .. }) => {
            let types = (left.get_type(schema), right.get_type(schema));
            !matches!(types, (Ok(left), Ok(right)) if left == right)
        }
        Expr::InList(_) | Expr::Between(_) | Expr::Case(_) | Expr::Like(_) => true,
        _ => false,
    };
    expr.exists(|part| Ok(is_mixed(part))).is_ok_and(|is_mixed| !is_mixed)
}

/// Types are looked up by bare name, so that a name that two relations have tells nothing of either.
fn has_names_of_its_own(schema: &DFSchema) -> bool {
    let mut names = BTreeSet::new();
    schema.fields().iter().all(|field| names.insert(field.name()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::datatypes::{DataType, Field};
    use datafusion::logical_expr::{
        LogicalPlanBuilder, cast, col, exists, in_subquery, out_ref_col, table_scan,
    };

    use super::*;

    fn own() -> Schema {
        Schema::new(vec![Field::new("id", DataType::Int32, true), Field::new("z", DataType::Int32, true)])
    }

    fn below(make: impl Fn(LogicalPlanBuilder) -> Result<LogicalPlanBuilder>) -> Arc<LogicalPlan> {
        let scan = table_scan(Some("h"), &own(), None).unwrap();
        Arc::new(make(scan).unwrap().build().unwrap())
    }

    #[test]
    fn a_filter_is_as_steady_as_its_sub_queries() {
        let is_own = || col("h.id").eq(out_ref_col(DataType::Int32, "t.id"));
        let ids = |condition: Expr| below(|scan| scan.filter(condition.clone())?.project(vec![col("h.id")]));
        for filter in [
            in_subquery(col("id"), ids(col("h.z").eq(lit(1_i32)))),
            exists(ids(is_own())).and(col("z").gt(lit(0_i32))),
            in_subquery(col("id"), below(|scan| scan.project(vec![col("h.id")])?.distinct())),
        ] {
            assert!(is_steady_filter(&filter, &own()), "{filter}");
        }
        for filter in [
            in_subquery(col("id"), ids((lit(10_i32) / col("h.z")).gt(lit(0_i32)))),
            exists(ids(is_own().and((lit(10_i32) / out_ref_col(DataType::Int32, "t.z")).gt(lit(0_i32))))),
            // Operands of two types will be cast.
            in_subquery(col("id"), ids(col("h.z").eq(lit("1")))),
            in_subquery(cast(col("id"), DataType::Int8), ids(lit(true))),
            in_subquery(col("id"), below(|scan| scan.project(vec![cast(col("h.id"), DataType::Int8)]))),
            exists(ids(is_own())).and((lit(1_i32) / col("z")).gt(lit(0_i32))),
            exists(below(|scan| scan.limit(0, Some(1)))),
        ] {
            assert!(!is_steady_filter(&filter, &own()), "{filter}");
        }
    }

    #[test]
    fn a_view_is_as_steady_as_its_conditions() {
        let steady =
            below(|scan| scan.filter(col("h.z").gt(lit(0_i32)))?.project(vec![lit(1_i32) / col("h.z")]));
        assert!(is_steady_view(&steady));
        let failing = below(|scan| scan.filter((lit(1_i32) / col("h.z")).gt(lit(0_i32))));
        assert!(!is_steady_view(&failing));
        // Of two columns of one name, neither's type is known by it.
        let twice = below(|scan| {
            let other = table_scan(Some("i"), &own(), None)?.build()?;
            scan.cross_join(other)?.filter(col("h.z").gt(lit(0_i32)))
        });
        assert!(!is_steady_view(&twice));
    }
}
