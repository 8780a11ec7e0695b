//! Arrow schemas and Iceberg schemas, each made of the other.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use iceberg::arrow::{arrow_schema_to_schema_auto_assign_ids, schema_to_arrow_schema};
use iceberg::spec::{
    ListType, MapType, NestedField, NestedFieldRef, Schema as IcebergSchema, StructType, Type,
};

use crate::error::{CatalogError, Doing, Result};
use crate::name;

/// The time zone of every Iceberg timestamp with one.
const UTC: &str = "+00:00";

/// The schema under which a table is read: strings as views at the top level, field ids in the metadata.
pub(crate) fn shown_schema(schema: &IcebergSchema) -> Result<SchemaRef> {
    let arrow = written_schema(schema)?;
    let fields: Vec<FieldRef> = arrow
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
            _ => Arc::clone(field),
        })
        .collect();
    Ok(Arc::new(Schema::new(fields)))
}

/// The schema of the batches that Iceberg's writer takes.
pub(crate) fn written_schema(schema: &IcebergSchema) -> Result<SchemaRef> {
    Ok(Arc::new(schema_to_arrow_schema(schema).doing("read the table's schema")?))
}

/// An Iceberg schema with ids from one on, for a new table.
pub(crate) fn new_schema(schema: &Schema) -> Result<IcebergSchema> {
    if schema.fields().is_empty() {
        return Err(CatalogError::Unsupported("a table without columns is not supported".to_owned()));
    }
    let mut names: Vec<&str> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let column = field.name().as_str();
        name::check(column)?;
        if names.contains(&column) {
            return Err(CatalogError::ColumnExists { table: String::new(), column: column.to_owned() });
        }
        if let Some(twin) = name::case_twin(column, names.iter().copied()) {
            return Err(CatalogError::CaseOnly { name: column.to_owned(), existing: twin.to_owned() });
        }
        names.push(column);
    }
    let fields = schema.fields().iter().map(|f| stored_field(f, f.name())).collect::<Result<Vec<_>>>()?;
    arrow_schema_to_schema_auto_assign_ids(&Schema::new(fields)).doing("make the table's schema")
}

/// A new column for an existing table: every id in it lies above `last_column_id`.
pub(crate) fn new_column(field: &Field, last_column_id: i32) -> Result<NestedFieldRef> {
    let schema = new_schema(&Schema::new(vec![field.clone()]))?;
    let fresh = schema.as_struct().fields().first().cloned();
    let fresh = fresh.ok_or_else(|| CatalogError::Unsupported("a column without a type".to_owned()))?;
    Ok(shift_field(&fresh, last_column_id))
}

/// The columns of a table that takes the place of another: a column keeps the id that its name had there, for what is
/// written down about it by id; every other id is new.
pub(crate) fn replacing(
    schema: &Schema,
    old: &IcebergSchema,
    last_column_id: i32,
) -> Result<Vec<NestedFieldRef>> {
    // Looks at all names together.
    new_schema(schema)?;
    let mut last = last_column_id;
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let fresh = new_column(field, last)?;
        last = highest_id(&fresh);
        let kept = old.as_struct().fields().iter().find(|column| column.name == fresh.name);
        columns.push(match kept {
            Some(kept) => Arc::new(NestedField { id: kept.id, ..fresh.as_ref().clone() }),
            None => fresh,
        });
    }
    Ok(columns)
}

fn highest_id(field: &NestedFieldRef) -> i32 {
    let below = match field.field_type.as_ref() {
        Type::Primitive(_) => field.id,
        Type::Struct(fields) => fields.fields().iter().map(highest_id).max().unwrap_or(field.id),
        Type::List(list) => highest_id(&list.element_field),
        Type::Map(map) => highest_id(&map.key_field).max(highest_id(&map.value_field)),
    };
    below.max(field.id)
}

fn shift_field(field: &NestedFieldRef, by: i32) -> NestedFieldRef {
    let mut shifted: NestedField = field.as_ref().clone();
    shifted.id += by;
    *shifted.field_type = match shifted.field_type.as_ref() {
        Type::Primitive(primitive) => Type::Primitive(primitive.clone()),
        Type::Struct(fields) => {
            Type::Struct(StructType::new(fields.fields().iter().map(|f| shift_field(f, by)).collect()))
        }
        Type::List(list) => Type::List(ListType { element_field: shift_field(&list.element_field, by) }),
        Type::Map(map) => Type::Map(MapType {
            key_field: shift_field(&map.key_field, by),
            value_field: shift_field(&map.value_field, by),
        }),
    };
    Arc::new(shifted)
}

/// The field as it can be stored, its type the nearest that Iceberg has and its metadata gone.
fn stored_field(field: &Field, column: &str) -> Result<FieldRef> {
    let doc = field.metadata().get("doc").map(|doc| ("doc".to_owned(), doc.clone()));
    let stored = Field::new(field.name(), stored_type(field.data_type(), column)?, field.is_nullable());
    Ok(Arc::new(stored.with_metadata(doc.into_iter().collect::<HashMap<_, _>>())))
}

fn stored_fields(fields: &Fields, column: &str) -> Result<Fields> {
    fields.iter().map(|f| stored_field(f, column)).collect()
}

/// The Iceberg type nearest to an Arrow type, as Arrow writes it; wider where Iceberg has no such width.
fn stored_type(data_type: &DataType, column: &str) -> Result<DataType> {
    Ok(match data_type {
        DataType::Boolean
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Date32
        | DataType::FixedSizeBinary(_) => data_type.clone(),
        DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => DataType::Int32,
        // A value that does not fit is an error when it is written.
        DataType::UInt32 | DataType::UInt64 => DataType::Int64,
        DataType::Float16 => DataType::Float32,
        DataType::Date64 => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(_, None) => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(_, Some(_)) => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) if *s >= 0 => {
            DataType::Decimal128(*p, *s)
        }
        DataType::Decimal256(p, s) if *p <= 38 && *s >= 0 => DataType::Decimal128(*p, *s),
        // An untyped NULL is a text, as in PostgreSQL.
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::LargeBinary,
        DataType::Dictionary(_, value) => stored_type(value, column)?,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => DataType::List(stored_field(item, column)?),
        DataType::Struct(fields) => DataType::Struct(stored_fields(fields, column)?),
        DataType::Map(entries, sorted) => DataType::Map(stored_field(entries, column)?, *sorted),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Duration(_)
        | DataType::Interval(_)
        | DataType::Union(..)
        | DataType::RunEndEncoded(..) => {
            return Err(CatalogError::Unsupported(format!(
                "column `{column}` has type {data_type}, which no table can hold"
            )));
        }
    })
}
