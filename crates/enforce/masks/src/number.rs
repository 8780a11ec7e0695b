//! Numbers: in buckets, or digit by digit as Hive masks them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;

use crate::error::{MaskError, not_taken};
use crate::text::{SHOWN, Shown};

/// The width of buckets, in units of the column's scale.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Width {
    Whole(i128),
    Floating(f64),
}

// A width is never NaN.
impl Eq for Width {}

pub(crate) fn is_integer(kind: &DataType) -> bool {
    matches!(kind, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64)
}

pub(crate) fn is_float(kind: &DataType) -> bool {
    matches!(kind, DataType::Float32 | DataType::Float64)
}

impl Width {
    /// Reads a positive number such as `10` or `0.25`; `None` if the column's values cannot be multiples of it.
    pub(crate) fn read(text: &str, kind: &DataType) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return None;
        }
        if is_float(kind) {
            return text
                .parse()
                .ok()
                .filter(|width: &f64| *width > 0.0 && width.is_finite())
                .map(Self::Floating);
        }
        let scale = match kind {
            DataType::Decimal128(_, scale) => usize::try_from(*scale).ok()?,
            kind if is_integer(kind) => 0,
            _ => return None,
        };
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let part = part.trim_end_matches('0');
        if part.len() > scale {
            return None;
        }
        let digits = format!("{whole}{part:0<scale$}");
        digits.parse().ok().filter(|width| *width > 0).map(Self::Whole)
    }

    /// The lower end of each value's bucket; NULL where the type has no such number.
    pub(crate) fn mask(self, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
        match (array.data_type(), self) {
            (DataType::Float32, Self::Floating(width)) => {
                map::<Float32Type>(array, |v| Some((floor(v.into(), width)) as f32))
            }
            (DataType::Float64, Self::Floating(width)) => {
                map::<Float64Type>(array, |v| Some(floor(v, width)))
            }
            (DataType::Decimal128(..), Self::Whole(width)) => {
                map::<Decimal128Type>(array, |v| v.checked_div_euclid(width)?.checked_mul(width))
            }
            (_, Self::Whole(width)) => {
                integers(array, |value, _| i128::from(value).checked_div_euclid(width)?.checked_mul(width))
            }
            (other, Self::Floating(_)) => Err(not_taken("floats", other)),
        }
    }
}

fn floor(value: f64, width: f64) -> f64 {
    (value / width).floor() * width
}

/// Digits become 1 but for those that are shown, in Java's arithmetic, in which numbers run over.
pub(crate) fn hive_digits(shown: Shown, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
    integers(array, |value, n_bits| {
        let masked = digits(value, n_bits, shown);
        // What Java keeps of a number in a narrower type.
        let n_lost = 64 - n_bits;
        Some(i128::from(masked.wrapping_shl(n_lost).wrapping_shr(n_lost)))
    })
}

fn digits(value: i64, n_bits: u32, shown: Shown) -> i64 {
    if value == 0 {
        return i64::from(shown == Shown::Nothing);
    }
    // The least number of a type has no positive counterpart, and stays negative.
    let is_least = value.checked_shl(64 - n_bits) == Some(i64::MIN);
    let mut rest = if is_least { value } else { value.wrapping_abs() };
    let n_digits = usize::try_from(rest.unsigned_abs().ilog10() + 1).unwrap_or_default();
    let is_kept = |nth: usize| match shown {
        Shown::Nothing => false,
        Shown::Last => nth < SHOWN,
        Shown::First => nth + SHOWN >= n_digits,
    };
    if shown == Shown::First && n_digits <= SHOWN {
        return value;
    }
    let (mut masked, mut place) = (0_i64, 1_i64);
    for nth in 0..n_digits {
        let digit = if is_kept(nth) { rest % 10 } else { 1 };
        masked = masked.wrapping_add(digit.wrapping_mul(place));
        place = place.wrapping_mul(10);
        rest /= 10;
    }
    if value < 0 { masked.wrapping_neg() } else { masked }
}

/// Changes integers of any width, which the closure is told in bits; what does not fit becomes NULL.
pub(crate) fn integers(
    array: &ArrayRef,
    change: impl Fn(i64, u32) -> Option<i128>,
) -> Result<ArrayRef, MaskError> {
    match array.data_type() {
        DataType::Int8 => map::<Int8Type>(array, |v| change(v.into(), 8)?.try_into().ok()),
        DataType::Int16 => map::<Int16Type>(array, |v| change(v.into(), 16)?.try_into().ok()),
        DataType::Int32 => map::<Int32Type>(array, |v| change(v.into(), 32)?.try_into().ok()),
        DataType::Int64 => map::<Int64Type>(array, |v| change(v, 64)?.try_into().ok()),
        other => Err(not_taken("integers", other)),
    }
}

/// Changes each value by itself.
pub(crate) fn map<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    change: impl Fn(T::Native) -> Option<T::Native>,
) -> Result<ArrayRef, MaskError> {
    let Some(array) = array.as_primitive_opt::<T>() else {
        return Err(not_taken("numbers", array.data_type()));
    };
    let changed: PrimitiveArray<T> = array.iter().map(|value| value.and_then(&change)).collect();
    // Keeps precision, scale and time zone.
    Ok(Arc::new(changed.with_data_type(array.data_type().clone())))
}
