//! Rows changed by copy: each file that a change touches is written anew, every other cell of it bit for bit.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::interleave;
use arrow::datatypes::{Field, Int64Type, Schema, SchemaRef};
use datafusion::common::internal_err;
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use crate::catalog::Inner;
use crate::error::{CatalogError, Doing, Result};
use crate::scan::index::IndexedFile;
use crate::scan::numbered::{self, NumberedFile, Positions};
use crate::schema;
use crate::table::TableHandle;
use crate::write::conform::conform;
use crate::write::files;
use crate::write::overwrite::{self, Removed};

/// Looks at rows as they will be stored, in the table's columns, before anything is committed.
pub type CheckRows = Arc<dyn Fn(&RecordBatch) -> DfResult<()> + Send + Sync>;

/// What becomes of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    Delete,
    /// Takes the cells of a row of [`RowChanges::values`] that the action assigns.
    Update {
        action: usize,
        values_row: usize,
    },
}

/// Changes of rows, by the numbers that [`TableHandle::numbered`] gives them.
#[derive(Debug)]
pub struct RowChanges {
    /// In the order of the numbers, each number once.
    pub rows: Vec<(i64, RowChange)>,
    pub values: RecordBatch,
    /// Which column of the table each column of `values` is for.
    pub columns: Vec<usize>,
    /// For each action, which of `columns` it assigns.
    pub assigned: Vec<Vec<bool>>,
}

/// What happens to the rows that are there.
#[derive(Debug)]
pub enum TableChange {
    Rows(RowChanges),
    /// All of them go, hidden or not.
    RemoveAll,
}

pub(crate) async fn rewrite(
    catalog: &Inner,
    handle: &TableHandle,
    state: &SessionState,
    change: TableChange,
    added: Option<SendableRecordBatchStream>,
    check: CheckRows,
) -> Result<u64> {
    let shown = handle.shown();
    let target = schema::written_schema(handle.table.metadata().current_schema())?;
    let (removed, copies) = match change {
        TableChange::RemoveAll => (Removed::All, None),
        TableChange::Rows(changes) => {
            let (removed, copies) = plan_copies(handle, state, changes, &target, &shown, check).await?;
            (Removed::Files(removed), copies)
        }
    };
    let copied = match copies {
        Some(copies) => {
            let rows =
                Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&target), copies.run(state.task_ctx())));
            Some(files::write(&handle.table, rows, &shown).await?)
        }
        None => None,
    };
    let new = match added {
        Some(rows) => match files::write(&handle.table, rows, &shown).await {
            Ok(new) => Some(new),
            Err(error) => {
                if let Some(copied) = copied {
                    copied.unfinished.discard().await;
                }
                return Err(error);
            }
        },
        None => None,
    };
    let n_added = new.as_ref().map_or(0, |new| new.rows);
    let written: Vec<files::Written> = copied.into_iter().chain(new).collect();
    let added: Vec<_> = written.iter().flat_map(|written| written.files.iter().cloned()).collect();
    if removed.is_nothing() && added.is_empty() {
        return Ok(0);
    }
    match overwrite::commit(catalog, handle, &removed, added).await {
        Ok(table) => {
            written.into_iter().for_each(|mut written| written.unfinished.keep());
            catalog.handle(table)?;
            Ok(n_added)
        }
        Err((error, overwrite::Outcome::Unknown)) => {
            // The commit may have gone through: files that a table may name are left where they are.
            written.into_iter().for_each(|mut written| written.unfinished.keep());
            Err(error)
        }
        Err((error, overwrite::Outcome::Nothing)) => {
            for written in written {
                written.unfinished.discard().await;
            }
            Err(error)
        }
    }
}

/// The files that are copied, each with its part of the changes.
struct Copies {
    files: Vec<Copy>,
    changes: Arc<Fitted>,
    target: SchemaRef,
    shown: String,
    check: CheckRows,
}

struct Copy {
    file: NumberedFile,
    rows: std::ops::Range<usize>,
}

/// Changes whose values have the types that are written.
struct Fitted {
    rows: Vec<(i64, RowChange)>,
    values: Vec<ArrayRef>,
    /// For each column of the table its column among `values`.
    value_of: Vec<Option<usize>>,
    assigned: Vec<Vec<bool>>,
}

/// Finds the files that the changes touch; one of which no row is left needs no copy.
async fn plan_copies(
    handle: &TableHandle,
    state: &SessionState,
    changes: RowChanges,
    target: &SchemaRef,
    shown: &str,
    check: CheckRows,
) -> Result<(HashSet<String>, Option<Copies>)> {
    let index = handle.scan.index().await?;
    let all: Vec<usize> = (0..target.fields().len()).collect();
    let mut removed = HashSet::new();
    let mut files = Vec::new();
    let mut start = 0;
    for file in &index.files {
        let end = rows_until(&changes.rows, file.first_row.saturating_add(file.rows));
        let rows = start..end;
        start = end;
        if rows.is_empty() {
            continue;
        }
        removed.insert(file.location.clone());
        if is_emptied(file, changes.rows.get(rows.clone()).unwrap_or_default()) {
            continue;
        }
        let plan =
            handle.scan.file_plan(state, file, &all).await.map_err(|e| CatalogError::Input(Box::new(e)))?;
        let positions = Positions::new(file.first_row, file.rows, Arc::clone(&file.deleted));
        files.push(Copy { file: NumberedFile { positions, plan }, rows });
    }
    if start != changes.rows.len() {
        return Err(CatalogError::Conflict(shown.to_owned()));
    }
    if files.is_empty() {
        return Ok((removed, None));
    }
    let changes = Arc::new(fitted(changes, target, shown)?);
    let (target, shown) = (Arc::clone(target), shown.to_owned());
    Ok((removed, Some(Copies { files, changes, target, shown, check })))
}

