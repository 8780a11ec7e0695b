//! The text form of a value, byte for byte what PostgreSQL prints.

use std::fmt::Write;

use bytes::{BufMut, BytesMut};
use postgres_types::{Kind, Type};

use crate::answer::Refusal;
use crate::encode::calendar::{self, Between, Zone};
use crate::encode::values::Scalar;
use crate::encode::{json, numeric};

const HEX: &[u8; 16] = b"0123456789abcdef";

pub(super) fn write(
    scalar: &Scalar<'_>,
    pg_type: &Type,
    zone: &Zone,
    out: &mut BytesMut,
) -> Result<(), Refusal> {
    match scalar {
        Scalar::Null => {}
        Scalar::Bool(value) => out.put_u8(if *value { b't' } else { b'f' }),
        Scalar::Int(value) => push(out, format_args!("{value}")),
        Scalar::Unsigned(value) => push(out, format_args!("{value}")),
        Scalar::Float4(value) => write_float(f64::from(*value), &format!("{value:e}"), 6, out),
        Scalar::Float8(value) => write_float(*value, &format!("{value:e}"), 15, out),
        Scalar::Decimal { digits, scale } => numeric::write_text(&digits.to_string(), (*scale).into(), out),
        Scalar::WideDecimal { digits, scale } => {
            numeric::write_text(&digits.to_string(), (*scale).into(), out)
        }
        Scalar::Text(text) => out.put_slice(text.as_bytes()),
        Scalar::Bytes(bytes) => {
            out.put_slice(b"\\x");
            write_hex(bytes, out);
        }
        Scalar::Uuid(bytes) => write_uuid(bytes, out),
        Scalar::Date { days } => calendar::write_date(*days, out),
        Scalar::Time { micros } => calendar::write_time(*micros, out),
        Scalar::Timestamp { micros } => calendar::write_timestamp(*micros, Between::Blank, out),
        Scalar::TimestampTz { micros } => calendar::write_timestamptz(*micros, zone, Between::Blank, out),
        Scalar::Interval { months, days, micros } => calendar::write_interval(*months, *days, *micros, out),
        Scalar::List { items, range } => match pg_type.kind() {
            Kind::Array(item_type) => {
                out.put_u8(b'{');
                for row in range.clone() {
                    if row > range.start {
                        out.put_u8(b',');
                    }
                    write_item(&items.scalar(row)?, item_type, zone, out)?;
                }
                out.put_u8(b'}');
            }
            _ => json::write(scalar, zone, out)?,
        },
        Scalar::Struct { .. } | Scalar::Map { .. } => json::write(scalar, zone, out)?,
    }
    Ok(())
}

/// Writing to a buffer that grows cannot fail.
fn push(out: &mut BytesMut, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// The shortest digits that read back as the same number; an exponent where C's `%g` would use one.
fn write_float(value: f64, scientific: &str, n_digits: i32, out: &mut BytesMut) {
    if value.is_nan() {
        return out.put_slice(b"NaN");
    }
    if value.is_infinite() {
        return out.put_slice(if value > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= n_digits {
        let sign = if exponent < 0 { '-' } else { '+' };
        return push(out, format_args!("{mantissa}e{sign}{:02}", exponent.abs()));
    }
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let n_after = digits.len().saturating_sub(1);
    let whole_len = usize::try_from(exponent + 1).unwrap_or(0);
    if exponent < 0 {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0));
        push(out, format_args!("{sign}0.{zeros}{digits}"));
    } else if whole_len > n_after {
        push(out, format_args!("{sign}{digits}{}", "0".repeat(whole_len - digits.len())));
    } else if let Some((whole, fraction)) = digits.split_at_checked(whole_len) {
        push(out, format_args!("{sign}{whole}.{fraction}"));
    }
}

fn write_item(scalar: &Scalar<'_>, pg_type: &Type, zone: &Zone, out: &mut BytesMut) -> Result<(), Refusal> {
    if matches!(scalar, Scalar::Null) {
        out.put_slice(b"NULL");
        return Ok(());
    }
    let mut item = BytesMut::new();
    write(scalar, pg_type, zone, &mut item)?;
    let is_special = |byte: &u8| {
        matches!(byte, b'{' | b'}' | b',' | b'"' | b'\\') || byte.is_ascii_whitespace() || *byte == 0x0b
    };
    if !item.is_empty() && !item.iter().any(is_special) && !item.eq_ignore_ascii_case(b"null") {
        out.put_slice(&item);
        return Ok(());
    }
    out.put_u8(b'"');
    for byte in item {
        if matches!(byte, b'"' | b'\\') {
            out.put_u8(b'\\');
        }
        out.put_u8(byte);
    }
    out.put_u8(b'"');
    Ok(())
}

pub(crate) fn write_uuid(bytes: &[u8], out: &mut BytesMut) {
    for (idx, byte) in bytes.iter().enumerate() {
        if matches!(idx, 4 | 6 | 8 | 10) {
            out.put_u8(b'-');
        }
        write_hex(&[*byte], out);
    }
}

pub(super) fn write_hex(bytes: &[u8], out: &mut BytesMut) {
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 0x0f] {
            out.put_u8(HEX.get(usize::from(nibble)).copied().unwrap_or(b'0'));
        }
    }
}

/// The value of a pair of hexadecimal digits.
pub(crate) fn hex_of(pair: &[u8]) -> Option<u8> {
    let [high, low] = pair else { return None };
    let high = char::from(*high).to_digit(16)?;
    let low = char::from(*low).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}
