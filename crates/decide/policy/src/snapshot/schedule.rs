//! When a policy counts: start, end and recurrences of its validity schedules.

use chrono::{Datelike, Days, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use chrono::{Offset, TimeZone};
use chrono_tz::Tz;
use stdx::Timestamp;

use crate::model::{Recurrence, ValiditySchedule};

/// How far back a recurrence is looked for. A schedule names days of the month, months and years, and 29 February
/// on a given weekday comes back after 40 years at most.
const LOOK_BACK_DAYS_MAX: u64 = 366 * 41;

/// A schedule whose texts have been read.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    zone: Zone,
    recurrences: Vec<Recurring>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Zone {
    Named(Tz),
    Fixed(FixedOffset),
}

impl Schedule {
    /// # Errors
    /// A text that is no time, zone, field or interval.
    pub(crate) fn new(schedule: &ValiditySchedule) -> Result<Self, String> {
        let zone = Zone::parse(schedule.time_zone.as_deref().unwrap_or_default())?;
        let at = |text: &Option<String>| match text.as_deref().map(str::trim).filter(|t| !t.is_empty()) {
            None => Ok(None),
            Some(text) => wall_clock(text).map(|local| Some(zone.instant(local))),
        };
        let recurrences = schedule.recurrences.iter().map(Recurring::new).collect::<Result<_, _>>()?;
        Ok(Self { start: at(&schedule.start_time)?, end: at(&schedule.end_time)?, zone, recurrences })
    }

    /// Start and end both belong to the schedule; of several recurrences one is enough.
    ///
    /// Recurrences are read on the clock of the schedule's own zone, which is what their author sees beside them.
    pub(crate) fn holds(&self, now: Timestamp) -> bool {
        if self.start.is_some_and(|start| now < start) || self.end.is_some_and(|end| now > end) {
            return false;
        }
        if self.recurrences.is_empty() {
            return true;
        }
        let Some(local) = self.zone.wall_clock(now) else { return false };
        self.recurrences.iter().any(|r| r.holds(local))
    }
}

impl Zone {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::Named(Tz::UTC));
        }
        if let Ok(zone) = text.parse::<Tz>() {
            return Ok(Self::Named(zone));
        }
        fixed_offset(text).map(Self::Fixed).ok_or_else(|| format!("no such time zone `{text}`"))
    }

    /// A wall clock that was set forward past `local` counts on from before; one that shows `local` twice means the
    /// later time.
    fn instant(self, local: NaiveDateTime) -> Timestamp {
        let utc_millis = local.and_utc().timestamp_millis();
        let offset = match self {
            Self::Fixed(offset) => offset,
            Self::Named(zone) => match zone.offset_from_local_datetime(&local) {
                LocalResult::Single(offset) | LocalResult::Ambiguous(_, offset) => offset.fix(),
                LocalResult::None => {
                    let before = local.checked_sub_signed(TimeDelta::hours(24)).unwrap_or(local);
                    zone.offset_from_local_datetime(&before).latest().map_or_else(utc, |o| o.fix())
                }
            },
        };
        Timestamp::from_millis(
            utc_millis.saturating_sub(i64::from(offset.local_minus_utc()).saturating_mul(1000)),
        )
    }

    fn wall_clock(self, now: Timestamp) -> Option<NaiveDateTime> {
        let utc = now.to_utc()?;
        Some(match self {
            Self::Named(zone) => utc.with_timezone(&zone).naive_local(),
            Self::Fixed(offset) => utc.with_timezone(&offset).naive_local(),
        })
    }
}

fn utc() -> FixedOffset {
    chrono::Utc.fix()
}

/// `GMT+5`, `GMT-08:00`, `UTC+0530`.
fn fixed_offset(text: &str) -> Option<FixedOffset> {
    let rest = text.strip_prefix("GMT").or_else(|| text.strip_prefix("UTC")).unwrap_or(text);
    let sign = match rest.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits: String = rest.chars().skip(1).filter(|c| *c != ':').collect();
    if !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() <= 2 { (number, 0) } else { (number / 100, number % 100) };
    if hours > 23 || minutes > 59 || digits.len() > 4 {
        return None;
    }
    FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60))
}

fn wall_clock(text: &str) -> Result<NaiveDateTime, String> {
    NaiveDateTime::parse_from_str(text, "%Y/%m/%d %H:%M:%S")
        .map_err(|_| format!("`{text}` is not a time as `yyyy/MM/dd HH:mm:ss`"))
}

/// One recurrence: from each scheduled minute on, the schedule holds for an interval.
#[derive(Clone, Debug)]
struct Recurring {
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
    fn new(recurrence: &Recurrence) -> Result<Self, String> {
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
            years: needed("year", &schedule.year, (1970, 9999))?,
            days_long: interval.days,
            rest_long: TimeDelta::hours(interval.hours) + TimeDelta::minutes(interval.minutes),
        })
    }

    fn holds(&self, now: NaiveDateTime) -> bool {
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
        let number =
            |part: &str| part.trim().parse::<u32>().ok().filter(|n| (bounds.0..=bounds.1).contains(n));
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let range = match part.split_once('-') {
                _ if part.trim() == "*" => Some(bounds),
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

#[cfg(test)]
mod tests;
