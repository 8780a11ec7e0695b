//! Dates as texts under a pattern such as `yyyy/MM/dd HH:mm:ss`, read the way Java reads them.

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};

/// Whether a value out of its range is carried into the next larger one, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leniency {
    /// `2018/13/01` is `2019/01/01`.
    Carries,
    Refuses,
}

/// A compiled pattern.
///
/// Text behind what the pattern takes is ignored: `2018/01/12 and more` is a date of `yyyy/MM/dd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(char),
    Number {
        field: Field,
        /// How many letters the pattern gives to the field.
        width: usize,
        /// Another number follows without anything between.
        is_abutting: bool,
    },
    MonthName,
    DayName,
    HalfDay,
    Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

const FIELDS: usize = 7;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// What a text said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadDate {
    pub local: NaiveDateTime,
    /// Seconds east of UTC, where the text gives them.
    pub offset_secs: Option<i64>,
}

impl DateFormat {
    /// `None`: not a pattern, or one with a letter that is not offered (eras, weeks, days of the year).
    pub fn new(pattern: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                quoted(&mut chars, &mut parts)?;
            } else if c.is_ascii_alphabetic() {
                let mut width = 1;
                while chars.next_if_eq(&c).is_some() {
                    width += 1;
                }
                parts.push(part(c, width)?);
            } else {
                parts.push(Part::Literal(c));
            }
        }
        let numbers: Vec<bool> = parts.iter().map(|part| matches!(part, Part::Number { .. })).collect();
        for (part, next) in parts.iter_mut().zip(numbers.iter().skip(1)) {
            if let Part::Number { is_abutting, .. } = part {
                *is_abutting = *next;
            }
        }
        Some(Self { parts })
    }

    pub fn read(&self, text: &str, leniency: Leniency) -> Option<ReadDate> {
        let mut reader = Reader { rest: text, values: [1970, 1, 1, 0, 0, 0, 0], is_pm: None, offset: None };
        // A run of numbers without anything between is cut by the widths that the pattern gives.
        let mut was_abutting = false;
        for part in &self.parts {
            was_abutting = reader.part(part, was_abutting)?;
        }
        reader.date(leniency)
    }
}

/// The rest of a quoted text; two quotes are one of the text itself.
fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, parts: &mut Vec<Part>) -> Option<()> {
    if chars.next_if_eq(&'\'').is_some() {
        parts.push(Part::Literal('\''));
        return Some(());
    }
    loop {
        match chars.next()? {
            '\'' if chars.next_if_eq(&'\'').is_some() => parts.push(Part::Literal('\'')),
            '\'' => return Some(()),
            c => parts.push(Part::Literal(c)),
        }
    }
}

fn part(letter: char, width: usize) -> Option<Part> {
    let field = match letter {
        'y' => Field::Year,
        'M' if width > 2 => return Some(Part::MonthName),
        'M' => Field::Month,
        'd' => Field::Day,
        'H' | 'k' | 'K' | 'h' => Field::Hour,
        'm' => Field::Minute,
        's' => Field::Second,
        'S' => Field::Millisecond,
        'E' => return Some(Part::DayName),
        'a' => return Some(Part::HalfDay),
        'z' | 'Z' | 'X' => return Some(Part::Offset),
        _ => return None,
    };
    Some(Part::Number { field, width, is_abutting: false })
}

struct Reader<'t> {
    rest: &'t str,
    values: [i64; FIELDS],
    is_pm: Option<bool>,
    offset: Option<i64>,
}

