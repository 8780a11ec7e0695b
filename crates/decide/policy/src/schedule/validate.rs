//! Checks a schedule before it is stored, with the faults that Ranger counts.

use chrono::{Datelike, NaiveDateTime};
use chrono_tz::Tz;
use stdx::Timestamp;

use super::java_wall_clock;
use super::zone::Zone;
use crate::date_format::Leniency;
use crate::model::{Recurrence, RecurrenceInterval, RecurrenceSchedule, ValiditySchedule};

/// One thing that is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct ScheduleFault {
    /// The field as the wire has it, such as `dayOfMonth`.
    pub field: &'static str,
    pub message: String,
}

/// The year that an end which is not given falls into.
const NO_END_YEAR: i64 = 292_278_994;

/// What may stand in one field of a recurrence.
struct FieldSpec {
    name: &'static str,
    min: i64,
    max: i64,
    specials: &'static str,
    may_be_blank: bool,
    of: fn(&RecurrenceSchedule) -> &Option<String>,
    of_mut: fn(&mut RecurrenceSchedule) -> &mut Option<String>,
}

macro_rules! field_spec {
    ($field:ident, $name:literal, $min:literal, $max:literal, $specials:literal, $may_be_blank:literal) => {
        FieldSpec {
            name: $name,
            min: $min,
            max: $max,
            specials: $specials,
            may_be_blank: $may_be_blank,
            of: |schedule| &schedule.$field,
            of_mut: |schedule| &mut schedule.$field,
        }
    };
}

const FIELDS: [FieldSpec; 6] = [
    field_spec!(minute, "minute", 0, 59, ",", false),
    field_spec!(hour, "hour", 0, 23, "*,-", false),
    field_spec!(day_of_month, "dayOfMonth", 1, 31, "*,-", true),
    field_spec!(day_of_week, "dayOfWeek", 1, 7, "*,-", true),
    field_spec!(month, "month", 1, 12, "*,-", false),
    field_spec!(year, "year", 2017, 2100, "*,-", false),
];

/// The schedule without blanks and with sorted lists, as it is to be stored.
///
/// A start that is not given is `now`. A recurrence whose interval is nothing counts as one without an interval.
///
/// # Errors
/// Every fault that Ranger's validator finds, as often as it does: fields of recurrences are looked at only while
/// nothing else is wrong.
pub fn validate(
    schedule: &ValiditySchedule,
    now: Timestamp,
    server: Tz,
) -> Result<ValiditySchedule, Vec<ScheduleFault>> {
    let mut check = Check { faults: Vec::new() };
    let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    if !given(&schedule.start_time) && !given(&schedule.end_time) && schedule.recurrences.is_empty() {
        check.add("startTime,endTime,recurrences", "a schedule needs one of them");
        return Err(check.faults);
    }
    let mut time = |field, text: &Option<String>| match text.as_deref().filter(|text| !text.is_empty()) {
        None => Some(None),
        Some(text) => {
            let read = java_wall_clock(text, Leniency::Refuses);
            if read.is_none() {
                check.add(field, format!("`{text}` is not a time as `yyyy/MM/dd HH:mm:ss`"));
            }
            read.map(Some)
        }
    };
    let start = time("startTime", &schedule.start_time);
    let end = time("endTime", &schedule.end_time);
    let (Some(start), Some(end)) = (start, end) else { return Err(check.faults) };
    let start = start.or_else(|| Zone::Named(server).wall_clock(now)).unwrap_or_default();
    check.span(schedule, start, end);

    let years = (i64::from(start.year()), end.map_or(NO_END_YEAR, |end| i64::from(end.year())));
    let mut recurrences = Vec::new();
    for recurrence in &schedule.recurrences {
        check.interval(recurrence);
        // Ranger goes on to the fields only while all has been right.
        if check.faults.is_empty() {
            FIELDS.iter().for_each(|field| check.field(field, recurrence, years));
        }
        recurrences.push(normalised(recurrence));
    }
    if check.faults.is_empty() {
        Ok(ValiditySchedule { recurrences, ..schedule.clone() })
    } else {
        Err(check.faults)
    }
}

struct Check {
    faults: Vec<ScheduleFault>,
}

impl Check {
    fn add(&mut self, field: &'static str, message: impl Into<String>) {
        self.faults.push(ScheduleFault { field, message: message.into() });
    }

    fn span(&mut self, schedule: &ValiditySchedule, start: NaiveDateTime, end: Option<NaiveDateTime>) {
        if end.is_some_and(|end| start >= end) {
            self.add("startTime", "the end is not later than the start");
        }
        let zone = schedule.time_zone.as_deref().unwrap_or_default();
        if !Zone::is_valid_id(zone) {
            self.add("timeZone", format!("no such time zone `{zone}`"));
        }
    }

