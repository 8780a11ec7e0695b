//! One leaf that no optimizer rule can look into: raw scan, row filter beside harmless predicates, barrier, masks.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{
    Column, DFSchema, DataFusionError, Result, ScalarValue, Statistics, TableReference, internal_err,
    plan_err,
};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableType, cast,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column as PhysicalColumn, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExecBuilder;
use datafusion::physical_plan::projection::ProjectionExec;
use enforce::{Clearance, ColumnVerdict, bare_schema, bare_type, is_harmless};

use super::steady::is_steady_filter;
use super::veil::veiled;
use super::{BarrierExec, Passage, Veil, ViewPlan, ViewProvider};
use crate::policy_expr::has_query;

/// A table as one user may read it in one query.
pub(crate) struct GovernedProvider {
    clearance: Clearance,
    raw: Arc<dyn TableProvider>,
}

impl fmt::Debug for GovernedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GovernedProvider").field("clearance", &self.clearance).finish_non_exhaustive()
    }
}

impl GovernedProvider {
    pub(crate) fn new(clearance: Clearance, raw: Arc<dyn TableProvider>) -> Self {
        Self { clearance, raw }
    }

    pub(crate) fn clearance(&self) -> &Clearance {
        &self.clearance
    }

    /// Over a view the barrier is closed even where no policy hides anything: what the view's text leaves out is hidden.
    fn is_restricting(&self) -> bool {
        self.clearance.verdict().is_restricting() || self.view().is_some()
    }

    /// The view that is read, if it is one.
    pub(crate) fn view(&self) -> Option<&ViewProvider> {
        self.raw.downcast_ref::<ViewProvider>()
    }

    /// Whether a policy has a sub-query.
    fn has_queries(&self) -> bool {
        let verdict = self.clearance.verdict();
        let masks = verdict.columns.iter().filter_map(|column| match column {
            ColumnVerdict::Masked(mask) => Some(mask),
            ColumnVerdict::Raw | ColumnVerdict::Restricted => None,
        });
        verdict.filters.iter().chain(masks).any(has_query)
    }

    /// Whether predicates may be tried on a column's stored values: only if no mask stands over it.
    fn is_raw(&self, column: &str) -> bool {
        self.clearance
            .raw_schema()
            .index_of(column)
            .is_ok_and(|i| matches!(self.clearance.verdict().columns.get(i), Some(ColumnVerdict::Raw)))
    }

    fn is_harmless(&self, predicate: &Expr) -> bool {
        is_harmless(predicate, self.clearance.raw_schema(), &|column| self.is_raw(column))
    }

    /// Whether a row filter is made of comparisons that cannot fail, so that pruning may look into it.
    fn is_plain(&self, filter: &Expr) -> bool {
        is_harmless(filter, self.clearance.raw_schema(), &|_| true)
    }

    /// Whether the row filters have an answer for whatever is stored: only then may anything run beside them.
    fn is_steady(&self) -> bool {
        let schema = self.clearance.raw_schema();
        self.clearance.verdict().filters.iter().all(|filter| is_steady_filter(filter, schema))
    }

    fn passage(&self) -> Passage {
        if self.is_steady() { Passage::Columns } else { Passage::Shut }
    }

