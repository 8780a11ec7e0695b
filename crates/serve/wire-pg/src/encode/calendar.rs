//! Dates, times and intervals as PostgreSQL writes and reads them, over its whole range of years.

use std::fmt::Write;

use bytes::BytesMut;
use chrono::{DateTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// The time zone that a session's timestamps are shown in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    Utc,
    Fixed { seconds_east: i32 },
    Named(Tz),
}

impl Zone {
    /// Reads a zone's name or a fixed offset such as `+02:00`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        if ["utc", "z", "gmt", "etc/utc"].contains(&name.to_ascii_lowercase().as_str()) {
            return Some(Self::Utc);
        }
        let mut scan = Scan(name);
        if let Some(seconds_east) = scan.offset() {
            return scan.0.is_empty().then_some(if seconds_east == 0 {
                Self::Utc
            } else {
                Self::Fixed { seconds_east }
            });
        }
        chrono_tz::TZ_VARIANTS
            .iter()
            .find(|zone| zone.name().eq_ignore_ascii_case(name))
            .copied()
            .map(Self::Named)
    }

    /// The name that is reported to clients.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Utc => "UTC".to_owned(),
            Self::Fixed { seconds_east } => {
                let mut out = BytesMut::new();
                // PostgreSQL reads a bare offset as ISO does, and names such a zone in angle brackets with POSIX's sign.
                write_offset(*seconds_east, &mut out);
                let iso = String::from_utf8_lossy(&out).into_owned();
                out.clear();
                write_offset(-seconds_east, &mut out);
                format!("<{iso}>{}", String::from_utf8_lossy(&out))
            }
            Self::Named(zone) => zone.name().to_owned(),
        }
    }

    fn seconds_east_at(&self, micros: i64) -> i32 {
        match self {
            Self::Utc => 0,
            Self::Fixed { seconds_east } => *seconds_east,
            // Years beyond chrono's have no zone rules, so they are shown in UTC.
            Self::Named(zone) => DateTime::from_timestamp_micros(micros)
                .map_or(0, |at| zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc()),
        }
    }

    /// The instant at which clocks of this zone show `micros`; the earlier one where they show it twice.
    pub(crate) fn instant_of(&self, micros: i64) -> Option<i64> {
        let seconds_east = match self {
            Self::Utc => 0,
            Self::Fixed { seconds_east } => *seconds_east,
            Self::Named(zone) => {
                let local: NaiveDateTime = DateTime::from_timestamp_micros(micros)?.naive_utc();
                match zone.offset_from_local_datetime(&local).earliest() {
                    Some(offset) => offset.fix().local_minus_utc(),
                    // In the gap of spring the clock before it is taken, as PostgreSQL does.
                    None => self.seconds_east_at(micros.checked_sub(MICROS_PER_DAY)?),
                }
            }
        };
        micros.checked_sub(i64::from(seconds_east) * MICROS_PER_SECOND)
    }

    /// What clocks of this zone show at an instant.
    pub(crate) fn local_of(&self, micros: i64) -> Option<i64> {
        micros.checked_add(i64::from(self.seconds_east_at(micros)) * MICROS_PER_SECOND)
    }
}

/// What stands between date and time: a blank in SQL, a `T` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    Blank,
    Letter,
}

pub(crate) fn write_date(days: i64, out: &mut BytesMut) {
    let is_bc = write_day(days, out);
    write_era(is_bc, out);
}

pub(crate) fn write_time(micros: i64, out: &mut BytesMut) {
    let seconds = micros.div_euclid(MICROS_PER_SECOND);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let _ = write!(out, "{hours:02}:{minutes:02}:{:02}", seconds % 60);
    write_fraction(micros.rem_euclid(MICROS_PER_SECOND), out);
}

pub(crate) fn write_timestamp(micros: i64, between: Between, out: &mut BytesMut) {
    let is_bc = write_day_and_time(micros, between, out);
    write_era(is_bc, out);
}

