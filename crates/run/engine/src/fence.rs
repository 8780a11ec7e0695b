//! Fences below joins and aggregates, where DataFusion 54.1 believes of NULLs what holds of values only.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, NullEquality, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, PhysicalGroupBy};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};

/// Puts the fences up, before every rule of DataFusion's that could rely on what is wrong.
///
/// A constant of a join's input is taken for one of its output, also where the join puts NULLs in its place, and
/// likewise with grouping sets. An aggregate above then believes that its input comes in the order of that column, and
/// gives one group several times: how often hangs on how the rows lie, hidden ones between them.
///
/// A join for NOT IN pushes down what values it looks for, and with the others it then misses the NULL which says that
/// no row is to come. So does one for which NULL is equal to NULL, as of EXCEPT and IS NOT DISTINCT FROM.
///
/// A filter that is pushed down is put over the columns of the names that it has, and of two with one name over the
/// first.
#[derive(Debug)]
pub(crate) struct PutFences;

impl PhysicalOptimizerRule for PutFences {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            if let Some(aggregate) = node.downcast_ref::<AggregateExec>()
                && !aggregate.group_expr().is_single()
            {
                return over_fence(aggregate).map(Transformed::yes);
            }
            let wanted = fences(node.as_ref());
            let mut children = Vec::new();
            let mut is_changed = false;
            for (at, child) in node.children().into_iter().enumerate() {
                let wanted = wanted.get(at).copied().flatten();
                let mut fenced = Arc::clone(child);
                if wanted == Some(Fence::Filters) || names_twice(&child.schema()) {
                    fenced = Arc::new(FenceExec::new(fenced, Fence::Filters));
                    is_changed = true;
                }
                if wanted == Some(Fence::Constants) && !child.equivalence_properties().constants().is_empty()
                {
                    fenced = Arc::new(FenceExec::new(fenced, Fence::Constants));
                    is_changed = true;
                }
                children.push(fenced);
            }
            if !is_changed {
                return Ok(Transformed::no(node));
            }
            Ok(Transformed::yes(node.with_new_children(children)?))
        })
        .map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "put_fences"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// What a fence keeps from going through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fence {
    /// Upwards: which columns are constant. Filters go down through it.
    Constants,
    /// Downwards: filters.
    Filters,
}

/// Whether two columns have one name: a filter on its way down finds columns by name, and then takes the first.
fn names_twice(schema: &Schema) -> bool {
    let mut seen = HashSet::with_capacity(schema.fields().len());
    !schema.fields().iter().all(|field| seen.insert(field.name()))
}

/// The fence that each child of a node needs.
fn fences(node: &dyn ExecutionPlan) -> Vec<Option<Fence>> {
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        if join.null_aware {
            return vec![None, Some(Fence::Filters)];
        }
        // Where NULL is equal to NULL, what is pushed down to either side would leave its NULLs out.
        if join.null_equality() == NullEquality::NullEqualsNull {
            return vec![Some(Fence::Filters); 2];
        }
        return sides(*join.join_type());
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        return sides(*join.join_type());
    }
    if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        return sides(join.join_type());
    }
    Vec::new()
}

/// Grouping sets over a fence. A group that is an expression of no column becomes a column below the fence, or it would
/// be a constant of itself.
fn over_fence(aggregate: &AggregateExec) -> Result<Arc<dyn ExecutionPlan>> {
    let input = aggregate.input();
    let schema = input.schema();
    let own = schema.fields().iter().enumerate();
    let mut columns: Vec<(Arc<dyn PhysicalExpr>, String)> =
        own.map(|(at, field)| (Arc::new(Column::new(field.name(), at)) as _, field.name().clone())).collect();
    let n_own = columns.len();
    let group = aggregate.group_expr();
    let mut groups = Vec::with_capacity(group.expr().len());
    for (expr, name) in group.expr() {
        if !collect_columns(expr).is_empty() {
            groups.push((Arc::clone(expr), name.clone()));
            continue;
        }
        let title = format!("\u{0}group {}", columns.len());
        groups.push((Arc::new(Column::new(&title, columns.len())) as Arc<dyn PhysicalExpr>, name.clone()));
        columns.push((Arc::clone(expr), title));
    }
    let below: Arc<dyn ExecutionPlan> = match columns.len() > n_own {
        true => Arc::new(ProjectionExec::try_new(columns, Arc::clone(input))?),
        false => Arc::clone(input),
    };
    let sets = PhysicalGroupBy::new(groups, group.null_expr().to_vec(), group.groups().to_vec(), true);
    let (aggregates, filters) = (aggregate.aggr_expr().to_vec(), aggregate.filter_expr().to_vec());
    let fenced = Arc::new(FenceExec::new(below, Fence::Constants));
    let over = AggregateExec::try_new(
        *aggregate.mode(),
        sets,
        aggregates,
        filters,
        fenced,
        aggregate.input_schema(),
    )?;
    Ok(Arc::new(over))
}

