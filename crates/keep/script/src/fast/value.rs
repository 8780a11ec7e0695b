//! Values, and the conversions between them in which JavaScript leaves no doubt.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Leave;
use super::parse::{Data, Operator};

#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    /// Attributes as `tagAttr` and `ctx.getTagAttributes` give them.
    Map(&'a BTreeMap<String, String>),
    /// One of the names of the plain data that is no list.
    Data(Data),
    /// The tag of that kind, or the group of that name, in the plain data.
    Named(Data, Cow<'a, str>),
}

impl<'a> Value<'a> {
    pub(super) fn texts(items: impl IntoIterator<Item = &'a str>) -> Self {
        Self::List(items.into_iter().map(|item| Value::Text(Cow::Borrowed(item))).collect())
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::List(_) | Self::Map(_) | Self::Data(_) | Self::Named(..) => true,
        }
    }

    pub(super) fn number(&self) -> Result<f64, Leave> {
        match self {
            Self::Undefined => Ok(f64::NAN),
            Self::Null => Ok(0.0),
            Self::Bool(value) => Ok(f64::from(u8::from(*value))),
            Self::Number(number) => Ok(*number),
            Self::Text(text) => number_of(text),
            Self::List(_) | Self::Map(_) | Self::Data(_) | Self::Named(..) => Err(Leave),
        }
    }

    pub(super) fn text(&self) -> Result<Cow<'_, str>, Leave> {
        Ok(match self {
            Self::Undefined => Cow::Borrowed("undefined"),
            Self::Null => Cow::Borrowed("null"),
            Self::Bool(true) => Cow::Borrowed("true"),
            Self::Bool(false) => Cow::Borrowed("false"),
            Self::Number(number) => Cow::Owned(text_of(*number)?),
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(_) | Self::Map(_) | Self::Data(_) | Self::Named(..) => return Err(Leave),
        })
    }

    /// `===`.
    pub(super) fn is_same(&self, other: &Self) -> Result<bool, Leave> {
        Ok(match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            #[expect(clippy::float_cmp, reason = "the language compares numbers so")]
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (a, b) if a.is_object() && b.is_object() => return Err(Leave),
            _ => false,
        })
    }

    /// `==`.
    pub(super) fn is_equal(&self, other: &Self) -> Result<bool, Leave> {
        let is_nothing = |value: &Self| matches!(value, Self::Undefined | Self::Null);
        match (is_nothing(self), is_nothing(other)) {
            (true, true) => return Ok(true),
            (true, false) | (false, true) => return Ok(false),
            (false, false) => {}
        }
        if self.is_object() || other.is_object() {
            return Err(Leave);
        }
        match (self, other) {
            (Self::Text(_), Self::Text(_)) | (Self::Bool(_), Self::Bool(_)) => self.is_same(other),
            #[expect(clippy::float_cmp, reason = "the language compares numbers so")]
            _ => Ok(self.number()? == other.number()?),
        }
    }

    fn is_object(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_) | Self::Data(_) | Self::Named(..))
    }
}

pub(super) fn binary<'a>(operator: Operator, a: &Value<'a>, b: &Value<'a>) -> Result<Value<'a>, Leave> {
    let compare = |test: fn(std::cmp::Ordering) -> bool| {
        let order = match (a, b) {
            // Texts are compared by units of 16 bits, which is another order outside of ASCII.
            (Value::Text(a), Value::Text(b)) if a.is_ascii() && b.is_ascii() => Some(a.cmp(b)),
            (Value::Text(_), Value::Text(_)) => return Err(Leave),
            _ => a.number()?.partial_cmp(&b.number()?),
        };
        Ok(Value::Bool(order.is_some_and(test)))
    };
    match operator {
        Operator::Same => a.is_same(b).map(Value::Bool),
        Operator::NotSame => a.is_same(b).map(|is| Value::Bool(!is)),
        Operator::Equal => a.is_equal(b).map(Value::Bool),
        Operator::NotEqual => a.is_equal(b).map(|is| Value::Bool(!is)),
        Operator::Less => compare(std::cmp::Ordering::is_lt),
        Operator::LessOrEqual => compare(std::cmp::Ordering::is_le),
        Operator::Greater => compare(std::cmp::Ordering::is_gt),
        Operator::GreaterOrEqual => compare(std::cmp::Ordering::is_ge),
        Operator::Add => match (a, b) {
            (Value::Text(_), _) | (_, Value::Text(_)) => {
                Ok(Value::Text(Cow::Owned(format!("{}{}", a.text()?, b.text()?))))
            }
            _ => Ok(Value::Number(a.number()? + b.number()?)),
        },
        Operator::Subtract => Ok(Value::Number(a.number()? - b.number()?)),
        Operator::Multiply => Ok(Value::Number(a.number()? * b.number()?)),
    }
}

fn number_of(text: &str) -> Result<f64, Leave> {
    if !text.is_ascii() {
        return Err(Leave);
    }
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    if text.is_empty() {
        return Ok(0.0);
    }
    let is_decimal = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if is_decimal {
        return Ok(text.parse().unwrap_or(f64::NAN));
    }
    // Other bases, and infinities.
    let is_special = text.starts_with('0') || text.contains("Infinity");
    if is_special { Err(Leave) } else { Ok(f64::NAN) }
}

/// Whole numbers below 2^53 and the like; how fractions are written is left to the engine.
fn text_of(number: f64) -> Result<String, Leave> {
    if number.is_nan() {
        return Ok("NaN".to_owned());
    }
    if number.fract() != 0.0 || number.abs() >= 9_007_199_254_740_992.0 {
        return Err(Leave);
    }
    // A negative zero is written without its sign.
    Ok(format!("{}", number + 0.0))
}
