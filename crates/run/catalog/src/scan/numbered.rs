//! A table whose rows bear numbers, so that a write finds the rows again that its statement chose.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::internal_err;
use datafusion::datasource::TableType;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use datafusion_physical_expr::EquivalenceProperties;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use crate::scan::provider::IcebergTableProvider;

/// The column of the row's number; no statement can write this name.
pub const ROW: &str = "\u{0}row";

/// The columns of a table and, as the last one, the number of each row within its snapshot.
///
/// Whole files are read, in their order and without predicates: a row's number is its place.
#[derive(Debug)]
pub(crate) struct NumberedProvider {
    table: Arc<IcebergTableProvider>,
    schema: SchemaRef,
}

impl NumberedProvider {
    pub(crate) fn new(table: Arc<IcebergTableProvider>) -> Self {
        let schema = with_number(&table.schema());
        Self { table, schema }
    }
}

/// The schema with the column of numbers behind it.
pub(crate) fn with_number(schema: &Schema) -> SchemaRef {
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(ROW, DataType::Int64, false)));
    Arc::new(Schema::new(fields))
}

#[async_trait]
impl TableProvider for NumberedProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let wanted = projection.unwrap_or(&all);
        let last = self.schema.fields().len().saturating_sub(1);
        let number_at = wanted.iter().position(|column| *column == last);
        let stored: Vec<usize> = wanted.iter().copied().filter(|column| *column != last).collect();
        let schema = Arc::new(self.schema.project(wanted)?);
        let mut files = Vec::new();
        for file in self.table.kept(state, filters).await? {
            files.push(NumberedFile {
                positions: Positions::new(file.first_row, file.rows, Arc::clone(&file.deleted)),
                plan: self.table.file_plan(state, file, &stored).await?,
            });
        }
        if files.is_empty() {
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        Ok(Arc::new(NumberedExec::new(files, schema, number_at, state.config().target_partitions())))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.table.supports_filters_pushdown(filters)
    }
}

/// One data file, all of it.
#[derive(Debug, Clone)]
pub(crate) struct NumberedFile {
    pub(crate) positions: Positions,
    pub(crate) plan: Arc<dyn ExecutionPlan>,
}

/// The numbers of a file's rows that are not deleted, in order.
#[derive(Debug, Clone)]
pub(crate) struct Positions {
    first: u64,
    rows: u64,
    at: u64,
    deleted: Arc<[u64]>,
    n_passed: usize,
}

impl Positions {
    pub(crate) fn new(first: u64, rows: u64, deleted: Arc<[u64]>) -> Self {
        Self { first, rows, at: 0, deleted, n_passed: 0 }
    }

    fn pass_deleted(&mut self) {
        while self.deleted.get(self.n_passed) == Some(&self.at) {
            self.n_passed += 1;
            self.at += 1;
        }
    }

    fn take(&mut self, n: usize) -> Result<Int64Array> {
        let mut numbers = Vec::with_capacity(n);
        for _ in 0..n {
            self.pass_deleted();
            if self.at >= self.rows {
                return internal_err!("a data file has more rows than its manifest says");
            }
            let number = i64::try_from(self.first.saturating_add(self.at));
            numbers.push(number.map_err(|e| DataFusionError::External(Box::new(e)))?);
            self.at += 1;
        }
        Ok(Int64Array::from(numbers))
    }

    fn finish(&mut self) -> Result<()> {
        self.pass_deleted();
        if self.at == self.rows {
            Ok(())
        } else {
            internal_err!("a data file has fewer rows than its manifest says")
        }
    }
}

/// Reads the files of each partition one after the other and numbers their rows.
///
/// It shows no input to the optimizer, which could reorder, split or prune what must be counted whole.
struct NumberedExec {
    partitions: Vec<Vec<NumberedFile>>,
    number_at: Option<usize>,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for NumberedExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NumberedExec").field("n_partitions", &self.partitions.len()).finish_non_exhaustive()
    }
}

impl NumberedExec {
    fn new(files: Vec<NumberedFile>, schema: SchemaRef, number_at: Option<usize>, target: usize) -> Self {
        let n = target.clamp(1, files.len().max(1));
        let mut partitions: Vec<Vec<NumberedFile>> = vec![Vec::new(); n];
        for (i, file) in files.into_iter().enumerate() {
            if let Some(partition) = partitions.get_mut(i % n) {
                partition.push(file);
            }
        }
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(n),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { partitions, number_at, properties: Arc::new(properties) }
    }
}

impl DisplayAs for NumberedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NumberedExec")
    }
}

impl ExecutionPlan for NumberedExec {
    fn name(&self) -> &'static str {
        "NumberedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a numbered scan has no input") }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let files = self.partitions.get(partition).cloned().unwrap_or_default();
        let (schema, number_at) = (self.schema(), self.number_at);
        let out = Arc::clone(&schema);
        let batches = stream::iter(files.into_iter().map(Ok))
            .and_then(move |file| {
                std::future::ready(numbered(file, Arc::clone(&schema), number_at, Arc::clone(&context)))
            })
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(out, batches)))
    }
}

/// The rows of a file; `number_at` says before which column their numbers stand.
pub(crate) fn numbered(
    file: NumberedFile,
    schema: SchemaRef,
    number_at: Option<usize>,
    context: Arc<TaskContext>,
) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let batches = file.plan.execute(0, context)?;
    let state = Some((batches, file.positions));
    let numbered = stream::unfold(state, move |state| {
        let schema = Arc::clone(&schema);
        async move {
            let (mut batches, mut positions) = state?;
            match batches.next().await {
                Some(batch) => {
                    let batch = batch.and_then(|batch| number(&batch, &mut positions, schema, number_at));
                    Some((batch, Some((batches, positions))))
                }
                None => positions.finish().err().map(|error| (Err(error), None)),
            }
        }
    });
    Ok(numbered.boxed())
}

fn number(
    batch: &RecordBatch,
    positions: &mut Positions,
    schema: SchemaRef,
    number_at: Option<usize>,
) -> Result<RecordBatch> {
    let numbers: ArrayRef = Arc::new(positions.take(batch.num_rows())?);
    let mut columns = batch.columns().to_vec();
    if let Some(at) = number_at {
        columns.insert(at.min(columns.len()), numbers);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: u64, deleted: &[u64], expected: &[i64]) {
        let mut positions = Positions::new(100, rows, deleted.into());
        let taken = positions.take(expected.len()).unwrap();
        assert_eq!(taken.values(), expected);
        positions.finish().unwrap();
    }

    #[test]
    fn a_number_is_the_place_in_the_file_and_deleted_rows_keep_theirs() {
        check(3, &[], &[100, 101, 102]);
        check(5, &[0, 1, 3], &[102, 104]);
        check(4, &[2, 3], &[100, 101]);
        check(2, &[0, 1], &[]);
    }

    #[test]
    fn a_file_of_another_length_is_an_error() {
        assert!(Positions::new(0, 1, [].into()).take(2).is_err());
        let mut positions = Positions::new(0, 2, [].into());
        positions.take(1).unwrap();
        assert!(positions.finish().is_err());
    }
}
