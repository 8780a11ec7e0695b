//! Dates and timestamps cut down to the first instant of their year, in UTC.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use chrono::{DateTime, Datelike, Days, NaiveDate};
use datafusion_common::{Result, exec_err};

pub(crate) fn is_date(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _))
}

/// 1 January of each value's year; a value outside the calendar's range becomes NULL.
pub(crate) fn year_starts(array: &dyn Array) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Date32 => map::<Date32Type>(array, |days| {
            let date = NaiveDate::from_ymd_opt(1970, 1, 1)?;
            let shift = Days::new(u64::from(days.unsigned_abs()));
            let date = if days < 0 { date.checked_sub_days(shift) } else { date.checked_add_days(shift) }?;
            i32::try_from(first_day(date.year())?).ok()
        }),
        DataType::Date64 => map::<Date64Type>(array, |millis| scaled(millis, 1_000)),
        DataType::Timestamp(TimeUnit::Second, _) => map::<TimestampSecondType>(array, |at| scaled(at, 1)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            map::<TimestampMillisecondType>(array, |at| scaled(at, 1_000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            map::<TimestampMicrosecondType>(array, |at| scaled(at, 1_000_000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            map::<TimestampNanosecondType>(array, |at| scaled(at, 1_000_000_000))
        }
        other => exec_err!("the year mask does not take {other}"),
    }
}

fn map<T: ArrowPrimitiveType>(
    array: &dyn Array,
    f: impl Fn(T::Native) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let Some(array) = array.as_any().downcast_ref::<PrimitiveArray<T>>() else {
        return exec_err!("the year mask met an array of another type");
    };
    let years: PrimitiveArray<T> = array.iter().map(|value| value.and_then(&f)).collect();
    // Keeps the time zone of the column.
    Ok(Arc::new(years.with_data_type(array.data_type().clone())))
}

fn scaled(value: i64, units_per_second: i64) -> Option<i64> {
    let at = DateTime::from_timestamp(value.div_euclid(units_per_second), 0)?;
    first_day(at.year())?.checked_mul(86_400)?.checked_mul(units_per_second)
}

/// Days from 1970-01-01 to 1 January of `year`.
fn first_day(year: i32) -> Option<i64> {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
    Some(NaiveDate::from_ymd_opt(year, 1, 1)?.signed_duration_since(epoch).num_days())
}