    /// The output columns by position in the raw schema, each with how it is read.
    fn outputs<'a>(&'a self, projection: Option<&[usize]>) -> Result<Vec<Output<'a>>> {
        let schema = self.clearance.raw_schema();
        let all: Vec<usize>;
        let wanted = match projection {
            Some(wanted) => wanted,
            None => {
                all = (0..self.clearance.governed_schema().fields().len()).collect();
                &all
            }
        };
        wanted
            .iter()
            .map(|&i| match (schema.fields().get(i), self.clearance.verdict().columns.get(i)) {
                (Some(field), Some(verdict)) => Ok(Output { name: field.name(), position: i, verdict }),
                _ => internal_err!("a scan asks for a column that the table lacks"),
            })
            .collect()
    }

    async fn scan_open(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // A former state has columns of today behind its own, which are for policies alone.
        let own: Vec<usize> = (0..self.clearance.governed_schema().fields().len()).collect();
        let plan = self.raw.scan(state, projection.or(Some(&own)), filters, limit).await?;
        Ok(Arc::new(BarrierExec::try_new(plan, self.clearance.query(), Passage::Open)?))
    }

    /// What rows must pass: the row filters, and harmless predicates of the user.
    fn predicates(&self, filters: &[Expr]) -> Result<Vec<Expr>> {
        let mut predicates = self.clearance.verdict().filters.clone();
        for filter in filters {
            let filter = unnormalize_col(filter.clone());
            // Asked for Exact, so it must be applied; anything else here is a fault of the caller. What was harmless may
            // have come down to its value meanwhile, as a list with a NULL in it does.
            let is_value = matches!(&filter, Expr::Literal(ScalarValue::Boolean(_) | ScalarValue::Null, _));
            if !is_value && !self.is_harmless(&filter) {
                return internal_err!("a predicate that may fail reached a governed scan");
            }
            predicates.push(if is_value { cast(filter, DataType::Boolean) } else { filter });
        }
        Ok(predicates)
    }

    /// Where a policy has a sub-query, filter and masks are planned as a query is, below a barrier of their own.
    async fn scan_planned(
        &self,
        state: &dyn Session,
        projection: Option<&[usize]>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let outputs = self.outputs(projection)?;
        let predicates = self.predicates(filters)?;
        let limit = if predicates.is_empty() { limit } else { None };
        let relation = self.clearance.relation();
        let own = TableReference::full(relation.catalog.clone(), relation.database(), relation.name.clone());
        let source = Opened { raw: Arc::clone(&self.raw), clearance: self.clearance.clone() };
        let mut plan = LogicalPlanBuilder::scan(own.clone(), provider_as_source(Arc::new(source)), None)?;
        if let Some(predicate) = conjunction(predicates) {
            plan = plan.filter(qualified(predicate, &own)?)?;
        }
        let (mut masked, mut computed) = (Vec::new(), Vec::new());
        for output in &outputs {
            let kind = self.clearance.raw_schema().field(output.position).data_type();
            let (expr, is_computed) = match output.verdict {
                ColumnVerdict::Raw => (Expr::Column(Column::from_name(output.name)), false),
                ColumnVerdict::Restricted => (Expr::Literal(ScalarValue::try_from(kind)?, None), true),
                ColumnVerdict::Masked(mask) => (cast(mask.clone(), kind.clone()), true),
            };
            masked.push(qualified(expr, &own)?.alias(output.name));
            computed.push(is_computed || self.view().is_some_and(|view| view.is_computed(output.name)));
        }
        let plan = crate::plannable::with_joined_queries(plan.project(masked)?.limit(0, limit)?.build()?)?;
        // That a policy's sub-query cannot be planned is no more the reader's business than what it gives.
        let physical = state.create_physical_plan(&plan).await.map_err(veiled)?;
        let (query, passage) = (self.clearance.query(), self.passage());
        Ok(Arc::new(BarrierExec::over_policies(physical, query, passage, computed.into())?))
    }

    async fn scan_closed(
        &self,
        state: &dyn Session,
        projection: Option<&[usize]>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let outputs = self.outputs(projection)?;
        let predicates = self.predicates(filters)?;
        let needed = self.needed(&outputs, &predicates)?;
        let limit = if predicates.is_empty() { limit } else { None };
        let mut plan = match self.view() {
            None => self.raw.scan(state, Some(&needed), &predicates, limit).await?,
            Some(view) => {
                let may_enter = |part: &&Expr| view.may_enter(part) && self.is_plain(part);
                let entering: Vec<Expr> = predicates.iter().filter(may_enter).cloned().collect();
                view.scan(state, Some(&needed), &entering, limit).await?
            }
        };
        // What only the filter reads goes no further than the filter.
        let read = self.needed(&outputs, &[])?;
        let narrow = Arc::new(bare_schema(&self.clearance.raw_schema().project(&read)?));
        let df_schema = DFSchema::try_from(Arc::clone(&narrow))?;
        if let Some(predicate) = conjunction(predicates) {
            let filtered = DFSchema::try_from(self.clearance.raw_schema().project(&needed)?)?;
            let predicate = state.create_physical_expr(predicate, &filtered)?;
            // The filter's own failure must not tell of the row that it failed on; harmless parts cannot fail.
            let predicate = if self.clearance.verdict().filters.iter().all(|filter| self.is_plain(filter)) {
                predicate
            } else {
                Veil::over(predicate)
            };
            let kept = read.iter().filter_map(|column| needed.binary_search(column).ok()).collect();
            let filter = FilterExecBuilder::new(predicate, plan)
                .with_batch_size(state.config().batch_size())
                .apply_projection(Some(kept))?;
            plan = Arc::new(filter.build()?);
        }
        let barrier: Arc<dyn ExecutionPlan> =
            Arc::new(BarrierExec::try_new(plan, self.clearance.query(), self.passage())?);
        let masked = outputs
            .iter()
            .map(|output| Ok((self.read(output, state, &narrow, &df_schema)?, output.name.to_owned())))
            .collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(ProjectionExec::try_new(masked, barrier)?))
    }

    /// Columns that filters and masks read, in table order; a column that is only to be NULL is not read.
    fn needed(&self, outputs: &[Output<'_>], predicates: &[Expr]) -> Result<Vec<usize>> {
        let schema = self.clearance.raw_schema();
        let mut needed = BTreeSet::new();
        let mut add_columns_of = |expr: &Expr| -> Result<()> {
            for column in expr.column_refs() {
                needed.insert(schema.index_of(&column.name)?);
            }
            Ok(())
        };
        for predicate in predicates {
            add_columns_of(predicate)?;
        }
        for output in outputs {
            match output.verdict {
                ColumnVerdict::Raw => add_columns_of(&Expr::Column(Column::from_name(output.name)))?,
                ColumnVerdict::Masked(mask) => add_columns_of(mask)?,
                ColumnVerdict::Restricted => {}
            }
        }
        Ok(needed.into_iter().collect())
    }

    fn read(
        &self,
        output: &Output<'_>,
        state: &dyn Session,
        narrow: &Schema,
        df_schema: &DFSchema,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let field = self.clearance.raw_schema().field(output.position);
        match output.verdict {
            ColumnVerdict::Raw => {
                Ok(Arc::new(PhysicalColumn::new(output.name, narrow.index_of(output.name)?)))
            }
            ColumnVerdict::Restricted => {
                Ok(Arc::new(Literal::new(ScalarValue::try_from(bare_type(field.data_type()))?)))
            }
            ColumnVerdict::Masked(mask) => {
                let mask = state.create_physical_expr(mask.clone(), df_schema)?;
                if bare_type(&mask.data_type(narrow)?) != bare_type(field.data_type()) {
                    return plan_err!("a mask does not have the type of its column");
                }
                Ok(Veil::over(mask))
            }
        }
    }
}

