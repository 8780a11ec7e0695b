//! Masks as policies write them, and the obvious evaluation of each.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::values::new_year;
use super::{Column, Kind, Value};
use crate::dice::Dice;

/// The mask key of the fixture's engines.
const KEY: &[u8] = b"the key of the tests";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mask {
    Null,
    /// `DENY SELECT (c)`.
    Restricted,
    /// A constant of the column's type.
    Constant,
    Show,
    Last4,
    First4,
    Hash,
    Year,
    /// Numbers to tens, by an expression.
    Tens,
    /// Texts before and after `m`.
    Halves,
    /// The first character.
    First,
    /// The value in rows with an even `id`, NULL in others: an expression over another column.
    EvenOnly,
    /// Whether there is a value, for truth values.
    IsThere,
    Reversed,
}

impl Mask {
    pub(crate) fn roll(column: &Column, dice: &mut Dice) -> Self {
        let of_kind: &[Self] = match column.kind {
            Kind::Int => &[Self::Tens, Self::EvenOnly, Self::Constant],
            Kind::Dec | Kind::Dbl => &[Self::Constant, Self::EvenOnly],
            Kind::Str => &[
                Self::Show,
                Self::Last4,
                Self::First4,
                Self::Hash,
                Self::Halves,
                Self::First,
                Self::Constant,
                Self::EvenOnly,
            ],
            Kind::Date | Kind::Ts => &[Self::Year, Self::EvenOnly, Self::Constant],
            Kind::Bool => &[Self::IsThere, Self::EvenOnly],
            Kind::List => &[Self::Reversed, Self::Constant],
            Kind::Who => &[Self::EvenOnly],
        };
        match dice.roll(5) {
            0 => Self::Null,
            1 => Self::Restricted,
            _ => dice.pick(of_kind).clone(),
        }
    }

    /// The statement that makes it for one column.
    pub(crate) fn statement(&self, policy: &str, table: &str, column: &Column, to: &str) -> String {
        let name = column.name;
        let expression = match self {
            Self::Restricted => return format!("DENY SELECT ({name}) ON g.{table} TO {to}"),
            Self::Null => return masked(policy, table, name, "MASK_NULL", to),
            Self::Show => return masked(policy, table, name, "MASK", to),
            Self::Last4 => return masked(policy, table, name, "MASK_SHOW_LAST_4", to),
            Self::First4 => return masked(policy, table, name, "MASK_SHOW_FIRST_4", to),
            Self::Hash => return masked(policy, table, name, "MASK_HASH", to),
            Self::Year => return masked(policy, table, name, "MASK_DATE_SHOW_YEAR", to),
            Self::Constant => match column.kind {
                Kind::Str if column.is_digits => "'5'".to_owned(),
                kind => format!("CAST({} AS {})", kind.least(), plain_type(column)),
            },
            Self::Tens => "{col} / 10 * 10".to_owned(),
            Self::Halves => "CASE WHEN {col} < 'm' THEN 'low' ELSE 'high' END".to_owned(),
            Self::First => "substr({col}, 1, 1)".to_owned(),
            Self::EvenOnly => "CASE WHEN id % 2 = 0 THEN {col} END".to_owned(),
            Self::IsThere => "{col} IS NOT NULL".to_owned(),
            Self::Reversed => "array_reverse({col})".to_owned(),
        };
        format!(
            "CREATE POLICY {policy} ON TABLE g.{table} COLUMN MASK CUSTOM TO {to} ON COLUMN {name} USING ({expression})"
        )
    }

    /// What is seen of a value; `id` is that of its row.
    pub(crate) fn image(&self, column: &Column, value: &Value, id: &Value) -> Value {
        match (self, value) {
            (Self::Null | Self::Restricted, _) => Value::Null,
            (Self::Constant, _) => constant(column),
            (Self::IsThere, _) => Value::Bool(*value != Value::Null),
            (Self::EvenOnly, _) => match id {
                Value::Int(id) if id % 2 == 0 => value.clone(),
                _ => Value::Null,
            },
            // NULL is not before `m`, and so is of the other half.
            (Self::Halves, Value::Str(text)) if text.as_str() < "m" => Value::Str("low".to_owned()),
            (Self::Halves, _) => Value::Str("high".to_owned()),
            (_, Value::Null) => Value::Null,
            (Self::Tens, Value::Int(n)) => Value::Int(n / 10 * 10),
            (Self::First, Value::Str(text)) => Value::Str(text.chars().take(1).collect()),
            (Self::Show, Value::Str(text)) => Value::Str(text.chars().map(classed).collect()),
            (Self::Last4, Value::Str(text)) => Value::Str(shown(text, End::Last)),
            (Self::First4, Value::Str(text)) => Value::Str(shown(text, End::First)),
            (Self::Hash, Value::Str(text)) => Value::Str(keyed(text)),
            (Self::Year, Value::Date(days)) => Value::Date(new_year(i64::from(*days)) as i32),
            (Self::Year, Value::Ts(seconds)) => Value::Ts(new_year(seconds.div_euclid(86_400)) * 86_400),
            (Self::Reversed, Value::List(values)) => Value::List(values.iter().rev().copied().collect()),
            // A mask that says nothing of a kind.
            _ => Value::Null,
        }
    }
}

fn masked(policy: &str, table: &str, column: &str, mask: &str, to: &str) -> String {
    format!("CREATE POLICY {policy} ON TABLE g.{table} COLUMN MASK {mask} TO {to} ON COLUMN {column}")
}

/// `TIMESTAMP` alone is one of nanoseconds in an expression, and columns are of microseconds.
fn plain_type(column: &Column) -> &'static str {
    if column.kind == Kind::Ts { "TIMESTAMP(6)" } else { column.sql_type }
}

fn constant(column: &Column) -> Value {
    match column.kind {
        Kind::Int => Value::Int(1),
        Kind::Dec => Value::Dec(100),
        Kind::Dbl => Value::Dbl(1.0),
        Kind::Str if column.is_digits => Value::Str("5".to_owned()),
        Kind::Str => Value::Str("a".to_owned()),
        Kind::Date => Value::Date(18_262),
        Kind::Ts => Value::Ts(18_262 * 86_400),
        Kind::Bool => Value::Bool(true),
        Kind::List => Value::List(vec![1]),
        Kind::Who => Value::Null,
    }
}

/// One character under `MASK`.
fn classed(c: char) -> char {
    match c {
        _ if c.is_uppercase() => 'X',
        _ if c.is_numeric() => 'n',
        _ if c.is_ascii_punctuation() || c.is_whitespace() => c,
        _ => 'x',
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// Four characters stay at one end; a text of four or fewer is covered whole.
fn shown(text: &str, end: End) -> String {
    let n = text.chars().count();
    let stays = |at: usize| match end {
        _ if n <= 4 => false,
        End::First => at < 4,
        End::Last => at >= n - 4,
    };
    let covered = |c: char| if c.is_ascii_punctuation() || c.is_whitespace() { c } else { 'x' };
    text.chars().enumerate().map(|(at, c)| if stays(at) { c } else { covered(c) }).collect()
}

fn keyed(text: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(KEY) else { return String::new() };
    mac.update(text.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}
