//! An Iceberg table at one snapshot, as DataFusion scans it.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::TableParquetOptions;
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{
    FileGroup, FileGroupPartitioner, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_optimizer::pruning::PruningPredicate;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::scalar::ScalarValue;
use datafusion_datasource::PartitionedFile;
use datafusion_expr::expr_rewriter::unnormalize_cols;
use datafusion_physical_expr::{PhysicalExpr, conjunction};
use iceberg::table::Table;
use object_store::ObjectMeta;
use tokio::sync::OnceCell;

use crate::error::CatalogError;
use crate::scan::adapter::FieldIdAdapterFactory;
use crate::scan::index::{self, FileIndex, IndexedFile};
use crate::scan::source::IcebergSource;
use crate::scan::statistics::Bounds;
use crate::warehouse::Warehouse;

/// Shows one snapshot of a table to DataFusion; what is committed later is not seen.
#[derive(Debug)]
pub struct IcebergTableProvider {
    table: Arc<Table>,
    schema: SchemaRef,
    warehouse: Warehouse,
    shown: String,
    reads: Reads,
    index: OnceCell<FileIndex>,
}

/// Which files of a table are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// `None`: none, for nothing was written.
    pub(crate) snapshot: Option<i64>,
    /// Only files that these snapshots added.
    pub(crate) added_by: Option<HashSet<i64>>,
}

impl Reads {
    pub(crate) fn snapshot(snapshot: Option<i64>) -> Self {
        Self { snapshot, added_by: None }
    }
}

impl IcebergTableProvider {
    pub(crate) fn new(table: Arc<Table>, schema: SchemaRef, warehouse: Warehouse, shown: String) -> Self {
        let reads = Reads::snapshot(table.metadata().current_snapshot_id());
        Self { table, schema, warehouse, shown, reads, index: OnceCell::new() }
    }

    /// The same table in another state, or under other columns.
    pub(crate) fn reading(&self, schema: SchemaRef, reads: Reads) -> Self {
        let (table, warehouse) = (Arc::clone(&self.table), self.warehouse.clone());
        Self { table, schema, warehouse, shown: self.shown.clone(), reads, index: OnceCell::new() }
    }

    pub(crate) async fn index(&self) -> Result<&FileIndex, CatalogError> {
        let read = || index::read(&self.table, &self.schema, &self.warehouse, &self.shown, &self.reads);
        self.index.get_or_try_init(read).await
    }

    /// The statistics of all files together.
    pub(crate) async fn read_statistics(&self) -> Result<Statistics, CatalogError> {
        let index = self.index().await?;
        let all = index.files.iter().map(|file| file.statistics.as_ref());
        Statistics::try_merge_iter(all, &self.schema)
            .map_err(|error| CatalogError::storage("add the statistics of the files", error))
    }

