//! The values of a made-up table, and how SQL writes them.

use std::cmp::Ordering;

use chrono::{Datelike, NaiveDate, TimeDelta};

use crate::dice::Dice;

/// What an expression may be put in the place of. `INT` and `BIGINT` mix freely, so that they are one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Int,
    Dec,
    Dbl,
    Str,
    Date,
    Ts,
    Bool,
    List,
    Who,
}

impl Kind {
    pub(crate) const PLAIN: [Self; 7] =
        [Self::Int, Self::Str, Self::Bool, Self::Dec, Self::Dbl, Self::Date, Self::Ts];

    /// The smallest expression of the kind.
    pub(crate) const fn least(self) -> &'static str {
        match self {
            Self::Int => "1",
            Self::Dec => "CAST(1 AS DECIMAL(10, 2))",
            Self::Dbl => "CAST(1 AS DOUBLE)",
            Self::Str => "'a'",
            Self::Date => "DATE '2020-01-01'",
            Self::Ts => "TIMESTAMP '2020-01-01 00:00:00'",
            Self::Bool => "TRUE",
            Self::List => "make_array(1)",
            Self::Who => "named_struct('nm', 'a', 'yr', 1)",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    /// In hundredths.
    Dec(i64),
    Dbl(f64),
    Str(String),
    /// Days since 1970.
    Date(i32),
    /// Seconds since 1970.
    Ts(i64),
    Bool(bool),
    List(Vec<i64>),
    Who(String, i64),
}

/// Which values are drawn: those that no expression fails on, or those that many do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Tame,
    Hostile,
}

const WORDS: [&str; 10] = ["a", "ab", "Ann-42", "bob", "x@y.de", "Zoë", "1234567", "north", "south", "12 34"];
const DIGITS: [&str; 8] = ["1", "2", "3", "7", "10", "12", "2020", "12345"];
const HOSTILE_WORDS: [&str; 6] = ["", "abc", "(", "99999999999999999999", "%", "nope nope nope"];
const TAME_INTS: [i64; 8] = [1, 2, 3, 4, 5, 7, 10, 12];

impl Value {
    pub(crate) fn roll(kind: Kind, is_digits: bool, mood: Mood, dice: &mut Dice) -> Self {
        if dice.once_in(9) {
            return Self::Null;
        }
        let is_wild = mood == Mood::Hostile && !dice.once_in(3);
        match kind {
            Kind::Int if is_wild => Self::Int(*dice.pick(&[0, 0, -1, 2_147_483_647, -2_147_483_648])),
            Kind::Int => Self::Int(*dice.pick(&TAME_INTS)),
            Kind::Dec if is_wild => Self::Dec(*dice.pick(&[0, 9_999_999_999, -1])),
            Kind::Dec => Self::Dec(25 * dice.between(1, 40)),
            Kind::Dbl if is_wild => Self::Dbl(*dice.pick(&[0.0, 1e300, -1e300])),
            Kind::Dbl => Self::Dbl(0.25 * dice.between(1, 40) as f64),
            Kind::Str if is_wild => Self::Str((*dice.pick(&HOSTILE_WORDS)).to_owned()),
            Kind::Str if is_digits => Self::Str((*dice.pick(&DIGITS)).to_owned()),
            Kind::Str => Self::Str((*dice.pick(&WORDS)).to_owned()),
            Kind::Date if is_wild => Self::Date(*dice.pick(&[-700_000, 2_900_000])),
            Kind::Date => Self::Date(dice.between(18_200, 19_000) as i32),
            Kind::Ts if is_wild => Self::Ts(*dice.pick(&[-8_500_000_000, 8_800_000_000])),
            Kind::Ts => Self::Ts(dice.between(17_500, 18_500) * 86_400 + dice.between(0, 86_399)),
            Kind::Bool => Self::Bool(dice.once_in(2)),
            Kind::List if is_wild => Self::List(Vec::new()),
            Kind::List => {
                let n = dice.between(1, 3);
                Self::List((0..n).map(|_| *dice.pick(&TAME_INTS)).collect())
            }
            Kind::Who => {
                let name = if is_wild { dice.pick(&HOSTILE_WORDS) } else { dice.pick(&WORDS) };
                let year = if is_wild { 0 } else { *dice.pick(&TAME_INTS) };
                Self::Who((*name).to_owned(), year)
            }
        }
    }

    /// As SQL writes it, in a type of its own.
    pub(crate) fn literal(&self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Int(value) => value.to_string(),
            Self::Dec(value) => format!("CAST('{}' AS DECIMAL(10, 2))", hundredths(*value)),
            Self::Dbl(value) => format!("CAST('{value:e}' AS DOUBLE)"),
            Self::Str(value) => format!("'{}'", value.replace('\'', "''")),
            Self::Date(days) => format!("DATE '{}'", date_text(i64::from(*days))),
            Self::Ts(seconds) => format!("TIMESTAMP '{}'", moment_text(*seconds)),
            Self::Bool(true) => "TRUE".to_owned(),
            Self::Bool(false) => "FALSE".to_owned(),
            Self::List(values) if values.is_empty() => "array_remove(make_array(1), 1)".to_owned(),
            Self::List(values) => {
                format!("make_array({})", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
            }
            Self::Who(name, year) => {
                format!("named_struct('nm', '{}', 'yr', {year})", name.replace('\'', "''"))
            }
        }
    }

    /// As SQL compares two values of one kind; `None` where either is NULL.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) | (Self::Dec(a), Self::Dec(b)) | (Self::Ts(a), Self::Ts(b)) => {
                Some(a.cmp(b))
            }
            (Self::Dbl(a), Self::Dbl(b)) => a.partial_cmp(b),
            (Self::Str(a), Self::Str(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

fn hundredths(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", value.abs() / 100, value.abs() % 100)
}

fn date_of(days: i64) -> NaiveDate {
    NaiveDate::default() + TimeDelta::days(days)
}

/// The first day of the year of a day, both in days since 1970.
pub(super) fn new_year(days: i64) -> i64 {
    days - i64::from(date_of(days).ordinal0())
}

fn date_text(days: i64) -> String {
    date_of(days).format("%Y-%m-%d").to_string()
}

fn moment_text(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    format!("{} {:02}:{:02}:{:02}", date_text(days), rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates_and_years_have_first_days() {
        for (days, text) in
            [(0, "1970-01-01"), (18_262, "2020-01-01"), (-1, "1969-12-31"), (18_321, "2020-02-29")]
        {
            assert_eq!(date_text(days), text);
        }
        assert_eq!((new_year(18_321), new_year(-1), new_year(18_262)), (18_262, -365, 18_262));
        assert_eq!(moment_text(86_399), "1970-01-01 23:59:59");
        assert_eq!(hundredths(-105), "-1.05");
    }
}
