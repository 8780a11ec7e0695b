//! Reshapes structs, lists and maps from a data file to the table's schema, field by field id.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, StructArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion_physical_expr::PhysicalExpr;

use crate::scan::adapter::field_id;

/// Whether values of a file's type can stand for values of the table's type without loss: Iceberg's promotions, and
/// the several ways in which Arrow holds one type.
pub(crate) fn fits(from: &DataType, to: &DataType) -> bool {
    use DataType as D;
    if from == to {
        return true;
    }
    match (from, to) {
        (D::Dictionary(_, value), _) => fits(value, to),
        (D::Int8 | D::Int16 | D::UInt8 | D::UInt16, D::Int32 | D::Int64) => true,
        (D::Int32 | D::UInt32, D::Int64) => true,
        (D::Float32, D::Float64) => true,
        (D::Decimal32(p, s) | D::Decimal64(p, s) | D::Decimal128(p, s), D::Decimal128(to_p, to_s)) => {
            s == to_s && p <= to_p
        }
        (D::Utf8 | D::LargeUtf8 | D::Utf8View, D::Utf8 | D::LargeUtf8 | D::Utf8View) => true,
        (D::Binary | D::LargeBinary | D::BinaryView, D::Binary | D::LargeBinary | D::BinaryView) => true,
        (D::Binary | D::LargeBinary, D::FixedSizeBinary(_)) => true,
        // Whether a moment is kept in UTC is part of the type; how the zone is spelt is not.
        (D::Timestamp(_, from_zone), D::Timestamp(_, to_zone)) => from_zone.is_some() == to_zone.is_some(),
        (D::Time32(_) | D::Time64(_), D::Time64(_)) => true,
        (D::Struct(from), D::Struct(to)) => to.iter().all(|field| match by_id(from, field) {
            Some((_, in_file)) => fits(in_file.data_type(), field.data_type()),
            None => field.is_nullable(),
        }),
        (D::List(from) | D::LargeList(from), D::List(to)) => {
            field_id(from) == field_id(to) && fits(from.data_type(), to.data_type())
        }
        (D::Map(from, _), D::Map(to, _)) => match (from.data_type(), to.data_type()) {
            (D::Struct(from), D::Struct(to)) => {
                from.len() == to.len()
                    && from
                        .iter()
                        .zip(to.iter())
                        .all(|(f, t)| field_id(f) == field_id(t) && fits(f.data_type(), t.data_type()))
            }
            _ => false,
        },
        _ => false,
    }
}

fn by_id<'a>(fields: &'a Fields, wanted: &Field) -> Option<(usize, &'a FieldRef)> {
    let id = field_id(wanted)?;
    fields.iter().enumerate().find(|(_, f)| field_id(f) == Some(id))
}

/// The array as a column of `to`; [`fits`] must have said yes.
pub(crate) fn reshape(array: &ArrayRef, to: &Field) -> Result<ArrayRef> {
    if array.data_type() == to.data_type() {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), to.data_type()) {
        (DataType::Struct(_), DataType::Struct(to)) => reshape_struct(array.as_struct(), to),
        (DataType::List(_), DataType::List(item)) => {
            let list = array.as_list::<i32>();
            let values = reshape(list.values(), item)?;
            let list =
                ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, list.nulls().cloned())?;
            Ok(Arc::new(list))
        }
        (DataType::LargeList(item), DataType::List(_)) => {
            let narrow = cast(array, &DataType::List(Arc::clone(item)))?;
            reshape(&narrow, to)
        }
        (DataType::Map(..), DataType::Map(entries, sorted)) => {
            let map = array.as_map();
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(DataFusionError::Internal("a map without entries".to_owned()));
            };
            let columns = map
                .entries()
                .columns()
                .iter()
                .zip(fields.iter())
                .map(|(c, f)| reshape(c, f))
                .collect::<Result<_>>()?;
            let reshaped = StructArray::try_new(fields.clone(), columns, None)?;
            let map = MapArray::try_new(
                Arc::clone(entries),
                map.offsets().clone(),
                reshaped,
                map.nulls().cloned(),
                *sorted,
            )?;
            Ok(Arc::new(map))
        }
        (_, flat) => cast(array, flat),
    }
}

fn reshape_struct(array: &StructArray, to: &Fields) -> Result<ArrayRef> {
    let DataType::Struct(from) = array.data_type() else {
        return Err(DataFusionError::Internal("a struct without fields".to_owned()));
    };
    let columns = to
        .iter()
        .map(|field| match by_id(from, field).and_then(|(index, _)| array.columns().get(index)) {
            Some(column) => reshape(column, field),
            None => Ok(new_null_array(field.data_type(), array.len())),
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(to.clone(), columns, array.nulls().cloned(), array.len())?))
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    Ok(cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })?)
}

/// Reads a nested column of a file as the table's schema has it.
#[derive(Debug, Clone)]
pub(crate) struct NestedExpr {
    child: Arc<dyn PhysicalExpr>,
    to: FieldRef,
}

impl NestedExpr {
    pub(crate) fn new(child: Arc<dyn PhysicalExpr>, to: FieldRef) -> Self {
        Self { child, to }
    }
}

impl PartialEq for NestedExpr {
    fn eq(&self, other: &Self) -> bool {
        self.child.eq(&other.child) && self.to == other.to
    }
}

impl Eq for NestedExpr {}

impl Hash for NestedExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.child.hash(state);
        self.to.hash(state);
    }
}

impl fmt::Display for NestedExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by_field_id({})", self.child)
    }
}

impl PhysicalExpr for NestedExpr {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(self.to.data_type().clone())
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(self.to.is_nullable())
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let array = self.child.evaluate(batch)?.into_array(batch.num_rows())?;
        reshape(&array, &self.to).map(ColumnarValue::Array)
    }

    fn return_field(&self, _: &Schema) -> Result<FieldRef> {
        Ok(Arc::clone(&self.to))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.child]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match children.into_iter().next() {
            Some(child) => Ok(Arc::new(Self { child, to: Arc::clone(&self.to) })),
            None => Err(DataFusionError::Internal("a nested column without its child".to_owned())),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.child.fmt_sql(f)
    }
}
