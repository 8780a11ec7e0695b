//! Finds a table's columns in a data file by field id, never by name.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::scalar::ScalarValue;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::{CastExpr, Column, lit};
use datafusion_physical_expr_adapter::{PhysicalExprAdapter, PhysicalExprAdapterFactory};

use crate::error::CatalogError;
use crate::scan::nested::{NestedExpr, fits};

/// The metadata key under which Arrow keeps a Parquet field id.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// The metadata key of the value that rows older than the column have, as text.
pub(crate) const DEFAULT_KEY: &str = "iceberg:initial_default";

pub(crate) fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}

/// Makes a [`PhysicalExprAdapter`] for each file; all it needs stands in the two schemas.
#[derive(Debug)]
pub(crate) struct FieldIdAdapterFactory;

impl PhysicalExprAdapterFactory for FieldIdAdapterFactory {
    fn create(&self, logical: SchemaRef, physical: SchemaRef) -> Result<Arc<dyn PhysicalExprAdapter>> {
        let none_has_an_id = physical.fields().iter().all(|f| field_id(f).is_none());
        if none_has_an_id && !physical.fields().is_empty() {
            let why = "a data file without field ids is not supported";
            return Err(CatalogError::Unsupported(why.to_owned()).into());
        }
        let sources =
            logical.fields().iter().map(|field| source_of(field, &physical)).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(FieldIdAdapter { logical, sources }))
    }
}

/// Where the values of a column come from in one file.
#[derive(Debug, Clone)]
enum Source {
    Column {
        name: String,
        index: usize,
    },
    Cast {
        name: String,
        index: usize,
        to: FieldRef,
    },
    Nested {
        name: String,
        index: usize,
        to: FieldRef,
    },
    Constant(ScalarValue),
    /// The file lacks a column that takes no null: an error, but only for a query that reads it.
    Missing,
}

fn source_of(field: &FieldRef, physical: &SchemaRef) -> Result<Source> {
    let id = field_id(field).ok_or_else(|| {
        DataFusionError::Internal(format!("column `{}` of an Iceberg scan has no field id", field.name()))
    })?;
    let found = physical.fields().iter().enumerate().find(|(_, f)| field_id(f) == Some(id));
    let Some((index, in_file)) = found else {
        return absent(field);
    };
    let name = in_file.name().clone();
    if in_file.data_type() == field.data_type() {
        return Ok(Source::Column { name, index });
    }
    if !fits(in_file.data_type(), field.data_type()) {
        let why = format!(
            "column `{}` has type {} in a data file, which does not widen to {}",
            field.name(),
            in_file.data_type(),
            field.data_type()
        );
        return Err(CatalogError::Unsupported(why).into());
    }
    let to = Arc::clone(field);
    Ok(match field.data_type() {
        DataType::Struct(_) | DataType::List(_) | DataType::Map(..) => Source::Nested { name, index, to },
        _ => Source::Cast { name, index, to },
    })
}

/// What a row has in a column that its file is older than.
fn absent(field: &Field) -> Result<Source> {
    match field.metadata().get(DEFAULT_KEY) {
        Some(text) => Ok(Source::Constant(ScalarValue::try_from_string(text.clone(), field.data_type())?)),
        None if field.is_nullable() => Ok(Source::Constant(ScalarValue::try_from(field.data_type())?)),
        None => Ok(Source::Missing),
    }
}

#[derive(Debug)]
struct FieldIdAdapter {
    logical: SchemaRef,
    sources: Vec<Source>,
}

impl FieldIdAdapter {
    fn column(&self, column: &Column) -> Result<Arc<dyn PhysicalExpr>> {
        let index = self.logical.index_of(column.name())?;
        let source = self.sources.get(index).ok_or_else(|| {
            DataFusionError::Internal(format!(
                "column `{}` of an Iceberg scan is out of range",
                column.name()
            ))
        })?;
        Ok(match source {
            Source::Column { name, index } => Arc::new(Column::new(name, *index)),
            Source::Cast { name, index, to } => {
                let inner = Arc::new(Column::new(name, *index));
                Arc::new(CastExpr::new_with_target_field(inner, Arc::clone(to), None))
            }
            Source::Nested { name, index, to } => {
                Arc::new(NestedExpr::new(Arc::new(Column::new(name, *index)), Arc::clone(to)))
            }
            Source::Constant(value) => lit(value.clone()),
            Source::Missing => {
                let why = format!("a data file lacks column `{}`, which does not take null", column.name());
                return Err(CatalogError::Unsupported(why).into());
            }
        })
    }
}

impl PhysicalExprAdapter for FieldIdAdapter {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        expr.transform(|node| match node.downcast_ref::<Column>() {
            Some(column) => self.column(column).map(Transformed::yes),
            None => Ok(Transformed::no(node)),
        })
        .data()
    }
}
