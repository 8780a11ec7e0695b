//! Makes an Arrow array of one value, of the very type that a statement takes, and loses nothing of the value.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal32Array, Decimal64Array, Decimal128Array,
    Decimal256Array, FixedSizeBinaryArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array,
    LargeListArray, ListArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    new_empty_array, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{CastOptions, cast_with_options, concat};
use arrow::datatypes::{DataType, FieldRef};
use bytes::BytesMut;
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::encode::{Numeric, Zone, parse_numeric, pg_type_of_parameter, write_uuid};
use crate::parameters::Datum;
use crate::parameters::datum;

const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

pub(super) fn of(given: Datum, wanted: &DataType, zone: &Zone) -> Result<ArrayRef, Refusal> {
    match (given, wanted) {
        (Datum::Text(text), wanted) if !is_string(wanted) => of_text(&text, wanted, zone),
        (Datum::List(items), wanted) => of_list(items, wanted, zone),
        (given, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _)) => {
            Err(misfit(&given, wanted))
        }
        (
            given,
            DataType::Decimal32(_, _)
            | DataType::Decimal64(_, _)
            | DataType::Decimal128(_, _)
            | DataType::Decimal256(_, _),
        ) => match numeric_of(&given)? {
            Some(numeric) => of_numeric(numeric, wanted),
            None => Err(misfit(&given, wanted)),
        },
        (Datum::Numeric(numeric), wanted) => of_numeric_text(numeric, wanted),
        (Datum::Uuid(bytes), wanted) if is_string(wanted) => {
            fit(natural(Datum::Text(uuid_text(&bytes)))?, wanted)
        }
        (Datum::Timestamp { micros }, DataType::Timestamp(_, Some(_))) => {
            let micros = zone.instant_of(micros).ok_or_else(out_of_range)?;
            fit(natural(Datum::TimestampTz { micros })?, wanted)
        }
        (Datum::ZonedLocal { micros }, wanted) => {
            let micros = zone.instant_of(micros).ok_or_else(out_of_range)?;
            of(Datum::TimestampTz { micros }, wanted, zone)
        }
        (Datum::TimestampTz { micros }, DataType::Timestamp(_, None)) => {
            let micros = zone.local_of(micros).ok_or_else(out_of_range)?;
            fit(natural(Datum::Timestamp { micros })?, wanted)
        }
        (given, wanted) => fit(natural(given)?, wanted),
    }
}

/// A text that the client declared as text is read as the type that is wanted.
fn of_text(text: &str, wanted: &DataType, zone: &Zone) -> Result<ArrayRef, Refusal> {
    if let DataType::FixedSizeBinary(16) = wanted
        && let Some(bytes) = text.starts_with("\\x").then(|| datum::bytea_of(text)).flatten()
    {
        return fit(natural(Datum::Bytes(bytes))?, wanted);
    }
    let pg_type = pg_type_of_parameter(wanted)?;
    match datum::of_text(text, &pg_type)? {
        // A type with no reader of its own has no text form to take.
        Datum::Text(_) => Err(Refusal::of(
            ErrorKind::TypeMismatch,
            format!("a text cannot be given for {}", pg_type.name()),
        )),
        given => of(given, wanted, zone),
    }
}

