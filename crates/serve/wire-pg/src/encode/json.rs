//! Structs, maps and nested lists as JSON text, in the forms that PostgreSQL's `to_json` gives.

use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use postgres_types::Type;

use crate::answer::Refusal;
use crate::encode::calendar::{self, Between, Zone};
use crate::encode::text;
use crate::encode::values::Scalar;

pub(super) fn write(scalar: &Scalar<'_>, zone: &Zone, out: &mut BytesMut) -> Result<(), Refusal> {
    match scalar {
        Scalar::Null => out.put_slice(b"null"),
        Scalar::Bool(value) => out.put_slice(if *value { b"true" } else { b"false" }),
        Scalar::Float4(value) if !value.is_finite() => write_quoted(scalar, zone, out)?,
        Scalar::Float8(value) if !value.is_finite() => write_quoted(scalar, zone, out)?,
        Scalar::Int(_)
        | Scalar::Unsigned(_)
        | Scalar::Float4(_)
        | Scalar::Float8(_)
        | Scalar::Decimal { .. }
        | Scalar::WideDecimal { .. } => text::write(scalar, &Type::TEXT, zone, out)?,
        Scalar::Text(value) => write_string(value, out),
        Scalar::Bytes(_)
        | Scalar::Uuid(_)
        | Scalar::Date { .. }
        | Scalar::Time { .. }
        | Scalar::Interval { .. } => {
            write_quoted(scalar, zone, out)?;
        }
        Scalar::Timestamp { micros } => {
            out.put_u8(b'"');
            calendar::write_timestamp(*micros, Between::Letter, out);
            out.put_u8(b'"');
        }
        Scalar::TimestampTz { micros } => {
            out.put_u8(b'"');
            calendar::write_timestamptz(*micros, zone, Between::Letter, out);
            out.put_u8(b'"');
        }
        Scalar::List { items, range } => {
            out.put_u8(b'[');
            for row in range.clone() {
                comma(row > range.start, out);
                write(&items.scalar(row)?, zone, out)?;
            }
            out.put_u8(b']');
        }
        Scalar::Struct { fields, row } => {
            out.put_u8(b'{');
            for (idx, (name, values)) in fields.iter().enumerate() {
                comma(idx > 0, out);
                write_string(name, out);
                out.put_u8(b':');
                write(&values.scalar(*row)?, zone, out)?;
            }
            out.put_u8(b'}');
        }
        Scalar::Map { keys, values, range } => {
            out.put_u8(b'{');
            for row in range.clone() {
                comma(row > range.start, out);
                write_key(&keys.scalar(row)?, zone, out)?;
                out.put_u8(b':');
                write(&values.scalar(row)?, zone, out)?;
            }
            out.put_u8(b'}');
        }
    }
    Ok(())
}

fn comma(wanted: bool, out: &mut BytesMut) {
    if wanted {
        out.put_u8(b',');
    }
}

/// A key of an object is a string, whatever the map's keys are.
fn write_key(scalar: &Scalar<'_>, zone: &Zone, out: &mut BytesMut) -> Result<(), Refusal> {
    match scalar {
        Scalar::Text(value) => write_string(value, out),
        Scalar::List { .. } | Scalar::Struct { .. } | Scalar::Map { .. } => {
            let mut inner = BytesMut::new();
            write(scalar, zone, &mut inner)?;
            write_string(&String::from_utf8_lossy(&inner), out);
        }
        _ => write_quoted(scalar, zone, out)?,
    }
    Ok(())
}

/// The text form as a string.
fn write_quoted(scalar: &Scalar<'_>, zone: &Zone, out: &mut BytesMut) -> Result<(), Refusal> {
    let mut inner = BytesMut::new();
    text::write(scalar, &Type::TEXT, zone, &mut inner)?;
    write_string(&String::from_utf8_lossy(&inner), out);
    Ok(())
}

fn write_string(value: &str, out: &mut BytesMut) {
    out.put_u8(b'"');
    for c in value.chars() {
        match c {
            '"' => out.put_slice(b"\\\""),
            '\\' => out.put_slice(b"\\\\"),
            '\n' => out.put_slice(b"\\n"),
            '\r' => out.put_slice(b"\\r"),
            '\t' => out.put_slice(b"\\t"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => {
                let _ = out.write_char(c);
            }
        }
    }
    out.put_u8(b'"');
}
