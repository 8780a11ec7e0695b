//! The physical barrier: what stands above it never reaches what stands below (L4).

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
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

use super::blank::{blanked, titled};
use super::veil::veiled;

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
/// Where columns are computed below, in a view, filters pass on those alone that are not.
///
/// Field metadata ends here: field ids are the scan's own business, and no logical schema has them.
#[derive(Debug)]
pub(crate) struct BarrierExec {
    input: Arc<dyn ExecutionPlan>,
    query: QueryId,
    passage: Passage,
    /// By position, the columns that are computed below; past its end none is.
    computed: Arc<[bool]>,
    /// Whether policies or a view's text are evaluated below, whose failure tells nothing of the values that they failed on.
    is_veiled: bool,
    properties: Arc<PlanProperties>,
}

impl BarrierExec {
    pub(crate) fn try_new(input: Arc<dyn ExecutionPlan>, query: QueryId, passage: Passage) -> Result<Self> {
        let schema = Arc::new(enforce::bare_schema(&input.schema()));
        let properties = input.properties().as_ref().clone();
        // Where the elements of a column are called otherwise now, the orders stay, and equalities are not worth an error.
        let equivalences = match properties.eq_properties.clone().with_new_schema(Arc::clone(&schema)) {
            Ok(equivalences) => equivalences,
            Err(_) => {
                let orders = properties.eq_properties.oeq_class().iter().cloned();
                EquivalenceProperties::new_with_orderings(schema, orders)
            }
        };
        let properties = Arc::new(properties.with_eq_properties(equivalences));
        Ok(Self { input, query, passage, computed: Arc::new([]), is_veiled: false, properties })
    }

    /// A closed one, over filters and masks, or the text of a view, that are planned with what is below. Some columns
    /// are computed there.
    pub(crate) fn over_policies(
        input: Arc<dyn ExecutionPlan>,
        query: QueryId,
        passage: Passage,
        computed: Arc<[bool]>,
    ) -> Result<Self> {
        Ok(Self { computed, is_veiled: true, ..Self::try_new(input, query, passage)? })
    }

    pub(crate) fn query(&self) -> QueryId {
        self.query
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let (computed, is_veiled) = (Arc::clone(&self.computed), self.is_veiled);
        Ok(Arc::new(Self { computed, is_veiled, ..Self::try_new(input, self.query, self.passage)? }))
    }

    /// A filter that the engine made and whose operands are all bare columns here, and stored ones below.
    ///
    /// An operand that was a column of a join key may arrive as an expression, for projections put their expressions
    /// in the place of columns on the way down; such a one could fail on a hidden row.
    fn may_pass(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        let is_stored = |operand: &&Arc<dyn PhysicalExpr>| {
            operand
                .downcast_ref::<Column>()
                .is_some_and(|column| !self.computed.get(column.index()).copied().unwrap_or_default())
        };
        self.passage != Passage::Shut
            && filter.downcast_ref::<DynamicFilterPhysicalExpr>().is_some()
            && filter.children().iter().all(is_stored)
    }
}

/// A batch as it may be seen from above: with nothing under its NULLs where rows are hidden below.
///
/// A reader of files leaves what it likes under a NULL, values of neighbouring rows too.
fn cleared(batch: &RecordBatch, schema: &SchemaRef, passage: Passage) -> Result<RecordBatch> {
    let n_rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        let column = match passage {
            Passage::Open => Arc::clone(column),
            Passage::Columns | Passage::Shut => blanked(Arc::clone(column))?,
        };
        titled(column, field.data_type())
    });
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect::<Result<_>>()?, &n_rows)?)
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
        let (passage, is_veiled) = (self.passage, self.is_veiled);
        let renamed = batches.map(move |batch| {
            let batch = batch.map_err(|error| if is_veiled { veiled(error) } else { error })?;
            cleared(&batch, &schema, passage)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(out, renamed)))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let statistics = self.input.partition_statistics(partition)?;
        if self.passage == Passage::Open {
            return Ok(statistics);
        }
        // Never exact: no answer may be taken from statistics of hidden rows. Never dropped: join order needs them.
        let mut statistics = Arc::unwrap_or_clone(statistics).to_inexact();
        // Without bounds: estimates try what stands above on them, and so the reader's expressions on hidden values.
        for column in &mut statistics.column_statistics {
            column.min_value = Precision::Absent;
            column.max_value = Precision::Absent;
            column.sum_value = Precision::Absent;
        }
        Ok(Arc::new(statistics))
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
            .map(|filter| if self.may_pass(filter) { Arc::clone(filter) } else { Arc::clone(&veto) })
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
