//! Recurrences of a schedule: from the latest scheduled minute on, for an interval.

use chrono::{Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

use crate::model::Recurrence;

/// How far back a recurrence is looked for. A schedule names days of the month, months and years, and 29 February
/// on a given weekday comes back after 40 years at most.
const LOOK_BACK_DAYS_MAX: u64 = 366 * 41;

/// One recurrence: from each scheduled minute on, the schedule holds for an interval.
#[derive(Clone, Debug)]
pub(crate) struct Recurring {
    minutes: Field,
    hours: Field,
    days_of_month: Option<Field>,
    /// 1 is Sunday.
    days_of_week: Option<Field>,
    months: Field,
    years: Field,
    days_long: i64,
    rest_long: TimeDelta,
}

impl Recurring {
    pub(crate) fn new(recurrence: &Recurrence) -> Result<Self, String> {
        let schedule = &recurrence.schedule;
        let needed = |name: &str, text: &Option<String>, bounds| match Field::parse(name, text, bounds)? {
            Some(field) => Ok(field),
            None => Err(format!("the {name} of a recurrence is missing")),
        };
        let interval = recurrence.interval;
        if interval.days < 0 || !(0..=23).contains(&interval.hours) || !(0..=59).contains(&interval.minutes) {
            return Err("the interval of a recurrence is out of range".to_owned());
        }
        let days_of_month = Field::parse("day of the month", &schedule.day_of_month, (1, 31))?;
        let days_of_week = Field::parse("day of the week", &schedule.day_of_week, (1, 7))?;
        if days_of_month.is_none() && days_of_week.is_none() {
            return Err("a recurrence needs a day of the month or of the week".to_owned());
        }
        Ok(Self {
            minutes: needed("minute", &schedule.minute, (0, 59))?,
            hours: needed("hour", &schedule.hour, (0, 23))?,
            days_of_month,
            days_of_week,
            months: needed("month", &schedule.month, (1, 12))?,
            years: needed("year", &schedule.year, (0, u32::MAX))?,
            days_long: interval.days,
            rest_long: TimeDelta::hours(interval.hours) + TimeDelta::minutes(interval.minutes),
        })
    }

    pub(crate) fn holds(&self, now: NaiveDateTime) -> bool {
        if self.days_long == 0 && self.rest_long.is_zero() {
            return true;
        }
        let by_month =
            self.days_of_month.as_ref().and_then(|days| self.latest(now, |date| days.has(date.day())));
        let by_week = self
            .days_of_week
            .as_ref()
            .and_then(|days| self.latest(now, |date| days.has(date.weekday().number_from_sunday())));
        let Some(began) = by_month.max(by_week) else { return false };
        u64::try_from(self.days_long)
            .ok()
            .and_then(|days| began.checked_add_days(Days::new(days)))
            .and_then(|end| end.checked_add_signed(self.rest_long))
            .is_none_or(|end| now <= end)
    }

    /// The latest scheduled minute that is not after `now`, on days that `is_day` takes.
    fn latest(&self, now: NaiveDateTime, is_day: impl Fn(NaiveDate) -> bool) -> Option<NaiveDateTime> {
        let mut time = self.latest_time(now.time());
        let mut date = now.date();
        let latest_of_day = NaiveTime::from_hms_opt(23, 59, 0)?;
        for _ in 0..LOOK_BACK_DAYS_MAX {
            if u32::try_from(date.year()).is_ok_and(|year| year < self.years.first()) {
                return None;
            }
            let is_scheduled = self.months.has(date.month())
                && u32::try_from(date.year()).is_ok_and(|year| self.years.has(year))
                && is_day(date);
            if let Some(time) = time.filter(|_| is_scheduled) {
                return Some(date.and_time(time));
            }
            date = date.pred_opt()?;
            time = self.latest_time(latest_of_day);
        }
        None
    }

    fn latest_time(&self, bound: NaiveTime) -> Option<NaiveTime> {
        use chrono::Timelike;
        let of_hour = |hour: u32, last_minute: u32| {
            (0..=last_minute)
                .rev()
                .find(|m| self.minutes.has(*m))
                .and_then(|m| NaiveTime::from_hms_opt(hour, m, 0))
        };
        (0..=bound.hour())
            .rev()
            .filter(|hour| self.hours.has(*hour))
            .find_map(|hour| of_hour(hour, if hour == bound.hour() { bound.minute() } else { 59 }))
    }
}

/// The numbers of one field: `*`, single ones and ranges.
#[derive(Clone, Debug)]
struct Field(Vec<(u32, u32)>);

impl Field {
    fn parse(name: &str, text: &Option<String>, bounds: (u32, u32)) -> Result<Option<Self>, String> {
        let Some(text) = text.as_deref().filter(|t| !t.trim().is_empty()) else { return Ok(None) };
        let fault = || format!("`{text}` is not a {name} of a recurrence");
        // One end of a range of years may lie anywhere.
        let number = |part: &str| {
            let number = part.trim().parse::<u64>().ok()?;
            Some(u32::try_from(number).unwrap_or(u32::MAX)).filter(|n| (bounds.0..=bounds.1).contains(n))
        };
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let range = match part.split_once('-') {
                _ if part.trim() == "*" => Some(bounds),
                Some((from, to)) if from.trim() == "*" || to.trim() == "*" => Some(bounds),
                Some((from, to)) => number(from).zip(number(to)).filter(|(from, to)| from <= to),
                None => number(part).map(|n| (n, n)),
            };
            ranges.push(range.ok_or_else(fault)?);
        }
        Ok(Some(Self(ranges)))
    }

    fn first(&self) -> u32 {
        self.0.iter().map(|(from, _)| *from).min().unwrap_or_default()
    }

    fn has(&self, number: u32) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }
}