/// Where a join gives NULLs in the place of an input's values.
fn sides(join: JoinType) -> Vec<Option<Fence>> {
    let fence = Some(Fence::Constants);
    match join {
        JoinType::Left => vec![None, fence],
        JoinType::Right => vec![fence, None],
        JoinType::Full => vec![fence, fence],
        JoinType::Inner
        | JoinType::LeftSemi
        | JoinType::RightSemi
        | JoinType::LeftAnti
        | JoinType::RightAnti
        | JoinType::LeftMark
        | JoinType::RightMark => Vec::new(),
    }
}

/// Its input's rows. Above a fence for constants nothing is known of them but how they are partitioned; one for
/// filters changes nothing else, or the order that a query asks for would be taken for unwanted.
#[derive(Debug)]
struct FenceExec {
    input: Arc<dyn ExecutionPlan>,
    fence: Fence,
    properties: Arc<PlanProperties>,
}

impl FenceExec {
    fn new(input: Arc<dyn ExecutionPlan>, fence: Fence) -> Self {
        let mut properties = input.properties().as_ref().clone();
        if fence == Fence::Constants {
            properties = properties.with_eq_properties(EquivalenceProperties::new(input.schema()));
        }
        Self { input, fence, properties: Arc::new(properties) }
    }
}

impl DisplayAs for FenceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FenceExec")
    }
}

impl ExecutionPlan for FenceExec {
    fn name(&self) -> &'static str {
        "FenceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.fence == Fence::Filters]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self::new(input, self.fence))),
            _ => internal_err!("a fence has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        self.input.partition_statistics(partition)
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        parent_filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        match self.fence {
            Fence::Constants => FilterDescription::from_children(parent_filters, &self.children()),
            Fence::Filters => Ok(FilterDescription::all_unsupported(&parent_filters, &self.children())),
        }
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        child_pushdown_result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(child_pushdown_result))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::ScalarValue;
    use datafusion::physical_expr::expressions::Literal;
    use datafusion::physical_plan::aggregates::AggregateMode;
    use datafusion::physical_plan::empty::EmptyExec;

    use super::*;

    #[test]
    fn a_group_that_is_a_constant_of_itself_is_none_above_grouping_sets() {
        let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int32, true)]));
        let five = |value| Arc::new(Literal::new(ScalarValue::Int32(value))) as Arc<dyn PhysicalExpr>;
        let x = Arc::new(Column::new("x", 0)) as Arc<dyn PhysicalExpr>;
        let sets = PhysicalGroupBy::new(
            vec![(five(Some(5)), "five".to_owned()), (x, "x".to_owned())],
            vec![(five(None), "five".to_owned()), (five(None), "x".to_owned())],
            vec![vec![false, false], vec![true, false]],
            true,
        );
        let empty = Arc::new(EmptyExec::new(Arc::clone(&schema)));
        let plan =
            AggregateExec::try_new(AggregateMode::Partial, sets, vec![], vec![], empty, schema).unwrap();
        let plan: Arc<dyn ExecutionPlan> = Arc::new(plan);
        assert!(!plan.equivalence_properties().constants().is_empty());
        let names = plan.schema();
        let fenced = PutFences.optimize(plan, &ConfigOptions::default()).unwrap();
        assert!(fenced.equivalence_properties().constants().is_empty());
        assert_eq!(fenced.schema(), names);
        assert_eq!(fenced.children()[0].name(), "FenceExec");
    }
}
