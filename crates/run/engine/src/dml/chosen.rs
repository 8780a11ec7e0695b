//! The rows that a statement chose, with what it does to each, gathered before the first file is written.

use std::sync::Arc;

use catalog::{ROW, RowChange, RowChanges};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt64Array, new_null_array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{Field, Int32Type, Int64Type, Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::StreamExt;
use query_api::QueryError;
use stdx::ErrorKind;

/// The column that says which action a row meets with.
pub(crate) const ACTION: &str = "\u{0}action";

/// What a statement does to the rows that meet with one of its actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Delete,
    /// For each value column, whether it is assigned.
    Update(Vec<bool>),
    Insert,
}

/// Whether a row of the target may be chosen twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// UPDATE and DELETE take a row's first match.
    First,
    /// MERGE refuses.
    Refused,
}

/// How the rows of the choosing plan are to be read: row number, action, then one column for each value.
pub(crate) struct Choice {
    pub(crate) actions: Vec<Action>,
    /// The column of the table that each value column is for.
    pub(crate) columns: Vec<usize>,
    pub(crate) again: Again,
}

/// What is to be done.
pub(crate) struct Chosen {
    pub(crate) changes: RowChanges,
    /// New rows, in the table's columns.
    pub(crate) inserts: Vec<RecordBatch>,
    /// Rows changed, deleted and added.
    pub(crate) n_rows: u64,
    /// Holds the memory that the rows take.
    _reservation: MemoryReservation,
}

fn internal() -> DataFusionError {
    DataFusionError::Internal("a write's own plan has another form".to_owned())
}

impl Choice {
    /// Reads the plan's rows to their end.
    pub(crate) async fn gather(
        &self,
        mut rows: SendableRecordBatchStream,
        table: &SchemaRef,
        pool: &Arc<dyn MemoryPool>,
    ) -> Result<Chosen, DataFusionError> {
        let mut gathered = Gathered {
            choice: self,
            table,
            schema: Arc::new(values_schema(&rows.schema())),
            changes: Vec::new(),
            values: Vec::new(),
            n_values: 0,
            inserts: Vec::new(),
            reservation: MemoryConsumer::new("rows of a write").register(pool),
        };
        while let Some(batch) = rows.next().await {
            gathered.take(&batch?)?;
        }
        gathered.finish()
    }

    /// The changes in the order of the rows, each row once.
    fn once(&self, mut changes: Vec<(i64, RowChange)>) -> Result<Vec<(i64, RowChange)>, DataFusionError> {
        changes.sort_by_key(|(number, _)| *number);
        let n = changes.len();
        changes.dedup_by_key(|(number, _)| *number);
        if changes.len() < n && self.again == Again::Refused {
            return Err(DataFusionError::External(Box::new(QueryError::new(
                ErrorKind::Cardinality,
                "MERGE matches a row of its target with more than one row of its source",
            ))));
        }
        Ok(changes)
    }

    /// New rows in the table's columns; one that no action assigns is NULL.
    fn in_table(&self, values: &RecordBatch, table: &SchemaRef) -> Result<RecordBatch, DataFusionError> {
        let n = values.num_rows();
        let columns: Vec<ArrayRef> = table
            .fields()
            .iter()
            .enumerate()
            .map(|(i, field)| {
                let value = self.columns.iter().position(|column| *column == i);
                match value.and_then(|value| values.columns().get(value)) {
                    Some(values) => Arc::clone(values),
                    None => new_null_array(field.data_type(), n),
                }
            })
            .collect();
        let fields: Vec<Field> = table
            .fields()
            .iter()
            .zip(&columns)
            .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
            .collect();
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &with_rows(n))?)
    }
}

/// What was read so far.
struct Gathered<'a> {
    choice: &'a Choice,
    table: &'a SchemaRef,
    schema: SchemaRef,
    changes: Vec<(i64, RowChange)>,
    values: Vec<RecordBatch>,
    n_values: usize,
    inserts: Vec<RecordBatch>,
    reservation: MemoryReservation,
}

impl Gathered<'_> {
    fn take(&mut self, batch: &RecordBatch) -> Result<(), DataFusionError> {
        let numbers = column(batch, ROW)?.as_primitive_opt::<Int64Type>().ok_or_else(internal)?;
        let actions = column(batch, ACTION)?.as_primitive_opt::<Int32Type>().ok_or_else(internal)?;
        let (mut updated, mut inserted) = (Vec::new(), Vec::new());
        for (i, action) in actions.iter().enumerate() {
            let Some(action) = action else { continue };
            let action = usize::try_from(action).map_err(|_| internal())?;
            let change = match self.choice.actions.get(action).ok_or_else(internal)? {
                Action::Insert => {
                    inserted.push(i as u64);
                    continue;
                }
                Action::Delete => RowChange::Delete,
                Action::Update(_) => {
                    updated.push(i as u64);
                    RowChange::Update { action, values_row: self.n_values + updated.len() - 1 }
                }
            };
            if numbers.is_null(i) {
                return Err(internal());
            }
            self.changes.push((numbers.value(i), change));
        }
        self.reservation.try_grow(batch.num_rows().saturating_mul(size_of::<(i64, RowChange)>()))?;
        let all = RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            batch.columns().get(2..).unwrap_or_default().to_vec(),
            &with_rows(batch.num_rows()),
        )?;
        if !updated.is_empty() {
            self.n_values += updated.len();
            let taken = self.rows_of(&all, updated)?;
            self.values.push(taken);
        }
        if !inserted.is_empty() {
            let taken = self.rows_of(&all, inserted)?;
            self.inserts.push(self.choice.in_table(&taken, self.table)?);
        }
        Ok(())
    }

    fn rows_of(&self, all: &RecordBatch, rows: Vec<u64>) -> Result<RecordBatch, DataFusionError> {
        let taken = take_record_batch(all, &UInt64Array::from(rows))?;
        self.reservation.try_grow(taken.get_array_memory_size())?;
        Ok(taken)
    }

    fn finish(self) -> Result<Chosen, DataFusionError> {
        let n_inserts: usize = self.inserts.iter().map(RecordBatch::num_rows).sum();
        let rows = self.choice.once(self.changes)?;
        let n_rows = rows.len() as u64 + n_inserts as u64;
        let assigned = self.choice.actions.iter().map(|action| match action {
            Action::Update(assigned) => assigned.clone(),
            Action::Delete | Action::Insert => Vec::new(),
        });
        let changes = RowChanges {
            rows,
            values: concat_batches(&self.schema, &self.values)?,
            columns: self.choice.columns.clone(),
            assigned: assigned.collect(),
        };
        Ok(Chosen { changes, inserts: self.inserts, n_rows, _reservation: self.reservation })
    }
}

fn with_rows(n: usize) -> datafusion::arrow::array::RecordBatchOptions {
    datafusion::arrow::array::RecordBatchOptions::new().with_row_count(Some(n))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, DataFusionError> {
    batch.column_by_name(name).ok_or_else(internal)
}

fn values_schema(rows: &Schema) -> Schema {
    let fields = rows.fields().iter().skip(2);
    Schema::new(fields.map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>())
}