impl Reader<'_> {
    fn part(&mut self, part: &Part, was_abutting: bool) -> Option<bool> {
        match part {
            Part::Literal(c) => self.rest = self.rest.strip_prefix(*c)?,
            Part::Number { field, width, is_abutting } => {
                let limit = if *is_abutting || was_abutting { *width } else { usize::MAX };
                let number = self.number(limit)?;
                *self.values.get_mut(*field as usize)? = number;
                return Some(*is_abutting);
            }
            Part::MonthName => *self.values.get_mut(1)? = self.name(&MONTHS)?.saturating_add(1),
            Part::DayName => {
                self.name(&DAYS)?;
            }
            Part::HalfDay => self.is_pm = Some(self.name(&["am", "pm"])? == 1),
            Part::Offset => self.offset = Some(self.offset()?),
        }
        Some(false)
    }

    fn number(&mut self, digits_max: usize) -> Option<i64> {
        let text = self.rest.trim_start_matches([' ', '\t']);
        let n = text.bytes().take(digits_max).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = text.split_at_checked(n)?;
        self.rest = rest;
        digits.parse().ok()
    }

    /// Which of the names, whole or by its first three letters, comes next.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        let text = self.rest.trim_start_matches([' ', '\t']);
        for (at, name) in names.iter().enumerate() {
            for name in [Some(*name), name.get(..3)].into_iter().flatten() {
                if text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
                    self.rest = text.get(name.len()..)?;
                    return i64::try_from(at).ok();
                }
            }
        }
        None
    }

    /// `Z`, `UTC`, `GMT`, `-0700`, `+05:30`, `GMT+1`.
    fn offset(&mut self) -> Option<i64> {
        let text = self.rest.trim_start_matches([' ', '\t']);
        let named = ["UTC", "GMT", "Z"].iter().find_map(|name| text.strip_prefix(name));
        let text = named.unwrap_or(text);
        let sign = match text.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            _ => {
                self.rest = text;
                return named.map(|_| 0);
            }
        };
        self.rest = text.get(1..)?;
        let start = self.rest;
        let number = self.number(4)?;
        let n_digits = start.len() - self.rest.len();
        let (hours, minutes) = if n_digits > 2 {
            (number / 100, number % 100)
        } else if let Some(rest) = self.rest.strip_prefix(':') {
            self.rest = rest;
            (number, self.number(2)?)
        } else {
            (number, 0)
        };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
    }

    fn date(self, leniency: Leniency) -> Option<ReadDate> {
        let [year, month, day, mut hour, minute, second, milli] = self.values;
        if let Some(is_pm) = self.is_pm {
            hour = hour % 12 + if is_pm { 12 } else { 0 };
        }
        if leniency == Leniency::Refuses {
            let is_time = hour < 24 && minute < 60 && second < 60 && milli < 1000;
            let [year, month, day] = [year, month, day].map(|n| i32::try_from(n).unwrap_or(-1));
            let is_date = u32::try_from(month)
                .ok()
                .zip(u32::try_from(day).ok())
                .and_then(|(month, day)| NaiveDate::from_ymd_opt(year, month, day));
            if !is_time || is_date.is_none() {
                return None;
            }
        }
        let local = carried(year, month.checked_sub(1)?, day, hour, minute)?
            .checked_add_signed(TimeDelta::try_seconds(second)?)?
            .checked_add_signed(TimeDelta::try_milliseconds(milli)?)?;
        Some(ReadDate { local, offset_secs: self.offset })
    }
}

/// A time from fields of any size, each carried into the next larger one; months begin with 0.
pub(crate) fn carried(year: i64, month0: i64, day: i64, hour: i64, minute: i64) -> Option<NaiveDateTime> {
    let year = i32::try_from(year.checked_add(month0.div_euclid(12))?).ok()?;
    let month = u32::try_from(month0.rem_euclid(12)).ok()?.checked_add(1)?;
    NaiveDate::from_ymd_opt(year, month, 1)?
        .and_hms_opt(0, 0, 0)?
        .checked_add_signed(TimeDelta::try_days(day.checked_sub(1)?)?)?
        .checked_add_signed(TimeDelta::try_hours(hour)?)?
        .checked_add_signed(TimeDelta::try_minutes(minute)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str, leniency: Leniency) -> Option<String> {
        let date = DateFormat::new(pattern)?.read(text, leniency)?;
        let local = date.local.format("%Y-%m-%dT%H:%M:%S%.3f");
        Some(match date.offset_secs {
            None => local.to_string(),
            Some(secs) => format!("{local}{secs:+}"),
        })
    }

    #[test]
    fn text_behind_the_pattern_is_ignored_and_text_before_is_not() {
        let expected = Some("2018-01-12T00:00:00.000".to_owned());
        assert_eq!(read("yyyy/MM/dd", "2018/01/12 14:32", Leniency::Refuses), expected);
        assert_eq!(read("yyyy/MM/dd", "2018/ 1/12", Leniency::Refuses), expected);
        assert_eq!(read("yyyy/MM/dd", "on 2018/01/12", Leniency::Refuses), None);
        assert_eq!(read("yyyy/MM/dd HH:mm:ss", "2018/01/12", Leniency::Carries), None);
    }

    #[test]
    fn a_value_out_of_range_is_carried_or_refused() {
        let pattern = "yyyy/MM/dd HH:mm:ss";
        assert_eq!(
            read(pattern, "2018/13/32 24:60:60", Leniency::Carries).unwrap(),
            "2019-02-02T01:01:00.000"
        );
        for text in
            ["2018/13/01 00:00:00", "2018/02/30 00:00:00", "2018/01/01 24:00:00", "2018/00/01 00:00:00"]
        {
            assert_eq!(read(pattern, text, Leniency::Refuses), None, "{text}");
        }
    }

    #[test]
    fn quotes_hold_literals_and_numbers_without_a_break_are_cut_by_width() {
        let atlas = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";
        assert_eq!(
            read(atlas, "2018-01-12T01:02:03.004Z", Leniency::Refuses).unwrap(),
            "2018-01-12T01:02:03.004"
        );
        assert_eq!(
            read("yyyyMMdd-HH:mm:ss.SSSZ", "20180801-19:30:00.000-0700", Leniency::Refuses).unwrap(),
            "2018-08-01T19:30:00.000-25200"
        );
        assert_eq!(
            read("EEE MMM dd hh:mm a ''yyyy", "Mon Jan 15 01:30 PM '2018", Leniency::Refuses).unwrap(),
            "2018-01-15T13:30:00.000"
        );
    }

    #[test]
    fn what_is_no_pattern_is_none() {
        for pattern in ["abcd", "xyz", "yyyy'open"] {
            assert_eq!(DateFormat::new(pattern), None, "{pattern}");
        }
    }
}
