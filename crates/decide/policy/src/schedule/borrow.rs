//! Recurrences as Ranger computes them: field by field backwards from the time of access, with a borrow.

use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};
use stdx::Timestamp;

use super::zone::Zone;
use crate::date_format::carried;
use crate::model::Recurrence;

/// Months that are looked at for a day of the month, before none is taken to have it.
const MONTHS_BACK_MAX: usize = 48;

/// One recurrence.
#[derive(Clone, Debug)]
pub(crate) struct BorrowRecurrence {
    /// `None`: no interval, so that it always holds.
    fields: Option<Fields>,
    days: i64,
    rest: TimeDelta,
}

#[derive(Clone, Debug)]
struct Fields {
    minute: Field,
    hour: Field,
    day_of_month: Option<Field>,
    day_of_week: Option<Field>,
    /// Counted from 0.
    month: Field,
    year: Field,
}

/// The numbers that a field may have. An empty list takes every number, without a borrow.
#[derive(Clone, Debug)]
struct Field {
    min: i64,
    max: i64,
    numbers: Numbers,
}

#[derive(Clone, Debug)]
enum Numbers {
    Unset,
    All,
    Ranges(Vec<(i64, i64)>),
}

/// The number found, and whether it lies in the unit before.
#[derive(Clone, Copy, Debug)]
struct Found {
    value: i64,
    is_before: bool,
}

impl BorrowRecurrence {
    pub(crate) fn new(recurrence: &Recurrence) -> Result<Self, String> {
        let interval = recurrence.interval;
        let rest = TimeDelta::try_hours(interval.hours)
            .zip(TimeDelta::try_minutes(interval.minutes))
            .and_then(|(hours, minutes)| hours.checked_add(&minutes))
            .ok_or("the interval of a recurrence is out of range")?;
        let has_interval = TimeDelta::try_days(interval.days)
            .and_then(|days| days.checked_add(&rest))
            .is_some_and(|whole| whole > TimeDelta::zero());
        if !has_interval {
            return Ok(Self { fields: None, days: interval.days, rest });
        }
        let schedule = &recurrence.schedule;
        let field = |text: &Option<String>, min, max, offset| Field::new(text.as_deref(), min, max, offset);
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        let day_field = |text: &Option<String>, max| match given(text) {
            true => field(text, 1, max, 0).map(Some),
            false => Ok(None),
        };
        let fields = Fields {
            minute: field(&schedule.minute, 0, 59, 0)?,
            hour: field(&schedule.hour, 0, 23, 0)?,
            day_of_month: day_field(&schedule.day_of_month, 31)?,
            day_of_week: day_field(&schedule.day_of_week, 7)?,
            month: field(&schedule.month, 0, 11, 1)?,
            year: field(&schedule.year, 2017, 2100, 0)?,
        };
        Ok(Self { fields: Some(fields), days: interval.days, rest })
    }

    pub(crate) fn holds(&self, zone: Zone, now: Timestamp) -> bool {
        let Some(fields) = &self.fields else { return true };
        let Some(start) = fields.began(zone, now) else { return false };
        let end = zone
            .wall_clock(Timestamp::from_millis(
                zone.instant(start).millis().saturating_add(self.rest.num_milliseconds()),
            ))
            .zip(TimeDelta::try_days(self.days))
            .and_then(|(end, days)| end.checked_add_signed(days));
        zone.instant(start) <= now && end.is_none_or(|end| now <= zone.instant(end))
    }
}

impl Fields {
    /// The latest scheduled minute before `now`. It may lie after it, and then nothing is scheduled now.
    fn began(&self, zone: Zone, now: Timestamp) -> Option<NaiveDateTime> {
        let local = zone.wall_clock(now)?;
        let minute = self.minute.latest(i64::from(local.minute()), self.minute.max)?;
        let hour = self.hour.latest(i64::from(local.hour()) - i64::from(minute.is_before), self.hour.max)?;
        let by_month = match &self.day_of_month {
            Some(days) => Some(self.in_month_and_year(by_day_of_month(days, local, hour, minute)?)?),
            None => None,
        };
        let by_week = match &self.day_of_week {
            Some(days) => Some(self.in_month_and_year(by_day_of_week(days, local, hour, minute)?)?),
            None => None,
        };
        by_month.max(by_week)
    }

