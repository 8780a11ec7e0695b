//! Decimals in PostgreSQL's two forms: digits with a point, and groups of four digits.

use std::fmt::Write;

use arrow::datatypes::i256;
use bytes::{BufMut, BytesMut};
use stdx::ErrorKind;

use crate::answer::Refusal;

/// Digits that an `i256` surely holds.
const DIGITS_MAX: usize = 76;

/// Digits after the point that are still read, zeros among them: an exponent must not become a gigabyte of zeros.
const SCALE_MAX: i64 = 1_000;

/// `unscaled` divided by ten to the power of `scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numeric {
    unscaled: i256,
    scale: usize,
}

impl Numeric {
    pub(crate) fn of_integer(value: i64) -> Self {
        Self { unscaled: i256::from_i128(value.into()), scale: 0 }
    }

    /// The unscaled value at another scale, if that loses no digit and fits the precision.
    pub(crate) fn unscaled_at(&self, precision: u8, scale: i8) -> Result<i256, Refusal> {
        let misfit = || {
            Refusal::of(
                ErrorKind::OutOfRange,
                format!("`{}` does not fit numeric({precision},{scale})", self.to_text()),
            )
        };
        let from = i64::try_from(self.scale).map_err(|_| misfit())?;
        let shift = i64::from(scale) - from;
        let factor =
            u32::try_from(shift.unsigned_abs()).ok().and_then(|n| i256::from_i128(10).checked_pow(n));
        let unscaled = match (shift >= 0, factor) {
            (true, Some(factor)) => self.unscaled.checked_mul(factor),
            (true, None) | (false, None) => (self.unscaled == i256::ZERO).then_some(i256::ZERO),
            (false, Some(factor)) => {
                let exact = self.unscaled.checked_rem(factor) == Some(i256::ZERO);
                if exact { self.unscaled.checked_div(factor) } else { None }
            }
        };
        let bound = i256::from_i128(10).checked_pow(precision.into());
        match (unscaled, bound) {
            (Some(unscaled), Some(bound)) if unscaled.wrapping_abs() < bound => Ok(unscaled),
            _ => Err(misfit()),
        }
    }

