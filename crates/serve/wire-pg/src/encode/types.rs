//! Which PostgreSQL type stands for which Arrow type.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use pgwire::messages::data::{FieldDescription, RowDescription};
use postgres_types::{Kind, Type};
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::encode::Format;

const EXTENSION_NAME: &str = "ARROW:extension:name";

/// One column of a result, as `RowDescription` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) pg_type: Type,
    pub(crate) modifier: i32,
}

impl Column {
    fn describe(&self, format: Format) -> FieldDescription {
        FieldDescription::new(
            self.name.clone(),
            0,
            0,
            self.pg_type.oid(),
            size_of(&self.pg_type),
            self.modifier,
            format.code(),
        )
    }

    pub(crate) fn describe_all(columns: &[Self], formats: &[Format]) -> RowDescription {
        RowDescription::new(
            columns.iter().zip(formats).map(|(column, format)| column.describe(*format)).collect(),
        )
    }
}

/// The columns of a result; a type that cannot be sent is refused here, before anything runs.
pub(crate) fn columns_of(schema: &Schema) -> Result<Vec<Column>, Refusal> {
    let column = |field: &Arc<Field>| {
        let pg_type = pg_type_of(field).ok_or_else(|| {
            let name = field.name();
            Refusal::of(
                ErrorKind::Unsupported,
                format!("the type of column `{name}` cannot be sent by this protocol"),
            )
        })?;
        Ok(Column {
            name: field.name().replace('\0', "\u{fffd}"),
            pg_type,
            modifier: modifier_of(field.data_type()),
        })
    };
    schema.fields().iter().map(column).collect()
}

/// The type told for `$n`; what the engine leaves open is text, as in PostgreSQL.
///
/// Sixteen bytes bear no mark here; as a UUID they can be given in its text form, and the binary forms are the same.
pub(crate) fn pg_type_of_parameter(data_type: &DataType) -> Result<Type, Refusal> {
    if *data_type == DataType::FixedSizeBinary(16) {
        return Ok(Type::UUID);
    }
    pg_type_of(&Field::new("", data_type.clone(), true)).ok_or_else(|| {
        Refusal::of(ErrorKind::Unsupported, "a parameter has a type that this protocol cannot send")
    })
}

/// The Arrow type of a parameter whose type the client declared; `None` leaves it to the engine.
///
/// A numeric is left to it too: its oid tells no precision, and a guess could cut digits off.
pub(crate) fn arrow_of(pg_type: &Type) -> Option<DataType> {
    if let Kind::Array(item) = pg_type.kind() {
        return Some(DataType::List(Arc::new(Field::new_list_field(arrow_of(item)?, true))));
    }
    Some(match *pg_type {
        Type::BOOL => DataType::Boolean,
        Type::INT2 => DataType::Int16,
        Type::INT4 => DataType::Int32,
        Type::INT8 => DataType::Int64,
        Type::OID => DataType::Int64,
        Type::FLOAT4 => DataType::Float32,
        Type::FLOAT8 => DataType::Float64,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::CHAR | Type::JSON | Type::JSONB => {
            DataType::Utf8
        }
        Type::BYTEA => DataType::Binary,
        Type::DATE => DataType::Date32,
        Type::TIME => DataType::Time64(TimeUnit::Microsecond),
        Type::TIMESTAMP => DataType::Timestamp(TimeUnit::Microsecond, None),
        Type::TIMESTAMPTZ => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
        Type::UUID => DataType::FixedSizeBinary(16),
        _ => return None,
    })
}

/// Sixteen bytes are a UUID only where they are marked so; else they are a `fixed[16]`.
pub(crate) fn is_uuid(field: &Field) -> bool {
    *field.data_type() == DataType::FixedSizeBinary(16) && extension_of(field) == Some("arrow.uuid")
}

fn extension_of(field: &Field) -> Option<&str> {
    field.metadata().get(EXTENSION_NAME).map(String::as_str)
}

fn pg_type_of(field: &Field) -> Option<Type> {
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            if is_nested(item.data_type()) {
                is_sendable(item).then_some(Type::JSON)
            } else {
                array_of(&scalar_type_of(item.data_type(), item)?)
            }
        }
        DataType::Struct(_) | DataType::Map(_, _) => is_sendable(field).then_some(Type::JSON),
        data_type => scalar_type_of(data_type, field),
    }
}

