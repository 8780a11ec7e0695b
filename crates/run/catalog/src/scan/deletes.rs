//! Position deletes: which rows of which file are gone, and the row selection that leaves them out.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use bytes::Bytes;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use futures::FutureExt;
use futures::future::BoxFuture;
use iceberg::io::FileIO;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection, RowSelector};
use parquet::arrow::async_reader::MetadataFetch;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;

use crate::error::{CatalogError, Doing, Result};
use crate::scan::adapter::field_id;

/// Iceberg's reserved ids of the two columns of a position delete file.
const FILE_PATH_ID: i32 = 2_147_483_546;
const POS_ID: i32 = 2_147_483_545;
const READ: &str = "read a delete file of the table";

/// The deletes of one snapshot, by data file.
#[derive(Debug, Default)]
pub(crate) struct PositionDeletes {
    by_file: HashMap<String, Vec<(i64, Vec<u64>)>>,
}

impl PositionDeletes {
    /// Adds the rows that one delete file, written at `sequence`, takes away.
    pub(crate) async fn add(
        &mut self,
        io: &FileIO,
        location: &str,
        sequence: i64,
        table: &str,
    ) -> Result<()> {
        let bytes = io.new_input(location).doing(READ)?.read().await.doing(READ)?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).doing(READ)?.build().doing(READ)?;
        let mut found: HashMap<String, Vec<u64>> = HashMap::new();
        for batch in reader {
            read_batch(&batch.doing(READ)?, &mut found, table)?;
        }
        for (file, positions) in found {
            self.by_file.entry(file).or_default().push((sequence, positions));
        }
        Ok(())
    }

    /// The deleted positions of a data file in order: a delete reaches the files that are no younger than itself.
    pub(crate) fn of(&self, file: &str, sequence: i64) -> Vec<u64> {
        let Some(all) = self.by_file.get(file) else {
            return Vec::new();
        };
        let reaching = all.iter().filter(|(deleted_at, _)| sequence <= *deleted_at);
        let mut positions: Vec<u64> = reaching.flat_map(|(_, positions)| positions.iter().copied()).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

fn read_batch(batch: &RecordBatch, found: &mut HashMap<String, Vec<u64>>, table: &str) -> Result<()> {
    let malformed =
        || CatalogError::Unsupported(format!("table `{table}` has a delete file of an unknown form"));
    let column = |id: i32, to: &DataType| {
        let schema = batch.schema();
        let at = schema.fields().iter().position(|f| field_id(f) == Some(id)).ok_or_else(malformed)?;
        cast(batch.columns().get(at).ok_or_else(malformed)?, to).doing(READ)
    };
    let files = column(FILE_PATH_ID, &DataType::Utf8)?;
    let positions = column(POS_ID, &DataType::Int64)?;
    let pairs = files.as_string::<i32>().iter().zip(positions.as_primitive::<Int64Type>().iter());
    for (file, position) in pairs {
        let (Some(file), Some(position)) = (file, position) else {
            return Err(malformed());
        };
        let position = u64::try_from(position).map_err(|_| malformed())?;
        match found.get_mut(file) {
            Some(positions) => positions.push(position),
            None => {
                found.insert(file.to_owned(), vec![position]);
            }
        }
    }
    Ok(())
}

/// Reads the footer of a data file and makes the plan that leaves the deleted rows out.
pub(crate) async fn access_plan(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    size: u64,
    deleted: &[u64],
) -> Result<ParquetAccessPlan> {
    let fetch = Fetch { store: Arc::clone(store), path: path.clone() };
    let footer = ParquetMetaDataReader::new()
        .load_and_finish(fetch, size)
        .await
        .doing("read the footer of a data file of the table")?;
    let rows = footer.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or_default());
    Ok(ParquetAccessPlan::new(selections(rows, deleted)))
}

/// One entry for each row group: all of it, none of it, or the runs between the deleted rows.
pub(crate) fn selections(row_groups: impl Iterator<Item = u64>, deleted: &[u64]) -> Vec<RowGroupAccess> {
    let mut start = 0_u64;
    let mut rest = deleted;
    row_groups
        .map(|rows| {
            let end = start.saturating_add(rows);
            let (here, later) = rest.split_at(rest.partition_point(|position| *position < end));
            rest = later;
            let group_start = std::mem::replace(&mut start, end);
            match here.len() as u64 {
                0 => RowGroupAccess::Scan,
                n if n >= rows => RowGroupAccess::Skip,
                _ => RowGroupAccess::Selection(runs(here, group_start, end)),
            }
        })
        .collect()
}

fn runs(deleted: &[u64], start: u64, end: u64) -> RowSelection {
    let length = |from: u64, to: u64| usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
    let mut selectors = Vec::new();
    let mut at = start;
    for position in deleted {
        if *position > at {
            selectors.push(RowSelector::select(length(at, *position)));
        }
        selectors.push(RowSelector::skip(1));
        at = position.saturating_add(1);
    }
    if end > at {
        selectors.push(RowSelector::select(length(at, end)));
    }
    RowSelection::from(selectors)
}

struct Fetch {
    store: Arc<dyn ObjectStore>,
    path: Path,
}

impl MetadataFetch for Fetch {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move {
            let bytes = self.store.get_range(&self.path, range).await;
            bytes.map_err(|e| ParquetError::External(Box::new(e)))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row_groups: &[u64], deleted: &[u64], expected: &[RowGroupAccess]) {
        assert_eq!(selections(row_groups.iter().copied(), deleted), expected);
    }

    #[test]
    fn rows_before_and_after_a_deleted_one_stay() {
        let middle =
            RowSelection::from(vec![RowSelector::select(1), RowSelector::skip(1), RowSelector::select(1)]);
        check(&[3, 3], &[4], &[RowGroupAccess::Scan, RowGroupAccess::Selection(middle)]);
    }

    #[test]
    fn a_row_group_that_is_deleted_whole_is_skipped() {
        check(&[2, 2], &[0, 1], &[RowGroupAccess::Skip, RowGroupAccess::Scan]);
    }

    #[test]
    fn the_last_row_of_the_last_group_can_go() {
        let last = RowSelection::from(vec![RowSelector::select(1), RowSelector::skip(1)]);
        check(&[2, 2], &[3], &[RowGroupAccess::Scan, RowGroupAccess::Selection(last)]);
    }
}
