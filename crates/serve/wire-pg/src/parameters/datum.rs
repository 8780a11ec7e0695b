//! Reads PostgreSQL's text and binary input forms.

use bytes::Bytes;
use postgres_types::{Kind, Type};
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::encode::{
    EPOCH_DAYS, EPOCH_MICROS, Numeric, hex_of, parse_date, parse_numeric, parse_time, parse_timestamp,
    read_numeric,
};
use crate::limits::{ARRAY_DIMENSIONS_MAX, ARRAY_ELEMENTS_MAX};

/// A value as the client gave it, in Arrow's units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    Bool(bool),
    Int(i64),
    Float4(f32),
    Float8(f64),
    Numeric(Numeric),
    Text(String),
    Bytes(Vec<u8>),
    Uuid([u8; 16]),
    Date {
        days: i64,
    },
    Time {
        micros: i64,
    },
    /// What a clock shows, somewhere.
    Timestamp {
        micros: i64,
    },
    TimestampTz {
        micros: i64,
    },
    /// What a clock shows in the session's zone.
    ZonedLocal {
        micros: i64,
    },
    List(Vec<Option<Datum>>),
}

/// Which of PostgreSQL's types a parameter was declared to have; 0 and `unknown` leave it open.
pub(super) fn declared_type(oid: u32) -> Result<Option<Type>, Refusal> {
    if oid == 0 || oid == Type::UNKNOWN.oid() {
        return Ok(None);
    }
    let found = Type::from_oid(oid).filter(|pg_type| match pg_type.kind() {
        Kind::Array(item) => is_known(item),
        _ => is_known(pg_type),
    });
    match found {
        Some(pg_type) => Ok(Some(pg_type)),
        None => Err(Refusal::of(
            ErrorKind::Unsupported,
            format!("parameters of the type with oid {oid} are not supported"),
        )),
    }
}

fn is_known(pg_type: &Type) -> bool {
    is_text(pg_type)
        || matches!(
            *pg_type,
            Type::BOOL
                | Type::INT2
                | Type::INT4
                | Type::INT8
                | Type::OID
                | Type::FLOAT4
                | Type::FLOAT8
                | Type::NUMERIC
                | Type::BYTEA
                | Type::DATE
                | Type::TIME
                | Type::TIMESTAMP
                | Type::TIMESTAMPTZ
                | Type::UUID
                | Type::JSON
                | Type::JSONB
        )
}

fn is_text(pg_type: &Type) -> bool {
    matches!(*pg_type, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::CHAR | Type::UNKNOWN)
}

pub(super) fn of_text(text: &str, pg_type: &Type) -> Result<Datum, Refusal> {
    if let Kind::Array(item) = pg_type.kind() {
        return of_array_text(text, item);
    }
    let bad = || bad_text(text, pg_type);
    Ok(match *pg_type {
        Type::BOOL => Datum::Bool(bool_of(text.trim()).ok_or_else(bad)?),
        Type::INT2 => Datum::Int(integer_of::<i16>(text, pg_type)?),
        Type::INT4 => Datum::Int(integer_of::<i32>(text, pg_type)?),
        Type::INT8 => Datum::Int(integer_of::<i64>(text, pg_type)?),
        Type::OID => Datum::Int(integer_of::<u32>(text, pg_type)?),
        Type::FLOAT4 => Datum::Float4(text.trim().parse().map_err(|_| bad())?),
        Type::FLOAT8 => Datum::Float8(text.trim().parse().map_err(|_| bad())?),
        Type::NUMERIC => Datum::Numeric(parse_numeric(text)?),
        Type::BYTEA => Datum::Bytes(bytea_of(text).ok_or_else(bad)?),
        Type::DATE => match parse_timestamp(text) {
            // A time after a date is cut off, as PostgreSQL's date input does.
            Some((micros, _)) => Datum::Date { days: micros.div_euclid(86_400_000_000) },
            None => Datum::Date { days: parse_date(text).ok_or_else(bad)? },
        },
        Type::TIME => Datum::Time { micros: parse_time(text).ok_or_else(bad)? },
        // The offset is let go here, as PostgreSQL's `timestamp` input does: drivers rely on it.
        Type::TIMESTAMP => Datum::Timestamp { micros: parse_timestamp(text).ok_or_else(bad)?.0 },
        Type::TIMESTAMPTZ => match parse_timestamp(text).ok_or_else(bad)? {
            (micros, Some(seconds_east)) => Datum::TimestampTz {
                micros: micros.checked_sub(i64::from(seconds_east) * 1_000_000).ok_or_else(bad)?,
            },
            (micros, None) => Datum::ZonedLocal { micros },
        },
        Type::UUID => Datum::Uuid(uuid_of(text).ok_or_else(bad)?),
        _ => Datum::Text(text.to_owned()),
    })
}

