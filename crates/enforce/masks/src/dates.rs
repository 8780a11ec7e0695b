//! Dates and timestamps cut down to a year or month, or moved by days that only the key knows; all in UTC.

use arrow_array::ArrayRef;
use arrow_array::types::{
    Date32Type, Date64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_schema::{DataType, TimeUnit};
use chrono::{Datelike, NaiveDate, TimeDelta};

use crate::error::{MaskError, not_taken};
use crate::keyed::Keyed;
use crate::number;

const SECONDS_PER_DAY: i64 = 86_400;

/// What is done to a date or timestamp.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Change {
    ToYear,
    ToMonth,
    /// To 1 January of the year zero, which is what Hive's `mask` makes of every date.
    ToYearZero,
    /// By at most so many days either way, and never by none.
    Shift(Keyed, u32),
}

pub(crate) fn is_date(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _))
}

/// A value outside the calendar's range, or moved out of it, becomes NULL.
pub(crate) fn mask(change: &Change, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
    let scaled = |units_per_second: i64| move |value: i64| change.of_instant(value, units_per_second);
    match array.data_type() {
        DataType::Date32 => number::map::<Date32Type>(array, |days| change.of_days(days)),
        DataType::Date64 => number::map::<Date64Type>(array, |millis| {
            let days = i32::try_from(millis.div_euclid(1_000 * SECONDS_PER_DAY)).ok()?;
            Some(i64::from(change.of_days(days)?) * 1_000 * SECONDS_PER_DAY)
        }),
        DataType::Timestamp(TimeUnit::Second, _) => number::map::<TimestampSecondType>(array, scaled(1)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            number::map::<TimestampMillisecondType>(array, scaled(1_000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            number::map::<TimestampMicrosecondType>(array, scaled(1_000_000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            number::map::<TimestampNanosecondType>(array, scaled(1_000_000_000))
        }
        other => Err(not_taken("dates", other)),
    }
}

impl Change {
    fn of_days(&self, days: i32) -> Option<i32> {
        if let Self::Shift(keyed, n_days) = self {
            return days.checked_add(i32::try_from(shift(keyed, days.into(), (*n_days).into())?).ok()?);
        }
        let date = epoch()?.checked_add_signed(TimeDelta::days(days.into()))?;
        i32::try_from(self.first_day(date)?).ok()
    }

    fn of_instant(&self, value: i64, units_per_second: i64) -> Option<i64> {
        if let Self::Shift(keyed, n_days) = self {
            let n_units = i64::from(*n_days).checked_mul(SECONDS_PER_DAY)?.checked_mul(units_per_second)?;
            return value.checked_add(shift(keyed, value, n_units)?);
        }
        let days = value.div_euclid(units_per_second.checked_mul(SECONDS_PER_DAY)?);
        let date = epoch()?.checked_add_signed(TimeDelta::try_days(days)?)?;
        self.first_day(date)?.checked_mul(SECONDS_PER_DAY)?.checked_mul(units_per_second)
    }

    /// Days from 1970-01-01 to the first day of what is left of the date.
    fn first_day(&self, date: NaiveDate) -> Option<i64> {
        let (year, month) = match self {
            Self::ToYear => (date.year(), 1),
            Self::ToMonth => (date.year(), date.month()),
            Self::ToYearZero => (0, 1),
            Self::Shift(..) => return None,
        };
        Some(NaiveDate::from_ymd_opt(year, month, 1)?.signed_duration_since(epoch()?).num_days())
    }
}

fn epoch() -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(1970, 1, 1)
}

/// From `-n_max` to `n_max`, and not 0.
fn shift(keyed: &Keyed, value: i64, n_max: i64) -> Option<i64> {
    let n_values = u128::try_from(n_max).ok()?.checked_mul(2)?;
    let drawn = i64::try_from(keyed.number(&value.to_le_bytes()).checked_rem(n_values)?).ok()?;
    Some(if drawn < n_max { drawn - n_max } else { drawn - n_max + 1 })
}