    /// The same day of the latest scheduled month and year; a day that the month lacks is carried into the next.
    fn in_month_and_year(&self, local: NaiveDateTime) -> Option<NaiveDateTime> {
        let month = self.month.latest(i64::from(local.month0()), self.month.max)?;
        let year = self.year.latest(i64::from(local.year()) - i64::from(month.is_before), self.year.max)?;
        carried(
            year.value,
            month.value,
            i64::from(local.day()),
            i64::from(local.hour()),
            i64::from(local.minute()),
        )
    }
}

fn by_day_of_month(days: &Field, now: NaiveDateTime, hour: Found, minute: Found) -> Option<NaiveDateTime> {
    let mut at = now;
    // If the hour lies on the day before, that day is begun with only if it is in another month.
    if hour.is_before {
        let day_before = now.checked_sub_signed(TimeDelta::try_days(1)?)?;
        if day_before.month() != now.month() {
            at = day_before;
        }
    }
    for _ in 0..MONTHS_BACK_MAX {
        let month_before = at.checked_sub_months(chrono::Months::new(1))?;
        if let Some(day) = days.latest(i64::from(at.day()), days_in_month(month_before)?) {
            let month = i64::from(at.month0()) - i64::from(day.is_before);
            return carried(i64::from(at.year()), month, day.value, hour.value, minute.value);
        }
        at = month_before;
    }
    None
}

fn by_day_of_week(days: &Field, now: NaiveDateTime, hour: Found, minute: Found) -> Option<NaiveDateTime> {
    let today = i64::from(now.weekday().number_from_sunday());
    let found = days.latest(today - i64::from(hour.is_before), days.max)?;
    let mut days_back = i64::from(hour.is_before);
    if !found.is_before {
        days_back = today - found.value;
    } else if today - found.value != days_back {
        days_back = 7 + today - found.value;
    }
    carried(
        i64::from(now.year()),
        i64::from(now.month0()),
        i64::from(now.day()) - days_back,
        hour.value,
        minute.value,
    )
}

fn days_in_month(at: NaiveDateTime) -> Option<i64> {
    let first = at.date().with_day(1)?;
    Some(first.checked_add_months(chrono::Months::new(1))?.signed_duration_since(first).num_days())
}

impl Field {
    fn new(text: Option<&str>, min: i64, max: i64, offset: i64) -> Result<Self, String> {
        let text = text.unwrap_or_default();
        let mut ranges = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let mut ends = part.split('-').map(str::trim);
            let from = ends.next().unwrap_or_default();
            let to = ends.next().unwrap_or(from);
            if from == "*" || to == "*" {
                return Ok(Self { min, max, numbers: Numbers::All });
            }
            let number = |text: &str| text.parse::<i64>().map(|n| n - offset);
            match number(from).and_then(|from| Ok((from, number(to)?))) {
                Ok(range) => ranges.push(range),
                Err(_) => return Err(format!("`{text}` is not a field of a recurrence")),
            }
        }
        let numbers = if ranges.is_empty() { Numbers::Unset } else { Numbers::Ranges(ranges) };
        Ok(Self { min, max, numbers })
    }

    /// The largest number up to `value`, or else the largest up to `wrapped` of the unit before.
    fn latest(&self, mut value: i64, wrapped: i64) -> Option<Found> {
        if let Numbers::Unset = self.numbers {
            let value = if value < self.min { wrapped } else { value };
            return Some(Found { value, is_before: false });
        }
        let mut is_before = false;
        for _ in self.min..=self.max {
            if value < self.min {
                value = wrapped;
                is_before = true;
            }
            if self.has(value) {
                return Some(Found { value, is_before });
            }
            value -= 1;
        }
        None
    }

    fn has(&self, value: i64) -> bool {
        match &self.numbers {
            Numbers::Unset | Numbers::All => true,
            Numbers::Ranges(ranges) => ranges.iter().any(|(from, to)| (*from..=*to).contains(&value)),
        }
    }
}