pub(super) fn of_binary(bytes: &Bytes, pg_type: &Type) -> Result<Datum, Refusal> {
    if let Kind::Array(item) = pg_type.kind() {
        return of_array_binary(bytes, item);
    }
    Ok(match *pg_type {
        Type::BOOL => Datum::Bool(u8::from_be_bytes(fixed(bytes)?) != 0),
        Type::INT2 => Datum::Int(i16::from_be_bytes(fixed(bytes)?).into()),
        Type::INT4 => Datum::Int(i32::from_be_bytes(fixed(bytes)?).into()),
        Type::INT8 => Datum::Int(i64::from_be_bytes(fixed(bytes)?)),
        Type::OID => Datum::Int(u32::from_be_bytes(fixed(bytes)?).into()),
        Type::FLOAT4 => Datum::Float4(f32::from_be_bytes(fixed(bytes)?)),
        Type::FLOAT8 => Datum::Float8(f64::from_be_bytes(fixed(bytes)?)),
        Type::NUMERIC => Datum::Numeric(read_numeric(bytes)?),
        Type::BYTEA => Datum::Bytes(bytes.to_vec()),
        Type::DATE => {
            let days = i64::from(finite(i32::from_be_bytes(fixed(bytes)?), i32::MIN, i32::MAX)?);
            Datum::Date { days: days + EPOCH_DAYS }
        }
        Type::TIME => Datum::Time { micros: i64::from_be_bytes(fixed(bytes)?) },
        Type::TIMESTAMP => Datum::Timestamp { micros: micros_of(bytes)? },
        Type::TIMESTAMPTZ => Datum::TimestampTz { micros: micros_of(bytes)? },
        Type::UUID => Datum::Uuid(fixed(bytes)?),
        Type::JSONB => match bytes.split_first() {
            // The first byte is the version of the format.
            Some((1, json)) => Datum::Text(utf8(json)?),
            _ => return Err(bad_binary()),
        },
        _ => Datum::Text(utf8(bytes)?),
    })
}

fn utf8(bytes: &[u8]) -> Result<String, Refusal> {
    String::from_utf8(bytes.to_vec())
        .map_err(|_| Refusal::new("22021", "invalid byte sequence for encoding \"UTF8\""))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Refusal> {
    bytes.try_into().map_err(|_| bad_binary())
}

fn micros_of(bytes: &[u8]) -> Result<i64, Refusal> {
    finite(i64::from_be_bytes(fixed(bytes)?), i64::MIN, i64::MAX)?
        .checked_add(EPOCH_MICROS)
        .ok_or_else(infinite)
}

/// The ends of the range stand for PostgreSQL's infinities, which Iceberg's dates and timestamps do not have.
fn finite<T: PartialEq>(value: T, minus: T, plus: T) -> Result<T, Refusal> {
    if value == minus || value == plus { Err(infinite()) } else { Ok(value) }
}

fn infinite() -> Refusal {
    Refusal::of(ErrorKind::OutOfRange, "dates and timestamps have no infinity here")
}

fn bad_binary() -> Refusal {
    Refusal::new("22P03", "incorrect binary data format in a parameter")
}

fn bad_text(text: &str, pg_type: &Type) -> Refusal {
    Refusal::of(ErrorKind::BadText, format!("`{text}` is no value of type {}", pg_type.name()))
}

fn bool_of(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str, n_min: usize| text.len() >= n_min && word.starts_with(&text);
    if begins("true", 1) || begins("yes", 1) || begins("on", 2) || text == "1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0" {
        Some(false)
    } else {
        None
    }
}

fn integer_of<T: TryFrom<i64>>(text: &str, pg_type: &Type) -> Result<i64, Refusal> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let out_of_range = || {
        Refusal::of(ErrorKind::OutOfRange, format!("`{text}` is out of range for type {}", pg_type.name()))
    };
    let value: i64 = text.trim().parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        PosOverflow | NegOverflow => out_of_range(),
        _ => bad_text(text, pg_type),
    })?;
    T::try_from(value).map_err(|_| out_of_range())?;
    Ok(value)
}

/// Hexadecimal after `\x`, else PostgreSQL's older form with octal escapes.
pub(super) fn bytea_of(text: &str) -> Option<Vec<u8>> {
    if let Some(hex) = text.strip_prefix("\\x") {
        return hex.as_bytes().chunks(2).map(hex_of).collect();
    }
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'\\' => bytes.push(b'\\'),
            high @ b'0'..=b'3' => {
                let mut value = u32::from(high - b'0');
                for _ in 0..2 {
                    value = value * 8 + char::from(rest.next()?).to_digit(8)?;
                }
                bytes.push(u8::try_from(value).ok()?);
            }
            _ => return None,
        }
    }
    Some(bytes)
}

