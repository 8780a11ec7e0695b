//! Arrow's values in the texts that PostgreSQL has for them.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

type Row = Vec<Option<String>>;

pub(super) fn rows(batches: &[RecordBatch]) -> Result<Vec<Row>, ArrowError> {
    let mut rows = Vec::new();
    for batch in batches {
        let columns =
            batch.columns().iter().map(|column| values(column.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        rows.extend(
            (0..batch.num_rows())
                .map(|_| columns.iter_mut().map(|column| column.next().flatten()).collect::<Row>()),
        );
    }
    Ok(rows)
}

fn values(column: &dyn Array) -> Result<Vec<Option<String>>, ArrowError> {
    let options = FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.6f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.6f"));
    let formatter = ArrayFormatter::try_new(column, &options)?;
    (0..column.len())
        .map(|at| {
            if column.is_null(at) {
                return Ok(None);
            }
            Ok(Some(match column.data_type() {
                DataType::Float32 => column.as_primitive::<Float32Type>().value(at).to_string(),
                DataType::Float64 => column.as_primitive::<Float64Type>().value(at).to_string(),
                DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                    format!("\\x{}", formatter.value(at).try_to_string()?)
                }
                DataType::Timestamp(_, zone) => {
                    let text = formatter.value(at).try_to_string()?;
                    let text = text.trim_end_matches('0').trim_end_matches('.');
                    // The zone of every column is UTC.
                    if zone.is_some() { format!("{text}+00") } else { text.to_owned() }
                }
                _ => formatter.value(at).try_to_string()?,
            }))
        })
        .collect()
}
