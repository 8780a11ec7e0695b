//! What a user may see of one table, bound to expressions over its stored columns.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion_expr::Expr;

/// How one column is to be read.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnVerdict {
    Raw,
    /// An expression over stored columns, of the column's own type.
    Masked(Expr),
    /// Reads as typed NULL.
    Restricted,
}

/// The verdict for one table: filters and masks over stored values (L1).
#[derive(Clone, Debug, PartialEq)]
pub struct TableVerdict {
    /// Row filters, to be ANDed; each is boolean over unqualified stored columns.
    pub filters: Vec<Expr>,
    /// One per column, in the order of the raw schema.
    pub columns: Vec<ColumnVerdict>,
    /// The snapshot that it was drawn from.
    pub snapshot_version: i64,
}

impl TableVerdict {
    /// A verdict that lets everything through.
    pub fn open(n_columns: usize, snapshot_version: i64) -> Self {
        Self { filters: Vec::new(), columns: vec![ColumnVerdict::Raw; n_columns], snapshot_version }
    }

    /// Whether it hides the same as another, of whatever snapshot of the policies.
    pub fn rules_as(&self, other: &Self) -> bool {
        self.filters == other.filters && self.columns == other.columns
    }

    /// Whether rows or values are hidden.
    pub fn is_restricting(&self) -> bool {
        !self.filters.is_empty() || self.columns.iter().any(|column| *column != ColumnVerdict::Raw)
    }
}

/// The schema as the user sees it: the same names and types, and every column that a mask or restriction can make
/// NULL is nullable, whatever the table says (L1).
pub fn governed_schema(raw: &Schema, verdict: &TableVerdict) -> SchemaRef {
    let fields: Vec<Field> = raw
        .fields()
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let is_raw = matches!(verdict.columns.get(i), Some(ColumnVerdict::Raw));
            // Field metadata (field ids) is the table's own business and would make schemas differ needlessly.
            Field::new(field.name(), bare_type(field.data_type()), field.is_nullable() || !is_raw)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// A schema without metadata, however deep it stands: names, types and nullability.
pub fn bare_schema(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().map(|field| bare_field(field)).collect::<Vec<_>>())
}

fn bare_field(field: &Field) -> Field {
    Field::new(field.name(), bare_type(field.data_type()), field.is_nullable())
}

/// A type whose elements have no metadata.
pub fn bare_type(kind: &DataType) -> DataType {
    let inner = |field: &FieldRef| Arc::new(bare_field(field));
    match kind {
        DataType::List(item) => DataType::List(inner(item)),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        other => other.clone(),
    }
}