    fn predicate(&self, state: &dyn Session, filters: &[Expr]) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let schema = DFSchema::try_from(self.schema.as_ref().clone())?;
        let all = filters
            .iter()
            .map(|f| state.create_physical_expr(f.clone(), &schema))
            .collect::<Result<Vec<_>>>()?;
        Ok((!all.is_empty()).then(|| conjunction(all)))
    }

    async fn partitioned(&self, files: Vec<&IndexedFile>) -> Result<(Vec<PartitionedFile>, bool)> {
        let mut all = Vec::with_capacity(files.len());
        let mut selects_rows = false;
        for file in files {
            let mut partitioned = PartitionedFile::new_from_meta(ObjectMeta {
                location: file.path.clone(),
                last_modified: self.warehouse.file_time(&file.path),
                size: file.size,
                e_tag: None,
                version: None,
            })
            .with_statistics(Arc::clone(&file.statistics));
            if let Some(plan) = file.access(&self.warehouse).await? {
                partitioned = partitioned.with_extension(plan.clone());
                selects_rows = true;
            }
            all.push(partitioned);
        }
        Ok((all, selects_rows))
    }

    /// The files in which every filter can be true.
    pub(crate) async fn kept(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<&IndexedFile>> {
        let index = self.index().await?;
        let filters = unnormalize_cols(filters.iter().filter(|f| prunes(f)).cloned());
        prune(&index.files, state, &filters, &self.schema)
    }

    /// A scan of one whole file in its order: columns by position, no predicate, deleted rows left out.
    pub(crate) async fn file_plan(
        &self,
        state: &dyn Session,
        file: &IndexedFile,
        columns: &[usize],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        state
            .runtime_env()
            .register_object_store(self.warehouse.url.as_ref(), Arc::clone(&self.warehouse.store));
        let (files, selects_rows) = self.partitioned(vec![file]).await?;
        let source = IcebergSource::wrap(self.source(state, None), selects_rows);
        let config = FileScanConfigBuilder::new(self.warehouse.url.clone(), Arc::new(source))
            .with_file_groups(vec![FileGroup::new(files)])
            .with_projection_indices(Some(columns.to_vec()))?
            .with_expr_adapter(Some(Arc::new(FieldIdAdapterFactory)))
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    fn source(&self, state: &dyn Session, predicate: Option<Arc<dyn PhysicalExpr>>) -> Arc<dyn FileSource> {
        let global = state.config_options().execution.parquet.clone();
        let options = TableParquetOptions { global, ..TableParquetOptions::default() };
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let reader = CachedParquetFileReaderFactory::new(Arc::clone(&self.warehouse.store), cache);
        let source = ParquetSource::new(Arc::clone(&self.schema))
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(reader));
        match predicate {
            Some(predicate) => Arc::new(source.with_predicate(predicate)),
            None => Arc::new(source),
        }
    }
}

#[async_trait]
impl TableProvider for IcebergTableProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Filters prune files, row groups and pages; none is promised to be applied to rows.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        state
            .runtime_env()
            .register_object_store(self.warehouse.url.as_ref(), Arc::clone(&self.warehouse.store));
        let index = self.index().await?;
        let filters = unnormalize_cols(filters.iter().filter(|f| prunes(f)).cloned());
        let kept = prune(&index.files, state, &filters, &self.schema)?;
        if kept.is_empty() {
            let schema = match projection {
                Some(indices) => Arc::new(self.schema.project(indices)?),
                None => Arc::clone(&self.schema),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        tracing::debug!(
            table = %self.shown,
            n_files = index.files.len(),
            n_files_kept = kept.len(),
            "scan planned"
        );
        let statistics =
            Statistics::try_merge_iter(kept.iter().map(|f| f.statistics.as_ref()), &self.schema)?;
        let (files, selects_rows) = self.partitioned(kept).await?;
        let predicate = self.predicate(state, &filters)?;
        let source = IcebergSource::wrap(self.source(state, predicate), selects_rows);
        let config = FileScanConfigBuilder::new(self.warehouse.url.clone(), Arc::new(source))
            .with_file_groups(split(files, state))
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .with_expr_adapter(Some(Arc::new(FieldIdAdapterFactory)))
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let answer = |filter: &&Expr| match prunes(filter) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(answer).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        // Only what is read already: planning may not wait here.
        let index = self.index.get()?;
        Statistics::try_merge_iter(index.files.iter().map(|f| f.statistics.as_ref()), &self.schema).ok()
    }
}

/// Byte ranges of the files, one group for each partition that the session wants.
fn split(files: Vec<PartitionedFile>, state: &dyn Session) -> Vec<FileGroup> {
    let partitions = state.config().target_partitions();
    let group = FileGroup::new(files);
    let ranges = FileGroupPartitioner::new()
        .with_target_partitions(partitions)
        .with_repartition_file_min_size(state.config_options().optimizer.repartition_file_min_size)
        .repartition_file_groups(std::slice::from_ref(&group));
    ranges.unwrap_or_else(|| group.split_files(partitions))
}