    fn interval(&mut self, recurrence: &Recurrence) {
        if recurrence.interval == RecurrenceInterval::default()
            || recurrence.schedule == RecurrenceSchedule::default()
        {
            self.add("recurrence", "a recurrence needs a schedule and an interval");
            return;
        }
        let RecurrenceInterval { days, hours, minutes } = recurrence.interval;
        if days < 0 || !(0..=23).contains(&hours) || !(0..=59).contains(&minutes) {
            self.add("interval", "an interval is days from 0, hours from 0 to 23 and minutes from 0 to 59");
        }
        let is_blank = |text: &Option<String>| is_blank(text.as_deref().unwrap_or_default());
        if is_blank(&recurrence.schedule.day_of_month) && is_blank(&recurrence.schedule.day_of_week) {
            self.add("validitySchedule", "a recurrence needs a day of the month or of the week");
        }
    }

    fn field(&mut self, field: &FieldSpec, recurrence: &Recurrence, years: (i64, i64)) {
        let text = (field.of)(&recurrence.schedule).as_deref().unwrap_or_default();
        if is_blank(text) {
            if !field.may_be_blank {
                self.add(field.name, "it is missing");
            }
            return;
        }
        let is_allowed = |c: char| c.is_ascii_digit() || c.is_whitespace() || field.specials.contains(c);
        if !text.chars().all(is_allowed) {
            self.add(field.name, format!("`{text}` has a character that cannot be there"));
            return;
        }
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let before = self.faults.len();
        self.ranges(field, &text, (field.min, field.max));
        if field.name == "year" && self.faults.len() == before {
            self.ranges(field, &text, years);
        }
    }

    fn ranges(&mut self, field: &FieldSpec, text: &str, bounds: (i64, i64)) {
        let before = self.faults.len();
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        for spec in text.split(',').filter(|spec| !spec.is_empty()) {
            let Some((from, to)) = self.ends(field.name, spec, bounds) else { continue };
            let Some(to) = to else {
                if !(bounds.0..=bounds.1).contains(&from) {
                    self.add(field.name, out_of_bounds(from, bounds));
                }
                continue;
            };
            if field.name == "year" {
                if from < bounds.0 && to > bounds.1 {
                    self.add(field.name, format!("`{spec}` lies around {} to {}", bounds.0, bounds.1));
                }
            } else {
                for end in [from, to] {
                    if !(bounds.0..=bounds.1).contains(&end) {
                        self.add(field.name, out_of_bounds(end, bounds));
                    }
                }
            }
            // Later ranges are not compared once something of the field is wrong.
            if self.faults.len() > before {
                continue;
            }
            if from >= to {
                self.add(field.name, format!("`{spec}` ends before it begins"));
            } else if ranges.iter().any(|(lower, upper)| *lower == from || *upper == to) {
                self.add(field.name, format!("`{spec}` repeats an end of another range"));
            } else {
                ranges.push((from, to));
            }
        }
        ranges.sort_unstable();
        for (at, (_, upper)) in ranges.iter().enumerate() {
            let overlapping = ranges.iter().skip(at + 1).filter(|(lower, _)| upper > lower).count();
            (0..overlapping).for_each(|_| self.add(field.name, "two ranges overlap"));
        }
    }

    /// The number or the two ends of a range; `None` for a `*`, and after a fault.
    fn ends(&mut self, field: &'static str, spec: &str, bounds: (i64, i64)) -> Option<(i64, Option<i64>)> {
        let parts: Vec<&str> = spec.split('-').collect();
        let mut number = |text: &str, wildcard: i64| match text {
            "*" => Some(wildcard),
            text => {
                let number = text.parse::<i64>().ok();
                if number.is_none() {
                    self.add(field, format!("`{spec}` is not a number"));
                }
                number
            }
        };
        match *parts.as_slice() {
            ["*"] => None,
            [one] => number(one, bounds.0).map(|n| (n, None)),
            // Ranger takes `3--5` here, and then cannot read it.
            [from, to] if !from.is_empty() && !to.is_empty() => {
                let from = number(from, bounds.0)?;
                number(to, bounds.1).map(|to| (from, Some(to)))
            }
            _ => {
                self.add(field, format!("`{spec}` is not a range"));
                None
            }
        }
    }
}

/// A list of nothing is as good as none, although Ranger takes it.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == ',')
}

fn out_of_bounds(number: i64, (min, max): (i64, i64)) -> String {
    format!("{number} is not in {min} to {max}")
}

/// Without blanks, and each list sorted as text.
fn normalised(recurrence: &Recurrence) -> Recurrence {
    let mut schedule = recurrence.schedule.clone();
    for field in &FIELDS {
        let text = (field.of_mut)(&mut schedule);
        if let Some(value) = text.take() {
            let value: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            let mut parts: Vec<&str> = value.split(',').filter(|part| !part.is_empty()).collect();
            parts.sort_unstable();
            *text = (!parts.is_empty()).then(|| parts.join(","));
        }
    }
    Recurrence { schedule, interval: recurrence.interval }
}