pub(super) fn uuid_of(text: &str) -> Option<[u8; 16]> {
    let text = text.trim();
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    let hex: Vec<u8> = inner.bytes().filter(|byte| *byte != b'-').collect();
    let bytes: Vec<u8> = hex.chunks(2).map(hex_of).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

/// One dimension of a binary array; more are nested lists.
fn of_array_binary(bytes: &Bytes, item_type: &Type) -> Result<Datum, Refusal> {
    let mut rest: &[u8] = bytes;
    let n_dimensions = usize::try_from(word(&mut rest)?).map_err(|_| bad_binary())?;
    word(&mut rest)?;
    let oid = word(&mut rest)?;
    if u32::from_be_bytes(oid.to_be_bytes()) != item_type.oid() {
        return Err(bad_binary());
    }
    if n_dimensions > ARRAY_DIMENSIONS_MAX {
        return Err(bad_binary());
    }
    let mut lengths = Vec::new();
    for _ in 0..n_dimensions {
        lengths.push(usize::try_from(word(&mut rest)?).map_err(|_| bad_binary())?);
        word(&mut rest)?;
    }
    let n_items = lengths.iter().try_fold(1usize, |n, length| n.checked_mul(*length));
    if n_items.is_none_or(|n| n > ARRAY_ELEMENTS_MAX) {
        return Err(too_many_elements());
    }
    let list =
        if lengths.is_empty() { Datum::List(Vec::new()) } else { list_of(&mut rest, &lengths, item_type)? };
    if rest.is_empty() { Ok(list) } else { Err(bad_binary()) }
}

fn list_of(rest: &mut &[u8], lengths: &[usize], item_type: &Type) -> Result<Datum, Refusal> {
    let Some((length, inner)) = lengths.split_first() else { return Err(bad_binary()) };
    let mut items = Vec::new();
    for _ in 0..*length {
        items.push(if inner.is_empty() {
            match usize::try_from(word(rest)?) {
                Ok(n_bytes) => {
                    let (item, after) = rest.split_at_checked(n_bytes).ok_or_else(bad_binary)?;
                    *rest = after;
                    Some(of_binary(&Bytes::copy_from_slice(item), item_type)?)
                }
                Err(_) => None,
            }
        } else {
            Some(list_of(rest, inner, item_type)?)
        });
    }
    Ok(Datum::List(items))
}

fn word(rest: &mut &[u8]) -> Result<i32, Refusal> {
    let (word, after) = rest.split_first_chunk::<4>().ok_or_else(bad_binary)?;
    *rest = after;
    Ok(i32::from_be_bytes(*word))
}

fn too_many_elements() -> Refusal {
    Refusal::of(ErrorKind::Limit, format!("an array parameter has more than {ARRAY_ELEMENTS_MAX} elements"))
}

/// Reads `{1,NULL,"a b"}`.
fn of_array_text(text: &str, item_type: &Type) -> Result<Datum, Refusal> {
    let bad = || Refusal::of(ErrorKind::BadText, format!("`{text}` is no array"));
    let mut reader = ArrayText { rest: text.trim(), item_type, n_items: 0 };
    let list = reader.list(1)?.ok_or_else(bad)?;
    if reader.rest.is_empty() { Ok(list) } else { Err(bad()) }
}

struct ArrayText<'t> {
    rest: &'t str,
    item_type: &'t Type,
    n_items: usize,
}

impl ArrayText<'_> {
    /// `None` where the text is no array.
    fn list(&mut self, depth: usize) -> Result<Option<Datum>, Refusal> {
        if depth > ARRAY_DIMENSIONS_MAX || !self.eat('{') {
            return Ok(None);
        }
        let mut items = Vec::new();
        if self.eat('}') {
            return Ok(Some(Datum::List(items)));
        }
        loop {
            self.n_items += 1;
            if self.n_items > ARRAY_ELEMENTS_MAX {
                return Err(too_many_elements());
            }
            if self.rest.trim_start().starts_with('{') {
                let Some(list) = self.list(depth + 1)? else { return Ok(None) };
                items.push(Some(list));
            } else {
                let Some(item) = self.item() else { return Ok(None) };
                items.push(item.map(|text| of_text(&text, self.item_type)).transpose()?);
            }
            if self.eat('}') {
                return Ok(Some(Datum::List(items)));
            }
            if !self.eat(',') {
                return Ok(None);
            }
        }
    }

    fn eat(&mut self, expected: char) -> bool {
        match self.rest.trim_start().strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// An element's text, or the inner `None` for a bare NULL.
    fn item(&mut self) -> Option<Option<String>> {
        self.rest = self.rest.trim_start();
        let is_quoted = self.eat('"');
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        let end = loop {
            let (at, c) = chars.next()?;
            match c {
                '\\' => text.push(chars.next()?.1),
                '"' if is_quoted => break at + 1,
                ',' | '}' if !is_quoted => break at,
                '"' | '{' if !is_quoted => return None,
                c => text.push(c),
            }
        };
        self.rest = self.rest.get(end..)?;
        if is_quoted {
            return Some(Some(text));
        }
        let text = text.trim_end();
        if text.is_empty() {
            None
        } else if text.eq_ignore_ascii_case("null") {
            Some(None)
        } else {
            Some(Some(text.to_owned()))
        }
    }
}