/// Whether a filter is made of comparisons that can neither fail nor change anything.
fn prunes(filter: &Expr) -> bool {
    let mut plain = true;
    let walked = filter.apply(|node| {
        plain = plain
            && match node {
                Expr::Column(_)
                | Expr::Literal(..)
                | Expr::Not(_)
                | Expr::IsNull(_)
                | Expr::IsNotNull(_)
                | Expr::IsTrue(_)
                | Expr::IsFalse(_)
                | Expr::IsNotTrue(_)
                | Expr::IsNotFalse(_)
                | Expr::Between(_)
                | Expr::InList(_) => true,
                Expr::BinaryExpr(binary) => matches!(
                    binary.op,
                    Operator::Eq
                        | Operator::NotEq
                        | Operator::Lt
                        | Operator::LtEq
                        | Operator::Gt
                        | Operator::GtEq
                        | Operator::And
                        | Operator::Or
                        | Operator::IsDistinctFrom
                        | Operator::IsNotDistinctFrom
                ),
                Expr::Like(like) => !like.case_insensitive,
                _ => false,
            };
        Ok(if plain { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    walked.is_ok() && plain
}

/// The files in which every filter can be true; a filter of which that cannot be told leaves all of them.
fn prune<'a>(
    files: &'a [IndexedFile],
    state: &dyn Session,
    filters: &[Expr],
    schema: &SchemaRef,
) -> Result<Vec<&'a IndexedFile>> {
    let mut kept = vec![true; files.len()];
    // DataFusion 54 prunes by the prefix of a LIKE only where texts are no views.
    let schema = without_views(schema);
    let df_schema = DFSchema::try_from(schema.as_ref().clone())?;
    for filter in filters {
        let filter = filter.clone().transform(|node| Ok(literal_without_view(node))).data()?;
        let told = state.create_physical_expr(filter, &df_schema).and_then(|predicate| {
            PruningPredicate::try_new(predicate, Arc::clone(&schema))?
                .prune(&FileBounds { files, schema: &schema })
        });
        match told {
            Ok(told) => kept.iter_mut().zip(told).for_each(|(kept, told)| *kept = *kept && told),
            Err(error) => tracing::debug!(error = %error, "a filter cannot prune files"),
        }
    }
    Ok(files.iter().zip(kept).filter(|(_, kept)| *kept).map(|(file, _)| file).collect())
}

fn without_views(schema: &SchemaRef) -> SchemaRef {
    let plain = |field: &FieldRef| match field.data_type() {
        DataType::Utf8View => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        _ => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(plain).collect::<Vec<_>>()))
}

fn literal_without_view(node: Expr) -> Transformed<Expr> {
    match node {
        Expr::Literal(ScalarValue::Utf8View(text), metadata) => {
            Transformed::yes(Expr::Literal(ScalarValue::Utf8(text), metadata))
        }
        other => Transformed::no(other),
    }
}

/// The bounds of every file as columns, one row for each file.
struct FileBounds<'a> {
    files: &'a [IndexedFile],
    schema: &'a SchemaRef,
}

impl FileBounds<'_> {
    fn values(&self, column: &Column, bound: impl Fn(&Bounds) -> Option<&ScalarValue>) -> Option<ArrayRef> {
        let index = self.schema.index_of(&column.name).ok()?;
        let data_type = self.schema.fields().get(index)?.data_type();
        let unknown = ScalarValue::try_from(data_type).ok()?;
        let one = |file: &IndexedFile| file.bounds.get(index).and_then(&bound)?.cast_to(data_type).ok();
        ScalarValue::iter_to_array(self.files.iter().map(|f| one(f).unwrap_or_else(|| unknown.clone()))).ok()
    }
}

impl PruningStatistics for FileBounds<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |bounds| bounds.lower.as_ref())
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |bounds| bounds.upper.as_ref())
    }

    fn num_containers(&self) -> usize {
        self.files.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let index = self.schema.index_of(&column.name).ok()?;
        let nulls: UInt64Array =
            self.files.iter().map(|f| f.bounds.get(index).and_then(|b| b.nulls)).collect();
        Some(Arc::new(nulls))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(self.files.iter().map(|f| Some(f.rows)).collect::<UInt64Array>()))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