pub(crate) fn write_timestamptz(micros: i64, zone: &Zone, between: Between, out: &mut BytesMut) {
    let seconds_east = zone.seconds_east_at(micros);
    let (local, seconds_east) = match micros.checked_add(i64::from(seconds_east) * MICROS_PER_SECOND) {
        Some(local) => (local, seconds_east),
        None => (micros, 0),
    };
    let is_bc = write_day_and_time(local, between, out);
    write_offset(seconds_east, out);
    if between == Between::Letter && seconds_east % 3_600 == 0 {
        // ISO 8601 wants the minutes too.
        let _ = out.write_str(":00");
    }
    write_era(is_bc, out);
}

/// PostgreSQL's own style: `1 year 2 mons -3 days +04:05:06.7`.
pub(crate) fn write_interval(months: i32, days: i32, micros: i64, out: &mut BytesMut) {
    let mut is_empty = true;
    let mut is_before = false;
    for (value, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if value == 0 {
            continue;
        }
        let blank = if is_empty { "" } else { " " };
        let plus = if is_before && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        let _ = write!(out, "{blank}{plus}{value} {unit}{plural}");
        is_before = value < 0;
        is_empty = false;
    }
    if is_empty || micros != 0 {
        let blank = if is_empty { "" } else { " " };
        let sign = match (micros < 0, is_before) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let size = micros.unsigned_abs();
        let seconds = size / 1_000_000;
        let _ =
            write!(out, "{blank}{sign}{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write_fraction(i64::try_from(size % 1_000_000).unwrap_or(0), out);
    }
}

fn write_day_and_time(micros: i64, between: Between, out: &mut BytesMut) -> bool {
    let is_bc = write_day(micros.div_euclid(MICROS_PER_DAY), out);
    let _ = out.write_char(match between {
        Between::Blank => ' ',
        Between::Letter => 'T',
    });
    write_time(micros.rem_euclid(MICROS_PER_DAY), out);
    is_bc
}

/// Writes year, month and day and says whether the year is before Christ; that word comes last of all.
fn write_day(days: i64, out: &mut BytesMut) -> bool {
    let (year, month, day) = civil_of(days);
    let is_bc = year <= 0;
    // There is no year 0: the year before 1 is 1 BC.
    let shown = if is_bc { 1 - year } else { year };
    let _ = write!(out, "{shown:04}-{month:02}-{day:02}");
    is_bc
}

fn write_era(is_bc: bool, out: &mut BytesMut) {
    if is_bc {
        let _ = out.write_str(" BC");
    }
}

fn write_fraction(micros: i64, out: &mut BytesMut) {
    if micros != 0 {
        let digits = format!("{micros:06}");
        let _ = write!(out, ".{}", digits.trim_end_matches('0'));
    }
}

fn write_offset(seconds_east: i32, out: &mut BytesMut) {
    let sign = if seconds_east < 0 { '-' } else { '+' };
    let size = seconds_east.unsigned_abs();
    let _ = write!(out, "{sign}{:02}", size / 3_600);
    if !size.is_multiple_of(3_600) {
        let _ = write!(out, ":{:02}", size / 60 % 60);
    }
    if !size.is_multiple_of(60) {
        let _ = write!(out, ":{:02}", size % 60);
    }
}

/// Days since 1970 to year, month and day, by the proleptic Gregorian calendar.
fn civil_of(days: i64) -> (i64, i64, i64) {
    // Years are counted from March, so that the day which leap years add is the last one.
    let from_march_0000 = days + 719_468;
    let era = from_march_0000.div_euclid(146_097);
    let day_of_era = from_march_0000.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Reads `2024-02-29` or `0044-03-15 BC` as days since 1970; `None` for anything else.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let (text, is_bc) = without_era(text.trim());
    let mut scan = Scan(text);
    let days = scan.date(is_bc)?;
    scan.0.is_empty().then_some(days)
}

/// Reads `12:34:56.789` as microseconds since midnight.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let mut scan = Scan(text.trim());
    let micros = scan.time()?;
    (scan.0.is_empty() && micros < MICROS_PER_DAY).then_some(micros)
}

