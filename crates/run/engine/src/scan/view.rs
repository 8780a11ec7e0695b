//! A view as the raw table below a barrier of its own: its text, planned and governed.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, LogicalPlanBuilder, TableType};
use datafusion::physical_plan::ExecutionPlan;
use enforce::{QueryId, bare_schema};

use super::steady::is_steady_view;
use super::veil::veiled;
use super::{BarrierExec, Passage};

/// A view's text as it was planned over sealed sources; nothing in it can run yet.
pub(crate) struct ViewPlan(pub(crate) LogicalPlan);

/// A view's governed plan. Predicates that come here cannot fail, and may go on into it.
pub(crate) struct ViewProvider {
    plan: LogicalPlan,
    schema: SchemaRef,
    query: QueryId,
    computed: Vec<bool>,
    /// Nothing enters where the text's own conditions may fail: which rows they meet is not for the reader to choose.
    passage: Passage,
}

impl fmt::Debug for ViewProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewProvider").finish_non_exhaustive()
    }
}

impl ViewProvider {
    pub(crate) fn new(plan: LogicalPlan, query: QueryId) -> Self {
        let schema = bare(plan.schema().as_arrow());
        let computed = computed(&plan);
        let passage = if is_steady_view(&plan) { Passage::Columns } else { Passage::Shut };
        Self { plan, schema, query, computed, passage }
    }

    /// What the view reads, column by column, for those who ask what a column is made of.
    pub(crate) fn below(&self) -> &LogicalPlan {
        &self.plan
    }

    /// Whether a column is computed by the view's text. A predicate on such a one would be put as that computation
    /// below the text's own conditions, where it may fail on a row that they leave out.
    pub(crate) fn is_computed(&self, column: &str) -> bool {
        let at = self.schema.index_of(column).ok();
        at.and_then(|at| self.computed.get(at)).copied().unwrap_or(true)
    }

    /// Whether a predicate that cannot fail may go into the view's plan.
    pub(crate) fn may_enter(&self, predicate: &Expr) -> bool {
        self.passage != Passage::Shut
            && predicate.column_refs().iter().all(|column| !self.is_computed(&column.name))
    }

    /// The plan that gives some of the columns of those rows that pass.
    pub(crate) fn plan(
        &self,
        projection: Option<&[usize]>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<LogicalPlan> {
        let own = self.plan.schema().columns().into_iter().zip(self.schema.fields());
        let own: Vec<Expr> = own.map(|(column, field)| Expr::Column(column).alias(field.name())).collect();
        let mut builder = LogicalPlanBuilder::from(self.plan.clone()).project(own)?;
        if let Some(predicate) = conjunction(filters.iter().cloned()) {
            builder = builder.filter(predicate)?;
        }
        if let Some(wanted) = projection {
            let names = wanted.iter().filter_map(|at| self.schema.fields().get(*at));
            builder = builder.project(names.map(|field| quoted(field.name())).collect::<Vec<_>>())?;
        }
        if limit.is_some() {
            builder = builder.limit(0, limit)?;
        }
        builder.build()
    }
}

/// For each column of a plan, whether anything but a column of a scan may be below it.
fn computed(plan: &LogicalPlan) -> Vec<bool> {
    let all = |is_computed: bool| vec![is_computed; plan.schema().fields().len()];
    let of_input = |input: &LogicalPlan| {
        let inner = computed(input);
        if inner.len() == plan.schema().fields().len() { inner } else { all(true) }
    };
    match plan {
        LogicalPlan::TableScan(_) => all(false),
        LogicalPlan::Filter(filter) => of_input(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => of_input(&alias.input),
        LogicalPlan::Sort(sort) => of_input(&sort.input),
        LogicalPlan::Projection(projection) => {
            let inner = computed(&projection.input);
            let is_computed = |expr: &Expr| match expr.clone().unalias_nested().data {
                Expr::Column(column) => projection
                    .input
                    .schema()
                    .maybe_index_of_column(&column)
                    .and_then(|at| inner.get(at).copied())
                    .unwrap_or(true),
                _ => true,
            };
            projection.expr.iter().map(is_computed).collect()
        }
        LogicalPlan::Join(join) if matches!(join.join_type, JoinType::Inner) => {
            let mut both = computed(&join.left);
            both.extend(computed(&join.right));
            if both.len() == plan.schema().fields().len() { both } else { all(true) }
        }
        // Predicates may pass these too, but rarely do in a view whose columns matter.
        _ => all(true),
    }
}

fn quoted(name: &str) -> Expr {
    Expr::Column(datafusion::common::Column::from_name(name))
}

/// A schema as governed scans have it: names, types and nullability.
pub(crate) fn bare(schema: &Schema) -> SchemaRef {
    Arc::new(bare_schema(schema))
}

#[async_trait]
impl TableProvider for ViewProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.plan(projection.map(Vec::as_slice), filters, limit)?;
        // What the text is made of is not told by where it fails.
        let physical = state.create_physical_plan(&plan).await.map_err(veiled)?;
        let computed: Arc<[bool]> = match projection {
            Some(wanted) => wanted.iter().map(|at| self.computed.get(*at).copied().unwrap_or(true)).collect(),
            None => self.computed.iter().copied().collect(),
        };
        Ok(Arc::new(BarrierExec::over_policies(physical, self.query, self.passage, computed)?))
    }
}