/// How many of the changes lie before a row number.
fn rows_until(rows: &[(i64, RowChange)], end: u64) -> usize {
    rows.partition_point(|(number, _)| u64::try_from(*number).is_ok_and(|number| number < end))
}

fn is_emptied(file: &IndexedFile, rows: &[(i64, RowChange)]) -> bool {
    let live = file.rows.saturating_sub(file.deleted.len() as u64);
    rows.len() as u64 == live && rows.iter().all(|(_, change)| *change == RowChange::Delete)
}

fn fitted(changes: RowChanges, target: &SchemaRef, shown: &str) -> Result<Fitted> {
    // A null where an action does not assign is no null that is written; those are looked for in the rows themselves.
    let wanted = target.project(&changes.columns).doing("prepare the rows for writing")?;
    let values = conform(&changes.values, &nullable(&wanted), shown)?;
    let value_of = (0..target.fields().len())
        .map(|column| changes.columns.iter().position(|assigned| *assigned == column))
        .collect();
    Ok(Fitted { rows: changes.rows, values: values.columns().to_vec(), value_of, assigned: changes.assigned })
}

fn nullable(schema: &Schema) -> SchemaRef {
    let fields: Vec<Field> =
        schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    Arc::new(Schema::new(fields))
}

impl Copies {
    fn run(self, context: Arc<TaskContext>) -> BoxStream<'static, DfResult<RecordBatch>> {
        let Self { files, changes, target, shown, check } = self;
        stream::iter(files.into_iter().map(Ok))
            .and_then(move |copy| {
                let one = CopyOne {
                    changes: Arc::clone(&changes),
                    target: Arc::clone(&target),
                    shown: shown.clone(),
                    check: Arc::clone(&check),
                    next: copy.rows.start,
                    end: copy.rows.end,
                };
                std::future::ready(one.run(copy.file, Arc::clone(&context)))
            })
            .try_flatten()
            .boxed()
    }
}

/// One file on its way.
struct CopyOne {
    changes: Arc<Fitted>,
    target: SchemaRef,
    shown: String,
    check: CheckRows,
    next: usize,
    end: usize,
}

impl CopyOne {
    fn run(
        self,
        file: NumberedFile,
        context: Arc<TaskContext>,
    ) -> DfResult<BoxStream<'static, DfResult<RecordBatch>>> {
        let schema = numbered::with_number(&file.plan.schema());
        let number_at = Some(self.target.fields().len());
        let batches = numbered::numbered(file, schema, number_at, context)?;
        let copied = stream::unfold(Some((batches, self)), |state| async move {
            let (mut batches, mut one) = state?;
            match batches.next().await {
                Some(batch) => {
                    let copied = batch.and_then(|batch| one.copy(&batch));
                    Some((copied, Some((batches, one))))
                }
                None if one.next == one.end => None,
                None => Some((internal_err!("a row that a write chose is not in its file"), None)),
            }
        });
        Ok(copied.boxed())
    }

    fn copy(&mut self, batch: &RecordBatch) -> DfResult<RecordBatch> {
        let n_columns = self.target.fields().len();
        let stored: Vec<usize> = (0..n_columns).collect();
        let stored = conform(&batch.project(&stored)?, &nullable(&self.target), &self.shown)?;
        let numbers = batch.column(n_columns).as_primitive::<Int64Type>();
        let mut kept: Vec<(usize, Option<(usize, usize)>)> = Vec::with_capacity(batch.num_rows());
        let mut changed = Vec::new();
        for (i, number) in numbers.values().iter().enumerate() {
            let change =
                self.changes.rows.get(self.next).filter(|(n, _)| n == number && self.next < self.end);
            match change {
                None => kept.push((i, None)),
                Some((_, RowChange::Delete)) => self.next += 1,
                Some((_, RowChange::Update { action, values_row })) => {
                    self.next += 1;
                    changed.push(kept.len());
                    kept.push((i, Some((*action, *values_row))));
                }
            }
        }
        let columns = (0..n_columns).map(|c| self.column(&stored, c, &kept)).collect::<DfResult<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(kept.len()));
        let copied = RecordBatch::try_new_with_options(nullable(&self.target), columns, &options)?;
        if !changed.is_empty() {
            let changed: UInt64Array = changed.into_iter().map(|i| i as u64).collect();
            (self.check)(&arrow::compute::take_record_batch(&copied, &changed)?)?;
        }
        Ok(copied)
    }

    /// A column of the copy: stored cells, and new ones where a row's action assigns this column.
    fn column(
        &self,
        stored: &RecordBatch,
        column: usize,
        kept: &[(usize, Option<(usize, usize)>)],
    ) -> DfResult<ArrayRef> {
        let old = stored.column(column);
        let value = self.changes.value_of.get(column).copied().flatten();
        let new = value.and_then(|value| Some((value, self.changes.values.get(value)?)));
        let Some((value, new)) = new else {
            if kept.len() == old.len() {
                return Ok(Arc::clone(old));
            }
            let places: Vec<(usize, usize)> = kept.iter().map(|(i, _)| (0, *i)).collect();
            return Ok(interleave(&[old.as_ref()], &places)?);
        };
        let is_assigned = |action: usize| {
            self.changes.assigned.get(action).and_then(|columns| columns.get(value)).copied().unwrap_or(false)
        };
        let places: Vec<(usize, usize)> = kept
            .iter()
            .map(|(i, change)| match change {
                Some((action, row)) if is_assigned(*action) => (1, *row),
                _ => (0, *i),
            })
            .collect();
        Ok(interleave(&[old.as_ref(), new.as_ref()], &places)?)
    }
}
