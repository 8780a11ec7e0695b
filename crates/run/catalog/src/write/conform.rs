//! Makes rows fit a table: every value cast without loss of range, no null where none is taken.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;

use crate::error::{CatalogError, Doing, Result};

/// The batch as the table's writer takes it; columns are matched by their order.
pub(crate) fn conform(batch: &RecordBatch, target: &SchemaRef, table: &str) -> Result<RecordBatch> {
    if batch.num_columns() != target.fields().len() {
        return Err(CatalogError::ColumnCount {
            table: table.to_owned(),
            expected: target.fields().len(),
            found: batch.num_columns(),
        });
    }
    let columns = batch
        .columns()
        .iter()
        .zip(target.fields())
        .map(|(column, field)| {
            let failed = |why: ArrowError| CatalogError::Uncastable {
                table: table.to_owned(),
                column: field.name().clone(),
                why: why_text(why),
            };
            let column_fit = fit(column, field).map_err(failed)?;
            if !field.is_nullable() && column_fit.logical_null_count() > 0 {
                return Err(CatalogError::NullInRequired {
                    table: table.to_owned(),
                    column: field.name().clone(),
                });
            }
            Ok(column_fit)
        })
        .collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(target), columns, &options)
        .doing("prepare the rows for writing")
}

/// The message without Arrow's own prefix.
fn why_text(error: ArrowError) -> String {
    match error {
        ArrowError::CastError(why)
        | ArrowError::InvalidArgumentError(why)
        | ArrowError::ComputeError(why)
        | ArrowError::ParseError(why) => why,
        other => other.to_string(),
    }
}

fn fit(array: &ArrayRef, to: &Field) -> Result<ArrayRef, ArrowError> {
    if array.data_type() == to.data_type() {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), to.data_type()) {
        (DataType::Struct(from), DataType::Struct(fields)) => {
            if from.len() != fields.len() {
                return Err(mismatch(array.data_type(), to.data_type()));
            }
            let array = array.as_struct();
            let columns =
                array.columns().iter().zip(fields).map(|(c, f)| fit(c, f)).collect::<Result<_, _>>()?;
            let nulls = array.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?))
        }
        (DataType::List(_), DataType::List(item)) => {
            let list = array.as_list::<i32>();
            let values = fit(list.values(), item)?;
            Ok(Arc::new(ListArray::try_new(
                Arc::clone(item),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            )?))
        }
        (
            DataType::LargeList(item)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::FixedSizeList(item, _),
            DataType::List(_),
        ) => fit(&cast(array, &DataType::List(Arc::clone(item)))?, to),
        (DataType::Map(..), DataType::Map(entries, sorted)) => {
            let map = array.as_map();
            let pairs: ArrayRef = Arc::new(map.entries().clone());
            let pairs = fit(&pairs, entries)?.as_struct().clone();
            let map = MapArray::try_new(
                Arc::clone(entries),
                map.offsets().clone(),
                pairs,
                map.nulls().cloned(),
                *sorted,
            )?;
            Ok(Arc::new(map))
        }
        (from, flat) if !flat.is_nested() && can_cast_types(from, flat) => cast(array, flat),
        (from, to) => Err(mismatch(from, to)),
    }
}

fn mismatch(from: &DataType, to: &DataType) -> ArrowError {
    ArrowError::CastError(format!("{from} does not become {to}"))
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })
}