    pub(crate) fn to_text(self) -> String {
        let scale = i64::try_from(self.scale).unwrap_or(0);
        let mut out = BytesMut::new();
        write_text(&self.unscaled.to_string(), scale, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Reads `-12.50` or `1e-3`; blanks around it are let go, as PostgreSQL does.
pub(crate) fn parse_numeric(text: &str) -> Result<Numeric, Refusal> {
    let bad = || Refusal::of(ErrorKind::BadText, format!("`{text}` is no value of type numeric"));
    let trimmed = text.trim();
    if ["nan", "infinity", "inf", "-infinity", "-inf"].contains(&trimmed.to_ascii_lowercase().as_str()) {
        return Err(no_such_numeric(trimmed));
    }
    let (mantissa, exponent) = match trimmed.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| bad())?),
        None => (trimmed, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return Err(bad());
    }
    let scale = i64::try_from(fraction.len()).map_err(|_| bad())?.checked_sub(exponent).ok_or_else(bad)?;
    of_digits(negative, &format!("{whole}{fraction}"), scale)
}

/// Reads the binary form: counts, weight, sign and scale, then groups of four digits.
pub(crate) fn read_numeric(bytes: &[u8]) -> Result<Numeric, Refusal> {
    let bad = || Refusal::new("22P03", "incorrect binary data format for a numeric");
    let word = |idx: usize| -> Option<u16> {
        bytes.get(idx.checked_mul(2)?..)?.first_chunk::<2>().map(|pair| u16::from_be_bytes(*pair))
    };
    let (Some(n_groups), Some(weight), Some(sign), Some(display_scale)) =
        (word(0), word(1), word(2), word(3))
    else {
        return Err(bad());
    };
    let n_groups = usize::from(n_groups);
    if bytes.len() != 8 + 2 * n_groups {
        return Err(bad());
    }
    let negative = match sign {
        0x0000 => false,
        0x4000 => true,
        0xC000 => return Err(no_such_numeric("NaN")),
        0xD000 | 0xF000 => return Err(no_such_numeric("Infinity")),
        _ => return Err(bad()),
    };
    let mut digits = String::new();
    for idx in 0..n_groups {
        let group = word(4 + idx).filter(|group| *group < 10_000).ok_or_else(bad)?;
        // Writing to a string cannot fail.
        let _ = write!(digits, "{group:04}");
    }
    let weight = i64::from(i16::from_be_bytes(weight.to_be_bytes()));
    let n_fraction_groups = i64::from(u16::try_from(n_groups).map_err(|_| bad())?) - 1 - weight;
    let mut numeric = of_digits(negative, &digits, n_fraction_groups * 4)?;
    // The groups may end in zeros that the declared scale does not have, or leave out zeros that it does.
    if let Ok(scale) = i8::try_from(display_scale)
        && let Ok(unscaled) = numeric.unscaled_at(76, scale)
    {
        numeric = Numeric { unscaled, scale: display_scale.into() };
    }
    Ok(numeric)
}

fn of_digits(negative: bool, digits: &str, scale: i64) -> Result<Numeric, Refusal> {
    let too_long =
        || Refusal::of(ErrorKind::OutOfRange, format!("a numeric has more than {DIGITS_MAX} digits"));
    let significant = digits.trim_start_matches('0');
    if scale > SCALE_MAX {
        return Err(too_long());
    }
    let (significant, scale) = if significant.is_empty() {
        (significant.to_owned(), scale.max(0))
    } else if scale < 0 {
        let n_zeros = usize::try_from(scale.unsigned_abs()).map_err(|_| too_long())?;
        if n_zeros > DIGITS_MAX {
            return Err(too_long());
        }
        (format!("{significant}{}", "0".repeat(n_zeros)), 0)
    } else {
        (significant.to_owned(), scale)
    };
    if significant.len() > DIGITS_MAX {
        return Err(too_long());
    }
    let text = if significant.is_empty() { "0" } else { &significant };
    let unscaled = i256::from_string(text).ok_or_else(too_long)?;
    let unscaled = if negative { unscaled.wrapping_neg() } else { unscaled };
    Ok(Numeric { unscaled, scale: usize::try_from(scale).map_err(|_| too_long())? })
}

fn no_such_numeric(text: &str) -> Refusal {
    Refusal::of(ErrorKind::OutOfRange, format!("numeric has no value `{text}` here"))
}

/// Writes the digits of an unscaled value with the point put in; every digit of the scale is shown.
pub(crate) fn write_text(unscaled: &str, scale: i64, out: &mut BytesMut) {
    let (negative, digits) = sign_of(unscaled);
    if negative {
        out.put_u8(b'-');
    }
    let (whole, fraction) = parts(digits, scale);
    out.put_slice(if whole.is_empty() { b"0" } else { whole.as_bytes() });
    if !fraction.is_empty() {
        out.put_u8(b'.');
        out.put_slice(fraction.as_bytes());
    }
}

/// Writes the binary form of an unscaled value.
pub(crate) fn write_binary(unscaled: &str, scale: i64, out: &mut BytesMut) -> Result<(), Refusal> {
    let (negative, digits) = sign_of(unscaled);
    let (whole, fraction) = parts(digits, scale);
    let n_whole_groups = whole.len().div_ceil(4);
    let padded = format!(
        "{}{whole}{fraction}{}",
        "0".repeat(n_whole_groups * 4 - whole.len()),
        "0".repeat(fraction.len().div_ceil(4) * 4 - fraction.len()),
    );
    let mut groups: Vec<u16> = padded
        .as_bytes()
        .chunks(4)
        .map(|chunk| chunk.iter().fold(0, |n, d| n * 10 + u16::from(d - b'0')))
        .collect();
    let mut weight = i64::try_from(n_whole_groups).map_err(|_| Refusal::internal())? - 1;
    while groups.last() == Some(&0) {
        groups.pop();
    }
    let n_leading = groups.iter().take_while(|group| **group == 0).count();
    groups.drain(..n_leading);
    weight -= i64::try_from(n_leading).map_err(|_| Refusal::internal())?;
    if groups.is_empty() {
        weight = 0;
    }
    let fits = |n: usize| i16::try_from(n).map_err(|_| Refusal::internal());
    out.put_i16(fits(groups.len())?);
    out.put_i16(i16::try_from(weight).map_err(|_| Refusal::internal())?);
    out.put_u16(if negative && !groups.is_empty() { 0x4000 } else { 0 });
    out.put_i16(fits(fraction.len())?);
    for group in groups {
        out.put_u16(group);
    }
    Ok(())
}

fn sign_of(unscaled: &str) -> (bool, &str) {
    match unscaled.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, unscaled),
    }
}

/// The digits before and after the point, the first without leading zeros.
fn parts(digits: &str, scale: i64) -> (String, String) {
    let digits = digits.trim_start_matches('0');
    let Ok(scale) = usize::try_from(scale) else {
        let n_zeros = usize::try_from(scale.unsigned_abs()).unwrap_or(0);
        let whole =
            if digits.is_empty() { String::new() } else { format!("{digits}{}", "0".repeat(n_zeros)) };
        return (whole, String::new());
    };
    let n_whole = digits.len().saturating_sub(scale);
    let (whole, fraction) = digits.split_at_checked(n_whole).unwrap_or((digits, ""));
    (whole.to_owned(), format!("{}{fraction}", "0".repeat(scale - fraction.len())))
}