struct Output<'a> {
    name: &'a str,
    position: usize,
    verdict: &'a ColumnVerdict,
}

#[async_trait]
impl TableProvider for GovernedProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.clearance.governed_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        if !self.is_restricting() {
            return self.raw.supports_filters_pushdown(filters);
        }
        let is_steady = self.is_steady();
        Ok(filters
            .iter()
            .map(|filter| {
                if is_steady && self.is_harmless(&unnormalize_col((*filter).clone())) {
                    TableProviderFilterPushDown::Exact
                } else {
                    TableProviderFilterPushDown::Unsupported
                }
            })
            .collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        if self.is_restricting() { None } else { self.raw.statistics() }
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.has_queries() {
            self.scan_planned(state, projection.map(Vec::as_slice), filters, limit).await
        } else if self.is_restricting() {
            self.scan_closed(state, projection.map(Vec::as_slice), filters, limit).await
        } else {
            self.scan_open(state, projection, filters, limit).await
        }
    }
}

/// The raw relation below filters and masks that are planned as a query is: it bears the clearance, and hides nothing.
struct Opened {
    raw: Arc<dyn TableProvider>,
    clearance: Clearance,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for Opened {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.clearance.raw_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        match self.raw.downcast_ref::<ViewProvider>() {
            None => self.raw.supports_filters_pushdown(filters),
            Some(_) => Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()]),
        }
    }

    fn statistics(&self) -> Option<Statistics> {
        self.raw.statistics()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.raw.scan(state, projection, filters, limit).await?;
        Ok(Arc::new(BarrierExec::try_new(plan, self.clearance.query(), Passage::Open)?))
    }
}

/// The columns of an expression under the name of the relation that they are of.
fn qualified(expr: Expr, own: &TableReference) -> Result<Expr> {
    let named = expr.transform_up(|part| {
        Ok(match part {
            Expr::Column(Column { relation: None, name, spans }) => {
                Transformed::yes(Expr::Column(Column { relation: Some(own.clone()), name, spans }))
            }
            other => Transformed::no(other),
        })
    });
    Ok(named?.data)
}

impl GovernedProvider {
    /// Takes the raw provider out of a clearance; `govern` governs the plan of a view.
    pub(crate) fn from_clearance(
        clearance: Clearance,
        govern: &dyn Fn(&ViewPlan) -> Result<LogicalPlan>,
    ) -> Result<Self> {
        if let Some(handle) = clearance.raw().downcast_ref::<catalog::TableHandle>() {
            let raw = Arc::clone(&handle.provider);
            return Ok(Self::new(clearance, raw));
        }
        match clearance.raw().downcast_ref::<ViewPlan>() {
            Some(view) => {
                let raw = Arc::new(ViewProvider::new(govern(view)?, clearance.query()));
                Ok(Self::new(clearance, raw))
            }
            None => Err(DataFusionError::Internal("a clearance without a table".to_owned())),
        }
    }
}