/// Reads a timestamp as it stands on the clock, and the offset from UTC if one is written after it.
pub(crate) fn parse_timestamp(text: &str) -> Option<(i64, Option<i32>)> {
    let (text, is_bc) = without_era(text.trim());
    let mut scan = Scan(text);
    let days = scan.date(is_bc)?;
    let mut micros = 0;
    if scan.eat('T') || scan.eat('t') || scan.eat(' ') {
        micros = scan.time()?;
    }
    scan.0 = scan.0.trim_start();
    let seconds_east = if scan.0.is_empty() { None } else { Some(scan.offset()?) };
    let local = days.checked_mul(MICROS_PER_DAY)?.checked_add(micros)?;
    scan.0.is_empty().then_some((local, seconds_east))
}

fn without_era(text: &str) -> (&str, bool) {
    let split = text.len().saturating_sub(3);
    match text.split_at_checked(split) {
        Some((rest, era)) if era.eq_ignore_ascii_case(" bc") => (rest, true),
        Some((rest, era)) if era.eq_ignore_ascii_case(" ad") => (rest, false),
        _ => (text, false),
    }
}

/// A text that is read from the front.
struct Scan<'t>(&'t str);

impl Scan<'_> {
    fn eat(&mut self, expected: char) -> bool {
        match self.0.strip_prefix(expected) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Between one and `n_max` digits.
    fn number(&mut self, n_max: usize) -> Option<i64> {
        let n_digits = self.0.bytes().take(n_max).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(n_digits)?;
        self.0 = rest;
        digits.parse().ok()
    }

    fn date(&mut self, is_bc: bool) -> Option<i64> {
        let year = self.number(6)?;
        let month = self.eat('-').then(|| self.number(2))??;
        let day = self.eat('-').then(|| self.number(2))??;
        if year == 0 {
            return None;
        }
        let year = if is_bc { 1 - year } else { year };
        let days = days_of(year, month, day);
        // A day that the month does not have comes back as another one.
        ((1..=12).contains(&month) && civil_of(days) == (year, month, day)).then_some(days)
    }

    fn time(&mut self) -> Option<i64> {
        let hours = self.number(2)?;
        let minutes = self.eat(':').then(|| self.number(2))??;
        let seconds = if self.eat(':') { self.number(2)? } else { 0 };
        let mut micros = 0;
        if self.eat('.') {
            let n_digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, rest) = self.0.split_at_checked(n_digits)?;
            self.0 = rest;
            let mut scaled: i64 = 0;
            for digit in digits.bytes().chain(std::iter::repeat(b'0')).take(7) {
                scaled = scaled * 10 + i64::from(digit - b'0');
            }
            micros = (scaled + 5) / 10;
        }
        let is_clock = hours < 24 && minutes < 60 && seconds < 60;
        is_clock.then_some(((hours * 60 + minutes) * 60 + seconds) * MICROS_PER_SECOND + micros)
    }

    /// Seconds east of UTC: `Z`, `UTC`, `+02`, `+0230`, `+02:30` or `+02:30:15`.
    fn offset(&mut self) -> Option<i32> {
        for utc in ["UTC", "utc", "Z", "z"] {
            if let Some(rest) = self.0.strip_prefix(utc) {
                self.0 = rest;
                return Some(0);
            }
        }
        let sign = if self.eat('-') {
            -1
        } else if self.eat('+') {
            1
        } else {
            return None;
        };
        let hours = self.number(2)?;
        let minutes = if self.eat(':') || !self.0.is_empty() { self.number(2)? } else { 0 };
        let seconds = if self.eat(':') { self.number(2)? } else { 0 };
        let is_offset = hours < 16 && minutes < 60 && seconds < 60;
        is_offset.then_some(())?;
        i32::try_from(sign * ((hours * 60 + minutes) * 60 + seconds)).ok()
    }
}

#[cfg(test)]
mod tests;
