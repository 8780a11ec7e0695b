//! Turns the values that a client binds into Arrow arrays of one value, of the types that the statement takes.

mod array;
mod datum;

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::DataType;
use bytes::Bytes;
use postgres_types::Type;

use crate::answer::Refusal;
use crate::encode::{Format, Zone};

pub(crate) use datum::Datum;

/// Reads one parameter.
///
/// `pg_type` is the type the client declared, or was told, for the bytes; `wanted` is what the statement takes.
pub(crate) fn read(
    bytes: Option<&Bytes>,
    format: Format,
    pg_type: &Type,
    wanted: &DataType,
    zone: &Zone,
) -> Result<ArrayRef, Refusal> {
    // What the engine leaves open is text, as `pg_type_of_parameter` told the client.
    let wanted = if *wanted == DataType::Null { &DataType::Utf8 } else { wanted };
    let Some(bytes) = bytes else { return Ok(new_null_array(wanted, 1)) };
    let datum = match format {
        Format::Text => {
            let text = std::str::from_utf8(bytes)
                .map_err(|_| Refusal::new("22021", "invalid byte sequence for encoding \"UTF8\""))?;
            datum::of_text(text, pg_type)?
        }
        Format::Binary => datum::of_binary(bytes, pg_type)?,
    };
    array::of(datum, wanted, zone)
}

/// The types a client may send; any other is refused when the statement is parsed.
pub(crate) fn declared_type(oid: u32) -> Result<Option<Type>, Refusal> {
    datum::declared_type(oid)
}

#[cfg(test)]
mod tests;