fn of_list(items: Vec<Option<Datum>>, wanted: &DataType, zone: &Zone) -> Result<ArrayRef, Refusal> {
    let n_items = items.len();
    let item_arrays = |field: &FieldRef| -> Result<ArrayRef, Refusal> {
        let arrays = items
            .iter()
            .map(|item| match item {
                Some(item) => of(item.clone(), field.data_type(), zone),
                None => Ok(new_null_array(field.data_type(), 1)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        if arrays.is_empty() {
            return Ok(new_empty_array(field.data_type()));
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        concat(&arrays).map_err(|_| Refusal::internal())
    };
    let nullable = |field: &FieldRef| Arc::new(field.as_ref().clone().with_nullable(true));
    let made: Result<ArrayRef, _> = match wanted {
        DataType::List(field) => ListArray::try_new(
            nullable(field),
            OffsetBuffer::from_lengths([n_items]),
            item_arrays(field)?,
            None,
        )
        .map(|list| Arc::new(list) as ArrayRef),
        DataType::LargeList(field) => LargeListArray::try_new(
            nullable(field),
            OffsetBuffer::from_lengths([n_items]),
            item_arrays(field)?,
            None,
        )
        .map(|list| Arc::new(list) as ArrayRef),
        DataType::FixedSizeList(field, length) if usize::try_from(*length) == Ok(n_items) => {
            FixedSizeListArray::try_new(nullable(field), *length, item_arrays(field)?, None)
                .map(|list| Arc::new(list) as ArrayRef)
        }
        _ => return Err(misfit(&Datum::List(Vec::new()), wanted)),
    };
    made.map_err(|_| Refusal::internal())
}

/// The value as a decimal, where it is a number.
fn numeric_of(given: &Datum) -> Result<Option<Numeric>, Refusal> {
    Ok(match given {
        Datum::Numeric(numeric) => Some(*numeric),
        Datum::Int(value) => Some(Numeric::of_integer(*value)),
        Datum::Float4(value) => Some(parse_numeric(&value.to_string())?),
        Datum::Float8(value) => Some(parse_numeric(&value.to_string())?),
        _ => None,
    })
}

fn of_numeric(numeric: Numeric, wanted: &DataType) -> Result<ArrayRef, Refusal> {
    let made: Result<ArrayRef, _> = match wanted {
        DataType::Decimal32(precision, scale) => {
            let unscaled =
                numeric.unscaled_at(*precision, *scale)?.to_i128().and_then(|n| i32::try_from(n).ok());
            Decimal32Array::from(vec![unscaled.ok_or_else(out_of_range)?])
                .with_precision_and_scale(*precision, *scale)
                .map(|array| Arc::new(array) as ArrayRef)
        }
        DataType::Decimal64(precision, scale) => {
            let unscaled =
                numeric.unscaled_at(*precision, *scale)?.to_i128().and_then(|n| i64::try_from(n).ok());
            Decimal64Array::from(vec![unscaled.ok_or_else(out_of_range)?])
                .with_precision_and_scale(*precision, *scale)
                .map(|array| Arc::new(array) as ArrayRef)
        }
        DataType::Decimal128(precision, scale) => {
            let unscaled = numeric.unscaled_at(*precision, *scale)?.to_i128();
            Decimal128Array::from(vec![unscaled.ok_or_else(out_of_range)?])
                .with_precision_and_scale(*precision, *scale)
                .map(|array| Arc::new(array) as ArrayRef)
        }
        DataType::Decimal256(precision, scale) => {
            Decimal256Array::from(vec![numeric.unscaled_at(*precision, *scale)?])
                .with_precision_and_scale(*precision, *scale)
                .map(|array| Arc::new(array) as ArrayRef)
        }
        _ => return Err(Refusal::internal()),
    };
    made.map_err(|_| out_of_range())
}

/// A decimal for an integer, a float or a text, through its digits.
fn of_numeric_text(numeric: Numeric, wanted: &DataType) -> Result<ArrayRef, Refusal> {
    let text = numeric.to_text();
    if wanted.is_integer() {
        let unscaled =
            numeric.unscaled_at(76, 0).ok().and_then(|n| n.to_i128()).and_then(|n| i64::try_from(n).ok());
        let value = unscaled
            .ok_or_else(|| Refusal::of(ErrorKind::OutOfRange, format!("`{text}` is no integer in range")))?;
        return fit(natural(Datum::Int(value))?, wanted);
    }
    fit(natural(Datum::Text(text))?, wanted)
}

/// The array of the type that a value has by itself.
fn natural(given: Datum) -> Result<ArrayRef, Refusal> {
    Ok(match given {
        Datum::Bool(value) => Arc::new(BooleanArray::from(vec![value])),
        Datum::Int(value) => Arc::new(Int64Array::from(vec![value])),
        Datum::Float4(value) => Arc::new(Float32Array::from(vec![value])),
        Datum::Float8(value) => Arc::new(Float64Array::from(vec![value])),
        Datum::Numeric(numeric) => Arc::new(StringArray::from(vec![numeric.to_text()])),
        Datum::Text(text) => Arc::new(StringArray::from(vec![text])),
        Datum::Bytes(bytes) => Arc::new(BinaryArray::from(vec![bytes.as_slice()])),
        Datum::Uuid(bytes) => Arc::new(
            FixedSizeBinaryArray::try_from_iter(std::iter::once(bytes.as_slice()))
                .map_err(|_| Refusal::internal())?,
        ),
        Datum::Date { days } => {
            Arc::new(Date32Array::from(vec![i32::try_from(days).map_err(|_| out_of_range())?]))
        }
        Datum::Time { micros } => Arc::new(Time64MicrosecondArray::from(vec![micros])),
        Datum::Timestamp { micros } => Arc::new(TimestampMicrosecondArray::from(vec![micros])),
        Datum::TimestampTz { micros } | Datum::ZonedLocal { micros } => {
            Arc::new(TimestampMicrosecondArray::from(vec![micros]).with_timezone("+00:00"))
        }
        Datum::List(_) => return Err(Refusal::internal()),
    })
}

/// Casts to the wanted type; a cast that does not lead back to the same value is refused.
fn fit(array: ArrayRef, wanted: &DataType) -> Result<ArrayRef, Refusal> {
    if array.data_type() == wanted {
        return Ok(array);
    }
    let out_of_reach = || {
        Refusal::of(
            ErrorKind::TypeMismatch,
            format!("the value given for a parameter does not fit {}", name_of(wanted)),
        )
    };
    let fitted = cast_with_options(&array, wanted, &STRICT).map_err(|_| out_of_reach())?;
    // Digits that a float cannot hold are rounded, as everywhere; and a text is not expected back in its old spelling.
    if wanted.is_floating() || is_string(wanted) || is_string(array.data_type()) {
        return Ok(fitted);
    }
    let back = cast_with_options(&fitted, array.data_type(), &STRICT).map_err(|_| out_of_reach())?;
    if back.to_data() == array.to_data() { Ok(fitted) } else { Err(out_of_reach()) }
}

fn uuid_text(bytes: &[u8; 16]) -> String {
    let mut out = BytesMut::new();
    write_uuid(bytes, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn is_string(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        || matches!(data_type, DataType::Dictionary(_, values) if is_string(values))
}

fn out_of_range() -> Refusal {
    Refusal::of(ErrorKind::OutOfRange, "the value given for a parameter is out of range")
}

fn misfit(given: &Datum, wanted: &DataType) -> Refusal {
    let kind = if matches!(given, Datum::List(_)) { "an array" } else { "this value" };
    Refusal::of(
        ErrorKind::TypeMismatch,
        format!("{kind} cannot be given for a parameter of type {}", name_of(wanted)),
    )
}

fn name_of(wanted: &DataType) -> String {
    pg_type_of_parameter(wanted).map_or_else(|_| "this type".to_owned(), |pg_type| pg_type.name().to_owned())
}