fn is_nested(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(_, _)
            | DataType::Struct(_)
            | DataType::Map(_, _)
    )
}

/// Whether everything inside a nested type has a form.
fn is_sendable(field: &Field) -> bool {
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_sendable(item)
        }
        DataType::Struct(fields) => fields.iter().all(|part| is_sendable(part)),
        DataType::Map(entries, _) => is_sendable(entries),
        data_type => scalar_type_of(data_type, field).is_some(),
    }
}

fn scalar_type_of(data_type: &DataType, field: &Field) -> Option<Type> {
    Some(match data_type {
        DataType::Null => Type::TEXT,
        DataType::Boolean => Type::BOOL,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => Type::INT2,
        DataType::Int32 | DataType::UInt16 => Type::INT4,
        DataType::Int64 | DataType::UInt32 => Type::INT8,
        DataType::UInt64 => Type::NUMERIC,
        DataType::Float16 | DataType::Float32 => Type::FLOAT4,
        DataType::Float64 => Type::FLOAT8,
        DataType::Decimal32(_, _)
        | DataType::Decimal64(_, _)
        | DataType::Decimal128(_, _)
        | DataType::Decimal256(_, _) => Type::NUMERIC,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => match extension_of(field) {
            Some("arrow.json") => Type::JSON,
            _ => Type::TEXT,
        },
        DataType::FixedSizeBinary(_) if is_uuid(field) => Type::UUID,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Type::BYTEA
        }
        DataType::Date32 | DataType::Date64 => Type::DATE,
        DataType::Time32(_) | DataType::Time64(_) => Type::TIME,
        DataType::Timestamp(_, None) => Type::TIMESTAMP,
        DataType::Timestamp(_, Some(_)) => Type::TIMESTAMPTZ,
        DataType::Interval(_) | DataType::Duration(_) => Type::INTERVAL,
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(_, _)) => {
            return scalar_type_of(values, field);
        }
        _ => return None,
    })
}

fn array_of(item: &Type) -> Option<Type> {
    Some(match *item {
        Type::BOOL => Type::BOOL_ARRAY,
        Type::INT2 => Type::INT2_ARRAY,
        Type::INT4 => Type::INT4_ARRAY,
        Type::INT8 => Type::INT8_ARRAY,
        Type::FLOAT4 => Type::FLOAT4_ARRAY,
        Type::FLOAT8 => Type::FLOAT8_ARRAY,
        Type::NUMERIC => Type::NUMERIC_ARRAY,
        Type::TEXT => Type::TEXT_ARRAY,
        Type::JSON => Type::JSON_ARRAY,
        Type::UUID => Type::UUID_ARRAY,
        Type::BYTEA => Type::BYTEA_ARRAY,
        Type::DATE => Type::DATE_ARRAY,
        Type::TIME => Type::TIME_ARRAY,
        Type::TIMESTAMP => Type::TIMESTAMP_ARRAY,
        Type::TIMESTAMPTZ => Type::TIMESTAMPTZ_ARRAY,
        Type::INTERVAL => Type::INTERVAL_ARRAY,
        _ => return None,
    })
}

/// The length in bytes, or -1 where it varies, as in `pg_type.typlen`.
fn size_of(pg_type: &Type) -> i16 {
    match *pg_type {
        Type::BOOL => 1,
        Type::INT2 => 2,
        Type::INT4 | Type::FLOAT4 | Type::DATE => 4,
        Type::INT8 | Type::FLOAT8 | Type::TIME | Type::TIMESTAMP | Type::TIMESTAMPTZ => 8,
        Type::UUID | Type::INTERVAL => 16,
        _ => -1,
    }
}

/// Precision and scale of a numeric, packed as PostgreSQL packs them; -1 for all else.
fn modifier_of(data_type: &DataType) -> i32 {
    match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            ((i32::from(*precision) << 16) | (i32::from(*scale) & 0x7ff)) + 4
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if !is_nested(item.data_type()) =>
        {
            modifier_of(item.data_type())
        }
        DataType::Dictionary(_, values) => modifier_of(values),
        _ => -1,
    }
}
