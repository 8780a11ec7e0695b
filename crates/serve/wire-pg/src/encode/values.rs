//! Looks into Arrow arrays of every kind and hands out one value at a time in a handful of shapes.

use std::ops::Range;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BinaryViewArray, BooleanArray,
    FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Field,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTime,
    IntervalDayTimeType, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use stdx::ErrorKind;

use crate::answer::Refusal;
use crate::encode::types::is_uuid;

/// One value, in PostgreSQL's units: days and microseconds, both counted from 1970.
pub(crate) enum Scalar<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float4(f32),
    Float8(f64),
    Decimal { digits: i128, scale: i8 },
    WideDecimal { digits: i256, scale: i8 },
    Text(&'v str),
    Bytes(&'v [u8]),
    Uuid(&'v [u8]),
    Date { days: i64 },
    Time { micros: i64 },
    Timestamp { micros: i64 },
    TimestampTz { micros: i64 },
    Interval { months: i32, days: i32, micros: i64 },
    List { items: &'v Values<'v>, range: Range<usize> },
    Struct { fields: &'v [(&'v str, Values<'v>)], row: usize },
    Map { keys: &'v Values<'v>, values: &'v Values<'v>, range: Range<usize> },
}

/// An array whose kind has been found out once, for all of its values.
pub(crate) struct Values<'a> {
    nulls: Option<&'a NullBuffer>,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Float16(&'a [<Float16Type as ArrowPrimitiveType>::Native]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal32(&'a [i32], i8),
    Decimal64(&'a [i64], i8),
    Decimal128(&'a [i128], i8),
    Decimal256(&'a [i256], i8),
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    FixedBinary(&'a FixedSizeBinaryArray),
    Uuid(&'a FixedSizeBinaryArray),
    Date32(&'a [i32]),
    Date64(&'a [i64]),
    Time32(&'a [i32], TimeUnit),
    Time64(&'a [i64], TimeUnit),
    Timestamp(&'a [i64], TimeUnit),
    TimestampTz(&'a [i64], TimeUnit),
    Months(&'a [i32]),
    DayTime(&'a [IntervalDayTime]),
    MonthDayNano(&'a [IntervalMonthDayNano]),
    Duration(&'a [i64], TimeUnit),
    List(Box<Values<'a>>, &'a [i32]),
    LargeList(Box<Values<'a>>, &'a [i64]),
    FixedList(Box<Values<'a>>, usize),
    Struct(Vec<(&'a str, Values<'a>)>),
    Map(Box<Values<'a>>, Box<Values<'a>>, &'a [i32]),
    Dictionary(Vec<usize>, Box<Values<'a>>),
}

impl<'a> Values<'a> {
    /// Opens an array; `field` says what its type alone does not (a UUID is 16 bytes with a mark).
    pub(crate) fn new(array: &'a ArrayRef, field: &'a Field) -> Result<Self, Refusal> {
        let kind = match scalar_kind(array, field)? {
            Some(kind) => kind,
            None => nested_kind(array, field)?,
        };
        Ok(Self { nulls: array.nulls(), kind })
    }

    pub(crate) fn scalar(&self, row: usize) -> Result<Scalar<'_>, Refusal> {
        if self.nulls.is_some_and(|nulls| row < nulls.len() && nulls.is_null(row)) {
            return Ok(Scalar::Null);
        }
        self.kind.scalar(row)
    }
}

/// The native values of an array of a primitive type.
fn natives<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&[T::Native], Refusal> {
    let typed: &PrimitiveArray<T> = array.as_primitive_opt().ok_or_else(Refusal::internal)?;
    Ok(typed.values())
}

fn of<T>(found: Option<&T>) -> Result<&T, Refusal> {
    found.ok_or_else(Refusal::internal)
}

fn scalar_kind<'a>(array: &'a ArrayRef, field: &Field) -> Result<Option<Kind<'a>>, Refusal> {
    Ok(Some(match array.data_type() {
        DataType::Null => Kind::Null,
        DataType::Boolean => Kind::Bool(of(array.as_boolean_opt())?),
        DataType::Int8 => Kind::Int8(natives::<Int8Type>(array)?),
        DataType::Int16 => Kind::Int16(natives::<Int16Type>(array)?),
        DataType::Int32 => Kind::Int32(natives::<Int32Type>(array)?),
        DataType::Int64 => Kind::Int64(natives::<Int64Type>(array)?),
        DataType::UInt8 => Kind::UInt8(natives::<UInt8Type>(array)?),
        DataType::UInt16 => Kind::UInt16(natives::<UInt16Type>(array)?),
        DataType::UInt32 => Kind::UInt32(natives::<UInt32Type>(array)?),
        DataType::UInt64 => Kind::UInt64(natives::<UInt64Type>(array)?),
        DataType::Float16 => Kind::Float16(natives::<Float16Type>(array)?),
        DataType::Float32 => Kind::Float32(natives::<Float32Type>(array)?),
        DataType::Float64 => Kind::Float64(natives::<Float64Type>(array)?),
        DataType::Decimal32(_, scale) => Kind::Decimal32(natives::<Decimal32Type>(array)?, *scale),
        DataType::Decimal64(_, scale) => Kind::Decimal64(natives::<Decimal64Type>(array)?, *scale),
        DataType::Decimal128(_, scale) => Kind::Decimal128(natives::<Decimal128Type>(array)?, *scale),
        DataType::Decimal256(_, scale) => Kind::Decimal256(natives::<Decimal256Type>(array)?, *scale),
        DataType::Utf8 => Kind::Utf8(of(array.as_string_opt())?),
        DataType::LargeUtf8 => Kind::LargeUtf8(of(array.as_string_opt())?),
        DataType::Utf8View => Kind::Utf8View(of(array.as_string_view_opt())?),
        DataType::Binary => Kind::Binary(of(array.as_binary_opt())?),
        DataType::LargeBinary => Kind::LargeBinary(of(array.as_binary_opt())?),
        DataType::BinaryView => Kind::BinaryView(of(array.as_binary_view_opt())?),
        DataType::FixedSizeBinary(_) if is_uuid(field) => Kind::Uuid(of(array.as_fixed_size_binary_opt())?),
        DataType::FixedSizeBinary(_) => Kind::FixedBinary(of(array.as_fixed_size_binary_opt())?),
        _ => return temporal_kind(array),
    }))
}

fn temporal_kind(array: &ArrayRef) -> Result<Option<Kind<'_>>, Refusal> {
    Ok(Some(match array.data_type() {
        DataType::Date32 => Kind::Date32(natives::<Date32Type>(array)?),
        DataType::Date64 => Kind::Date64(natives::<Date64Type>(array)?),
        DataType::Time32(unit) => Kind::Time32(
            match unit {
                TimeUnit::Second => natives::<Time32SecondType>(array)?,
                _ => natives::<Time32MillisecondType>(array)?,
            },
            *unit,
        ),
        DataType::Time64(unit) => Kind::Time64(
            match unit {
                TimeUnit::Microsecond => natives::<Time64MicrosecondType>(array)?,
                _ => natives::<Time64NanosecondType>(array)?,
            },
            *unit,
        ),
        DataType::Timestamp(unit, zone) => {
            let ticks = match unit {
                TimeUnit::Second => natives::<TimestampSecondType>(array)?,
                TimeUnit::Millisecond => natives::<TimestampMillisecondType>(array)?,
                TimeUnit::Microsecond => natives::<TimestampMicrosecondType>(array)?,
                TimeUnit::Nanosecond => natives::<TimestampNanosecondType>(array)?,
            };
            match zone {
                Some(_) => Kind::TimestampTz(ticks, *unit),
                None => Kind::Timestamp(ticks, *unit),
            }
        }
        DataType::Duration(unit) => Kind::Duration(
            match unit {
                TimeUnit::Second => natives::<DurationSecondType>(array)?,
                TimeUnit::Millisecond => natives::<DurationMillisecondType>(array)?,
                TimeUnit::Microsecond => natives::<DurationMicrosecondType>(array)?,
                TimeUnit::Nanosecond => natives::<DurationNanosecondType>(array)?,
            },
            *unit,
        ),
        DataType::Interval(IntervalUnit::YearMonth) => Kind::Months(natives::<IntervalYearMonthType>(array)?),
        DataType::Interval(IntervalUnit::DayTime) => Kind::DayTime(natives::<IntervalDayTimeType>(array)?),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            Kind::MonthDayNano(natives::<IntervalMonthDayNanoType>(array)?)
        }
        _ => return Ok(None),
    }))
}

fn nested_kind<'a>(array: &'a ArrayRef, field: &'a Field) -> Result<Kind<'a>, Refusal> {
    Ok(match (array.data_type(), field.data_type()) {
        (DataType::List(_), DataType::List(item)) => {
            let list = of(array.as_list_opt::<i32>())?;
            Kind::List(Box::new(Values::new(list.values(), item)?), list.value_offsets())
        }
        (DataType::LargeList(_), DataType::LargeList(item)) => {
            let list = of(array.as_list_opt::<i64>())?;
            Kind::LargeList(Box::new(Values::new(list.values(), item)?), list.value_offsets())
        }
        (DataType::FixedSizeList(_, _), DataType::FixedSizeList(item, length)) => {
            let list = of(array.as_fixed_size_list_opt())?;
            let length = usize::try_from(*length).map_err(|_| Refusal::internal())?;
            Kind::FixedList(Box::new(Values::new(list.values(), item)?), length)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let parts = of(array.as_struct_opt())?.columns().iter().zip(fields);
            Kind::Struct(
                parts
                    .map(|(part, f)| Ok((f.name().as_str(), Values::new(part, f)?)))
                    .collect::<Result<_, Refusal>>()?,
            )
        }
        (DataType::Map(_, _), DataType::Map(entries, _)) => {
            let map = of(array.as_map_opt())?;
            let DataType::Struct(fields) = entries.data_type() else { return Err(Refusal::internal()) };
            let [key, value] = fields.as_ref() else { return Err(Refusal::internal()) };
            Kind::Map(
                Box::new(Values::new(map.keys(), key)?),
                Box::new(Values::new(map.values(), value)?),
                map.value_offsets(),
            )
        }
        (DataType::Dictionary(_, _), _) => {
            let dictionary = array.as_any_dictionary_opt().ok_or_else(Refusal::internal)?;
            // With no values every key is null, and `normalized_keys` has nothing to point at.
            if dictionary.values().is_empty() {
                Kind::Null
            } else {
                let values = dictionary.values();
                let opened = match scalar_kind(values, field)? {
                    Some(kind) => Values { nulls: values.nulls(), kind },
                    None => return Err(unsupported(array.data_type())),
                };
                Kind::Dictionary(dictionary.normalized_keys(), Box::new(opened))
            }
        }
        (other, _) => return Err(unsupported(other)),
    })
}

fn unsupported(data_type: &DataType) -> Refusal {
    Refusal::of(
        ErrorKind::Unsupported,
        format!("values of type `{data_type}` cannot be sent by this protocol"),
    )
}

fn at<T: Copy>(values: &[T], row: usize) -> Result<T, Refusal> {
    values.get(row).copied().ok_or_else(Refusal::internal)
}

fn micros_of(ticks: i64, unit: TimeUnit) -> Result<i64, Refusal> {
    let micros = match unit {
        TimeUnit::Second => ticks.checked_mul(1_000_000),
        TimeUnit::Millisecond => ticks.checked_mul(1_000),
        TimeUnit::Microsecond => Some(ticks),
        // PostgreSQL has no nanoseconds; both forms leave them off alike, so that every client sees the same value.
        TimeUnit::Nanosecond => Some(ticks.div_euclid(1_000)),
    };
    micros.ok_or_else(|| Refusal::of(ErrorKind::OutOfRange, "a time is out of PostgreSQL's range"))
}

fn range_of<T: Copy + TryInto<usize>>(offsets: &[T], row: usize) -> Result<Range<usize>, Refusal> {
    let start = at(offsets, row)?.try_into().map_err(|_| Refusal::internal())?;
    let end = at(offsets, row + 1)?.try_into().map_err(|_| Refusal::internal())?;
    Ok(start..end)
}

impl Kind<'_> {
    fn scalar(&self, row: usize) -> Result<Scalar<'_>, Refusal> {
        Ok(match self {
            Self::Null => Scalar::Null,
            Self::Bool(values) => Scalar::Bool(values.value(row)),
            Self::Int8(values) => Scalar::Int(at(values, row)?.into()),
            Self::Int16(values) => Scalar::Int(at(values, row)?.into()),
            Self::Int32(values) => Scalar::Int(at(values, row)?.into()),
            Self::Int64(values) => Scalar::Int(at(values, row)?),
            Self::UInt8(values) => Scalar::Int(at(values, row)?.into()),
            Self::UInt16(values) => Scalar::Int(at(values, row)?.into()),
            Self::UInt32(values) => Scalar::Int(at(values, row)?.into()),
            Self::UInt64(values) => Scalar::Unsigned(at(values, row)?),
            Self::Float16(values) => Scalar::Float4(at(values, row)?.to_f32()),
            Self::Float32(values) => Scalar::Float4(at(values, row)?),
            Self::Float64(values) => Scalar::Float8(at(values, row)?),
            Self::Decimal32(values, scale) => {
                Scalar::Decimal { digits: at(values, row)?.into(), scale: *scale }
            }
            Self::Decimal64(values, scale) => {
                Scalar::Decimal { digits: at(values, row)?.into(), scale: *scale }
            }
            Self::Decimal128(values, scale) => Scalar::Decimal { digits: at(values, row)?, scale: *scale },
            Self::Decimal256(values, scale) => {
                Scalar::WideDecimal { digits: at(values, row)?, scale: *scale }
            }
            Self::Utf8(values) => Scalar::Text(values.value(row)),
            Self::LargeUtf8(values) => Scalar::Text(values.value(row)),
            Self::Utf8View(values) => Scalar::Text(values.value(row)),
            Self::Binary(values) => Scalar::Bytes(values.value(row)),
            Self::LargeBinary(values) => Scalar::Bytes(values.value(row)),
            Self::BinaryView(values) => Scalar::Bytes(values.value(row)),
            Self::FixedBinary(values) => Scalar::Bytes(values.value(row)),
            Self::Uuid(values) => Scalar::Uuid(values.value(row)),
            _ => return self.temporal_or_nested(row),
        })
    }

    fn temporal_or_nested(&self, row: usize) -> Result<Scalar<'_>, Refusal> {
        Ok(match self {
            Self::Date32(values) => Scalar::Date { days: at(values, row)?.into() },
            Self::Date64(values) => Scalar::Date { days: at(values, row)?.div_euclid(86_400_000) },
            Self::Time32(values, unit) => Scalar::Time { micros: micros_of(at(values, row)?.into(), *unit)? },
            Self::Time64(values, unit) => Scalar::Time { micros: micros_of(at(values, row)?, *unit)? },
            Self::Timestamp(values, unit) => {
                Scalar::Timestamp { micros: micros_of(at(values, row)?, *unit)? }
            }
            Self::TimestampTz(values, unit) => {
                Scalar::TimestampTz { micros: micros_of(at(values, row)?, *unit)? }
            }
            Self::Months(values) => Scalar::Interval { months: at(values, row)?, days: 0, micros: 0 },
            Self::DayTime(values) => {
                let IntervalDayTime { days, milliseconds } = at(values, row)?;
                Scalar::Interval { months: 0, days, micros: i64::from(milliseconds) * 1_000 }
            }
            Self::MonthDayNano(values) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = at(values, row)?;
                Scalar::Interval { months, days, micros: nanoseconds / 1_000 }
            }
            Self::Duration(values, unit) => {
                Scalar::Interval { months: 0, days: 0, micros: micros_of(at(values, row)?, *unit)? }
            }
            Self::List(items, offsets) => Scalar::List { items, range: range_of(offsets, row)? },
            Self::LargeList(items, offsets) => Scalar::List { items, range: range_of(offsets, row)? },
            Self::FixedList(items, length) => Scalar::List { items, range: row * length..(row + 1) * length },
            Self::Struct(fields) => Scalar::Struct { fields, row },
            Self::Map(keys, values, offsets) => Scalar::Map { keys, values, range: range_of(offsets, row)? },
            Self::Dictionary(keys, values) => values.scalar(at(keys, row)?)?,
            _ => return Err(Refusal::internal()),
        })
    }
}
