//! The binary form of a value, as PostgreSQL's `send` functions write it.

use bytes::{BufMut, BytesMut};
use postgres_types::{Kind, Type};
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::encode::calendar::Zone;
use crate::encode::values::{Scalar, Values};
use crate::encode::{Sized, numeric, text};

/// PostgreSQL counts from 2000-01-01, Arrow from 1970-01-01.
pub(crate) const EPOCH_DAYS: i64 = 10_957;
pub(crate) const EPOCH_MICROS: i64 = EPOCH_DAYS * 86_400_000_000;

pub(super) fn write(
    scalar: &Scalar<'_>,
    pg_type: &Type,
    zone: &Zone,
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    match scalar {
        Scalar::Null => {}
        Scalar::Bool(value) => out.put_u8(u8::from(*value)),
        Scalar::Int(value) => match *pg_type {
            Type::INT2 => out.put_i16(i16::try_from(*value).map_err(|_| Refusal::internal())?),
            Type::INT4 => out.put_i32(i32::try_from(*value).map_err(|_| Refusal::internal())?),
            _ => out.put_i64(*value),
        },
        Scalar::Unsigned(value) => numeric::write_binary(&value.to_string(), 0, out)?,
        Scalar::Float4(value) => out.put_f32(*value),
        Scalar::Float8(value) => out.put_f64(*value),
        Scalar::Decimal { digits, scale } => {
            numeric::write_binary(&digits.to_string(), (*scale).into(), out)?
        }
        Scalar::WideDecimal { digits, scale } => {
            numeric::write_binary(&digits.to_string(), (*scale).into(), out)?
        }
        Scalar::Text(value) => out.put_slice(value.as_bytes()),
        Scalar::Bytes(value) | Scalar::Uuid(value) => out.put_slice(value),
        Scalar::Date { days } => {
            out.put_i32(
                days.checked_sub(EPOCH_DAYS).and_then(|n| i32::try_from(n).ok()).ok_or_else(out_of_range)?,
            );
        }
        Scalar::Time { micros } => out.put_i64(*micros),
        Scalar::Timestamp { micros } | Scalar::TimestampTz { micros } => {
            out.put_i64(micros.checked_sub(EPOCH_MICROS).ok_or_else(out_of_range)?);
        }
        Scalar::Interval { months, days, micros } => {
            out.put_i64(*micros);
            out.put_i32(*days);
            out.put_i32(*months);
        }
        Scalar::List { items, range } => match pg_type.kind() {
            Kind::Array(item_type) => write_array(items, range.clone(), item_type, zone, out)?,
            // The binary form of `json` is its text.
            _ => text::write(scalar, pg_type, zone, out)?,
        },
        Scalar::Struct { .. } | Scalar::Map { .. } => text::write(scalar, pg_type, zone, out)?,
    }
    Ok(())
}

fn write_array(
    items: &Values<'_>,
    range: std::ops::Range<usize>,
    item_type: &Type,
    zone: &Zone,
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    let n_items = i32::try_from(range.len()).map_err(|_| out_of_range())?;
    let mut has_null = false;
    for row in range.clone() {
        has_null |= matches!(items.scalar(row)?, Scalar::Null);
    }
    // An empty array has no dimension at all.
    out.put_i32(i32::from(n_items > 0));
    out.put_i32(i32::from(has_null));
    out.put_u32(item_type.oid());
    if n_items > 0 {
        out.put_i32(n_items);
        out.put_i32(1);
    }
    for row in range {
        match items.scalar(row)? {
            Scalar::Null => out.put_i32(-1),
            scalar => {
                let item = Sized::begin(out);
                write(&scalar, item_type, zone, out)?;
                item.end(out, 0)?;
            }
        }
    }
    Ok(())
}

fn out_of_range() -> Refusal {
    Refusal::of(ErrorKind::OutOfRange, "a value is out of PostgreSQL's range")
}
