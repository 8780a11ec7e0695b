//! The physical barrier: what stands above it never reaches what stands below (L4).

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, ChildPushdownResult, FilterDescription, FilterPushdownPhase,
    FilterPushdownPropagation,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult,
};
use enforce::QueryId;
use futures::StreamExt;

/// What may go down through a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// Nothing is hidden below: whatever the optimizer likes.
    Open,
    /// Filters that the engine makes, on bare columns.
    Columns,
    /// Nothing: a row filter below may fail, and which rows it meets is not for the reader to choose (L2).
    Shut,
}

/// Passes batches through unchanged, and decides what the optimizer may move through it.
///
/// A closed barrier (over hidden rows or values) lets engine-made dynamic filters pass on bare columns only, refuses
/// every filter of the user, and makes statistics inexact. An open one (nothing is hidden) only bears the clearance.
///
/// Field metadata ends here: field ids are the scan's own business, and no logical schema has them.
#[derive(Debug)]
pub(crate) struct BarrierExec {
    input: Arc<dyn ExecutionPlan>,
    query: QueryId,
    passage: Passage,
    properties: Arc<PlanProperties>,
}

impl BarrierExec {
    pub(crate) fn try_new(input: Arc<dyn ExecutionPlan>, query: QueryId, passage: Passage) -> Result<Self> {
        let schema = without_metadata(&input.schema());
        let properties = input.properties().as_ref().clone();
        let equivalences = properties.eq_properties.clone().with_new_schema(schema)?;
        let properties = Arc::new(properties.with_eq_properties(equivalences));
        Ok(Self { input, query, passage, properties })
    }

    pub(crate) fn query(&self) -> QueryId {
        self.query
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::try_new(input, self.query, self.passage)?))
    }
}

fn without_metadata(schema: &Schema) -> SchemaRef {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| Field::new(field.name(), field.data_type().clone(), field.is_nullable()))
        .collect();
    Arc::new(Schema::new(fields))
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
        &self.properties
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
            (Some(input), true) => self.over(input),
            _ => internal_err!("a barrier has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let batches = self.input.execute(partition, context)?;
        let out = Arc::clone(&schema);
        let renamed = batches.map(move |batch| {
            let batch = batch?;
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), batch.columns().to_vec(), &rows)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(out, renamed)))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let statistics = self.input.partition_statistics(partition)?;
        if self.passage == Passage::Open {
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
        if self.passage == Passage::Open {
            return FilterDescription::from_children(parent_filters, &self.children());
        }
        // A column that the child lacks is how one filter of a list is marked as refused.
        let veto: Arc<dyn PhysicalExpr> = Arc::new(Column::new("\u{0}barrier", usize::MAX));
        let screened: Vec<Arc<dyn PhysicalExpr>> = parent_filters
            .iter()
            .map(|filter| match self.passage != Passage::Shut && may_pass(filter) {
                true => Arc::clone(filter),
                false => Arc::clone(&veto),
            })
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
        if self.passage == Passage::Shut || self.passage == Passage::Columns && !is_bare {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        self.input.try_pushdown_sort(order)?.try_map(|input| self.over(input))
    }
}
