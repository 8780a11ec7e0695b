//! The physical barrier: what stands above it never reaches what stands below (L4).

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult,
};
use enforce::QueryId;

/// Passes batches through unchanged, and decides what the optimizer may move through it.
///
/// A closed barrier (over hidden rows or values) lets engine-made dynamic filters pass on bare columns only, refuses
/// every filter of the user, and makes statistics inexact. An open one (nothing is hidden) only bears the clearance.
#[derive(Debug)]
pub(crate) struct BarrierExec {
    input: Arc<dyn ExecutionPlan>,
    query: QueryId,
    is_closed: bool,
}

impl BarrierExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, query: QueryId, is_closed: bool) -> Self {
        Self { input, query, is_closed }
    }

    pub(crate) fn query(&self) -> QueryId {
        self.query
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self { input, query: self.query, is_closed: self.is_closed })
    }
}

/// A filter that the engine made and whose operands are all bare columns here.
///
/// An operand that was a column of a join key may arrive as an expression, for projections put their expressions in
/// the place of columns on the way down; such a one could fail on a hidden row.
fn may_pass(filter: &Arc<dyn PhysicalExpr>) -> bool {
    filter.downcast_ref::<DynamicFilterPhysicalExpr>().is_some()
        && filter.children().iter().all(|operand| operand.downcast_ref::<Column>().is_some())
}

impl DisplayAs for BarrierExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BarrierExec")
    }
}

impl ExecutionPlan for BarrierExec {
    fn name(&self) -> &'static str {
        "BarrierExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(self.over(input)),
            _ => internal_err!("a barrier has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let statistics = self.input.partition_statistics(partition)?;
        if !self.is_closed {
            return Ok(statistics);
        }
        // Never exact: no answer may be taken from statistics of hidden rows. Never dropped: join order needs them.
        Ok(Arc::new(Arc::unwrap_or_clone(statistics).to_inexact()))
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
        if !self.is_closed {
            return FilterDescription::from_children(parent_filters, &self.children());
        }
        // A column that the child lacks is how one filter of a list is marked as refused.
        let veto: Arc<dyn PhysicalExpr> = Arc::new(Column::new("\u{0}barrier", usize::MAX));
        let screened: Vec<Arc<dyn PhysicalExpr>> = parent_filters
            .iter()
            .map(|filter| if may_pass(filter) { Arc::clone(filter) } else { Arc::clone(&veto) })
            .collect();
        Ok(FilterDescription::new().with_child(ChildFilterDescription::from_child(&screened, &self.input)?))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        child_pushdown_result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(child_pushdown_result))
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
    ) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        let is_bare = order.iter().all(|sort| sort.expr.downcast_ref::<Column>().is_some());
        if self.is_closed && !is_bare {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        self.input.try_pushdown_sort(order)?.try_map(|input| Ok(self.over(input)))
    }
}
