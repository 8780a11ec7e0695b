//! What manifests say of a data file's columns, as DataFusion's statistics and as bounds for pruning.

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::scalar::ScalarValue;
use iceberg::spec::{DataFile, PartitionSpec, PrimitiveLiteral, PrimitiveType, StructType, Transform, Type};

use crate::scan::adapter::field_id;

/// The least and the greatest value of one column in one file; a bound may lie outside of the values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    pub(crate) lower: Option<ScalarValue>,
    pub(crate) upper: Option<ScalarValue>,
    pub(crate) nulls: Option<u64>,
}

/// Bounds of every column of `schema`, in its order.
pub(crate) fn bounds(
    file: &DataFile,
    schema: &Schema,
    spec: &PartitionSpec,
    partition: &StructType,
) -> Vec<Bounds> {
    schema
        .fields()
        .iter()
        .map(|field| {
            let Some(id) = field_id(field) else {
                return Bounds::default();
            };
            let from_metrics = column_bounds(file, field, id);
            match from_metrics.lower.is_none() && from_metrics.upper.is_none() {
                true => partition_bounds(file, field, id, spec, partition).unwrap_or(from_metrics),
                false => from_metrics,
            }
        })
        .collect()
}

fn column_bounds(file: &DataFile, field: &Field, id: i32) -> Bounds {
    let nulls = file.null_value_counts().get(&id).copied();
    // Bounds leave NaN out, while DataFusion sorts NaN above every number.
    let floating = matches!(field.data_type(), DataType::Float32 | DataType::Float64);
    if floating && file.nan_value_counts().get(&id) != Some(&0) {
        return Bounds { lower: None, upper: None, nulls };
    }
    let value = |datum: &iceberg::spec::Datum| scalar(datum.literal(), datum.data_type(), field.data_type());
    Bounds {
        lower: file.lower_bounds().get(&id).and_then(value),
        upper: file.upper_bounds().get(&id).and_then(value),
        nulls,
    }
}

/// In a file of an identity partition every row has the partition's value.
fn partition_bounds(
    file: &DataFile,
    field: &Field,
    id: i32,
    spec: &PartitionSpec,
    partition: &StructType,
) -> Option<Bounds> {
    let at = spec.fields().iter().position(|f| f.source_id == id && f.transform == Transform::Identity)?;
    let Type::Primitive(primitive) = partition.fields().get(at)?.field_type.as_ref() else {
        return None;
    };
    match file.partition().fields().get(at)? {
        Some(literal) => {
            let value = scalar(&literal.as_primitive_literal()?, primitive, field.data_type())?;
            let is_nan = match &value {
                ScalarValue::Float32(Some(v)) => v.is_nan(),
                ScalarValue::Float64(Some(v)) => v.is_nan(),
                _ => false,
            };
            (!is_nan).then(|| Bounds { lower: Some(value.clone()), upper: Some(value), nulls: Some(0) })
        }
        None => Some(Bounds { lower: None, upper: None, nulls: Some(file.record_count()) }),
    }
}

/// The statistics of one file; inexact as a whole when rows of it are deleted.
pub(crate) fn statistics(file: &DataFile, schema: &Schema, bounds: &[Bounds], deleted: u64) -> Statistics {
    let rows = usize::try_from(file.record_count()).unwrap_or(usize::MAX);
    let columns = schema
        .fields()
        .iter()
        .zip(bounds)
        .map(|(field, bounds)| column(field, bounds).with_byte_size(byte_size(file, field, rows)))
        .collect();
    // The size of the whole file would stand for whatever columns of it are read, and a join of two narrow columns
    // would look like one of two tables. Without it the planner goes by the columns' widths, else by the rows.
    let whole = Statistics {
        num_rows: Precision::Exact(rows),
        total_byte_size: Precision::Absent,
        column_statistics: columns,
    };
    if deleted == 0 {
        return whole;
    }
    let live = rows.saturating_sub(usize::try_from(deleted).unwrap_or(usize::MAX));
    Statistics { num_rows: Precision::Inexact(live), ..whole.to_inexact() }
}

/// What a column takes in memory, or on disk where that cannot be told.
fn byte_size(file: &DataFile, field: &Field, rows: usize) -> Precision<usize> {
    if let Some(width) = field.data_type().primitive_width() {
        return Precision::Exact(rows.saturating_mul(width));
    }
    let stored = field_id(field).and_then(|id| file.column_sizes().get(&id)).copied();
    stored.and_then(|bytes| usize::try_from(bytes).ok()).map_or(Precision::Absent, Precision::Inexact)
}

fn column(field: &Field, bounds: &Bounds) -> ColumnStatistics {
    // Texts and bytes may be cut short in a bound, and a zero loses its sign: those are bounds, not values.
    let tight = !matches!(
        field.data_type(),
        DataType::Utf8View
            | DataType::LargeBinary
            | DataType::FixedSizeBinary(_)
            | DataType::Float32
            | DataType::Float64
    );
    let told = |bound: &Option<ScalarValue>| match bound {
        Some(value) if tight => Precision::Exact(value.clone()),
        Some(value) => Precision::Inexact(value.clone()),
        None => Precision::Absent,
    };
    let nulls = bounds.nulls.and_then(|n| usize::try_from(n).ok());
    ColumnStatistics::new_unknown()
        .with_min_value(told(&bounds.lower))
        .with_max_value(told(&bounds.upper))
        .with_null_count(nulls.map_or(Precision::Absent, Precision::Exact))
}

/// An Iceberg value as a value of the Arrow type that the column has now; `None` where that is not exact.
pub(crate) fn scalar(
    literal: &PrimitiveLiteral,
    stored: &PrimitiveType,
    to: &DataType,
) -> Option<ScalarValue> {
    use PrimitiveLiteral as L;
    Some(match (literal, to) {
        (L::Boolean(v), DataType::Boolean) => ScalarValue::Boolean(Some(*v)),
        (L::Int(v), DataType::Int32) => ScalarValue::Int32(Some(*v)),
        (L::Int(v), DataType::Int64) => ScalarValue::Int64(Some(i64::from(*v))),
        (L::Int(v), DataType::Date32) => ScalarValue::Date32(Some(*v)),
        (L::Long(v), DataType::Int64) => ScalarValue::Int64(Some(*v)),
        (L::Long(v), DataType::Time64(TimeUnit::Microsecond)) => ScalarValue::Time64Microsecond(Some(*v)),
        (L::Long(v), DataType::Timestamp(TimeUnit::Microsecond, zone)) => {
            ScalarValue::TimestampMicrosecond(Some(*v), zone.clone())
        }
        (L::Long(v), DataType::Timestamp(TimeUnit::Nanosecond, zone)) => {
            ScalarValue::TimestampNanosecond(Some(*v), zone.clone())
        }
        (L::Float(v), DataType::Float32) => ScalarValue::Float32(Some(v.0)),
        (L::Float(v), DataType::Float64) => ScalarValue::Float64(Some(f64::from(v.0))),
        (L::Double(v), DataType::Float64) => ScalarValue::Float64(Some(v.0)),
        (L::Int128(v), DataType::Decimal128(precision, scale)) => match stored {
            PrimitiveType::Decimal { scale: stored_scale, .. }
                if i64::from(*stored_scale) == i64::from(*scale) =>
            {
                ScalarValue::Decimal128(Some(*v), *precision, *scale)
            }
            _ => return None,
        },
        (L::String(v), DataType::Utf8View) => ScalarValue::Utf8View(Some(v.clone())),
        (L::Binary(v), DataType::LargeBinary) => ScalarValue::LargeBinary(Some(v.clone())),
        _ => return None,
    })
}
