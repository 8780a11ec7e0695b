//! The scan as a source of our own: DataFusion's Parquet source, bound to field ids and row selections.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::datasource::physical_plan::parquet::ParquetAccessPlan;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource, ParquetSource};
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::FilterPushdownPropagation;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_datasource::morsel::Morselizer;
use datafusion_datasource::{PartitionedFile, TableSchema};
use datafusion_physical_expr::projection::ProjectionExprs;
use datafusion_physical_expr::{
    EquivalenceProperties, PhysicalExpr, PhysicalSortExpr, conjunction, split_conjunction,
};
use datafusion_physical_plan::SortOrderPushdownResult;
use object_store::ObjectStore;

use crate::scan::adapter::FieldIdAdapterFactory;
use crate::scan::reader::QuietReaderFactory;

/// Reads Parquet files as Iceberg has them.
///
/// INVARIANT: every file is opened with the field-id adapter, whatever the configuration says; a plan whose
/// configuration lost it, as `datafusion-proto` makes them, cannot read a column by its name.
#[derive(Clone)]
pub struct IcebergSource {
    inner: Arc<dyn FileSource>,
    /// Some file of the scan has deleted rows.
    selects_rows: bool,
}

impl fmt::Debug for IcebergSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IcebergSource").field("selects_rows", &self.selects_rows).finish_non_exhaustive()
    }
}

impl IcebergSource {
    /// Wraps a Parquet source; `selects_rows` says whether any file carries a row selection.
    pub(crate) fn wrap(parquet: Arc<dyn FileSource>, selects_rows: bool) -> Self {
        Self { inner: parquet, selects_rows }
    }

    fn rewrap(&self, parquet: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(Self::wrap(parquet, self.selects_rows))
    }

    /// The Parquet source with a reader whose errors name no file.
    fn quiet(&self) -> Result<Arc<dyn FileSource>> {
        let parquet = self.inner.downcast_ref::<ParquetSource>();
        let reader = parquet.and_then(|parquet| Some((parquet, parquet.parquet_file_reader_factory()?)));
        let (parquet, factory) =
            reader.ok_or_else(|| DataFusionError::Internal("an Iceberg scan without a reader".to_owned()))?;
        let factory = Arc::new(QuietReaderFactory::new(Arc::clone(factory)));
        Ok(Arc::new(parquet.clone().with_parquet_file_reader_factory(factory)))
    }

    pub(crate) fn parquet_source(&self) -> Arc<dyn FileSource> {
        Arc::clone(&self.inner)
    }

    pub(crate) fn selects_rows(&self) -> bool {
        self.selects_rows
    }
}

/// Whether any file of the scan carries a row selection.
pub(crate) fn any_selection(config: &FileScanConfig) -> bool {
    config
        .file_groups
        .iter()
        .flat_map(|group| group.iter())
        .any(|f| f.extension::<ParquetAccessPlan>().is_some())
}

/// The source with each conjunct once: what the scan was planned with comes again when the filter above is pushed.
fn once_each(source: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
    let Some(parquet) = source.downcast_ref::<ParquetSource>() else { return source };
    let Some(predicate) = parquet.filter() else { return source };
    let all = split_conjunction(&predicate);
    let mut kept: Vec<Arc<dyn PhysicalExpr>> = Vec::with_capacity(all.len());
    for part in &all {
        if !kept.iter().any(|other| other.as_ref() == part.as_ref()) {
            kept.push(Arc::clone(part));
        }
    }
    if kept.len() == all.len() {
        return source;
    }
    Arc::new(parquet.clone().with_predicate(conjunction(kept)))
}

impl FileSource for IcebergSource {
    fn create_file_opener(
        &self,
        _: Arc<dyn ObjectStore>,
        _: &FileScanConfig,
        _: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        Err(DataFusionError::Internal("an Iceberg scan is opened by morsels".to_owned()))
    }

    fn create_morselizer(
        &self,
        store: Arc<dyn ObjectStore>,
        base: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        let selects = any_selection(base);
        let mut config = base.clone();
        config.file_source = Arc::clone(&self.inner);
        config.expr_adapter_factory = Some(Arc::new(FieldIdAdapterFactory));
        if selects {
            // DataFusion 54's pruning by limit replaces the row selection of a row group whose statistics satisfy the
            // predicate by the whole group, and deleted rows come back; the stream above still stops at the limit.
            config.limit = None;
        }
        self.quiet()?.create_morselizer(store, &config, partition)
    }

    fn table_schema(&self) -> &TableSchema {
        self.inner.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        self.rewrap(self.inner.with_batch_size(batch_size))
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.inner.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.inner.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.inner.metrics()
    }

    fn file_type(&self) -> &str {
        "iceberg"
    }

    fn fmt_extra(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_extra(t, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.inner.supports_repartitioning()
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let pushed = self.inner.try_pushdown_filters(filters, config)?;
        Ok(FilterPushdownPropagation {
            filters: pushed.filters,
            updated_node: pushed.updated_node.map(|node| self.rewrap(once_each(node))),
        })
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        eq_properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        if self.selects_rows {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        Ok(match self.inner.try_pushdown_sort(order, eq_properties)? {
            SortOrderPushdownResult::Exact { inner } => {
                SortOrderPushdownResult::Exact { inner: self.rewrap(inner) }
            }
            SortOrderPushdownResult::Inexact { inner } => {
                SortOrderPushdownResult::Inexact { inner: self.rewrap(inner) }
            }
            SortOrderPushdownResult::Unsupported => SortOrderPushdownResult::Unsupported,
        })
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.inner.reorder_files(files)
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(self.inner.try_pushdown_projection(projection)?.map(|inner| self.rewrap(inner)))
    }
}
