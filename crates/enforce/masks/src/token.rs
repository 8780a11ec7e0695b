//! Tokens that keep a value's format: FF1 over its digits and letters, the same token for the same value.

use aes::Aes256;
use arrow_array::ArrayRef;
use arrow_array::types::Decimal128Type;
use arrow_schema::DataType;
use fpe::ff1::{FF1, FlexibleNumeralString};

use crate::error::MaskError;
use crate::keyed::Keyed;
use crate::text::stays;
use crate::{is_text, number, strings};

const DIGITS: u16 = 10;
const LETTERS: u16 = 26;
/// How often a number is encrypted anew until it has its length again; each time it fails in one case of ten.
const N_WALKS_MAX: usize = 1_000;

/// The two ciphers, ready for a batch.
struct Ciphers<'a> {
    keyed: &'a Keyed,
    digits: FF1<Aes256>,
    letters: FF1<Aes256>,
}

pub(crate) fn takes(kind: &DataType) -> bool {
    is_text(kind) || number::is_integer(kind) || matches!(kind, DataType::Decimal128(..))
}

pub(crate) fn mask(keyed: &Keyed, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
    let ciphers = Ciphers::new(keyed)?;
    match array.data_type() {
        DataType::Decimal128(precision, _) => {
            let largest = 10_i128.checked_pow((*precision).into()).map_or(i128::MAX, |n| n - 1);
            number::map::<Decimal128Type>(array, |value| ciphers.number(value, largest))
        }
        kind if is_text(kind) => strings::each(array, |text, out| ciphers.text(text, out)),
        _ => number::integers(array, |value, n_bits| {
            ciphers.number(value.into(), (1_i128 << n_bits.saturating_sub(1)) - 1)
        }),
    }
}

impl<'a> Ciphers<'a> {
    fn new(keyed: &'a Keyed) -> Result<Self, MaskError> {
        let key = keyed.digest(b"cipher");
        let cipher = |radix: u16| FF1::new(&key, radix.into()).map_err(|_| MaskError::Cipher);
        Ok(Self { keyed, digits: cipher(DIGITS)?, letters: cipher(LETTERS)? })
    }

    /// ASCII digits become digits, letters become letters of their case, punctuation and white space stay.
    ///
    /// Other letters and numbers are drawn from those of ASCII, and everything else becomes `x`.
    fn text(&self, text: &str, out: &mut String) {
        let digits = text.bytes().filter(u8::is_ascii_digit).map(|b| u16::from(b - b'0')).collect();
        let letters = text.bytes().filter(u8::is_ascii_alphabetic);
        let letters = letters.map(|b| u16::from(b.to_ascii_lowercase() - b'a')).collect();
        let mut digits = self.permuted(DIGITS, digits, text).into_iter();
        let mut letters = self.permuted(LETTERS, letters, text).into_iter();
        let mut drawn = Drawn { keyed: self.keyed, text, nth: 0 };
        for c in text.chars() {
            let token = if c.is_ascii_digit() {
                digit(digits.next().unwrap_or_default())
            } else if c.is_ascii_alphabetic() {
                letter(letters.next().unwrap_or_default(), c.is_ascii_uppercase())
            } else if stays(c) {
                c
            } else if c.is_alphabetic() {
                letter(drawn.next(LETTERS), c.is_uppercase())
            } else if c.is_numeric() {
                digit(drawn.next(DIGITS))
            } else {
                'x'
            };
            out.push(token);
        }
    }

    /// As many digits as the value has, and its sign.
    fn number(&self, value: i128, largest: i128) -> Option<i128> {
        let text = value.unsigned_abs().to_string();
        let mut digits: Vec<u16> = text.bytes().map(|b| u16::from(b.saturating_sub(b'0'))).collect();
        for _ in 0..N_WALKS_MAX {
            let Ok(next) = self.digits.encrypt(b"number", &FlexibleNumeralString::from(digits)) else {
                return self.short_number(value, text.len(), largest);
            };
            digits = next.into();
            let token = digits.iter().try_fold(0_i128, |n, d| n.checked_mul(10)?.checked_add((*d).into()));
            if let Some(token) = token.filter(|token| *token <= largest)
                && digits.first() != Some(&0)
            {
                return Some(token * value.signum());
            }
        }
        None
    }

    /// FF1 is not safe on fewer than a million values; a number of few digits gets one that the key draws.
    fn short_number(&self, value: i128, n_digits: usize, largest: i128) -> Option<i128> {
        let n_digits = u32::try_from(n_digits).ok()?;
        let least = if n_digits == 1 { 0 } else { 10_i128.checked_pow(n_digits - 1)? };
        let n_values = (10_i128.checked_pow(n_digits)? - 1).min(largest) - least + 1;
        let drawn = self.keyed.number(&value.to_le_bytes()).checked_rem(u128::try_from(n_values).ok()?)?;
        Some((least + i128::try_from(drawn).ok()?) * if value < 0 { -1 } else { 1 })
    }

    fn permuted(&self, radix: u16, numerals: Vec<u16>, text: &str) -> Vec<u16> {
        let cipher = if radix == DIGITS { &self.digits } else { &self.letters };
        let n_numerals = numerals.len();
        match cipher.encrypt(b"text", &FlexibleNumeralString::from(numerals)) {
            Ok(permuted) => permuted.into(),
            // Too few for FF1, see above.
            Err(_) => {
                let mut drawn = Drawn { keyed: self.keyed, text, nth: u64::from(radix) << 32 };
                (0..n_numerals).map(|_| drawn.next(radix)).collect()
            }
        }
    }
}

/// Numerals that the key draws for a text, one after the other.
struct Drawn<'a> {
    keyed: &'a Keyed,
    text: &'a str,
    nth: u64,
}

impl Drawn<'_> {
    fn next(&mut self, radix: u16) -> u16 {
        let mut message = self.nth.to_le_bytes().to_vec();
        message.extend_from_slice(self.text.as_bytes());
        self.nth += 1;
        u16::try_from(self.keyed.number(&message) % u128::from(radix)).unwrap_or_default()
    }
}

fn digit(numeral: u16) -> char {
    char::from(b'0' + u8::try_from(numeral).unwrap_or_default())
}

fn letter(numeral: u16, is_upper: bool) -> char {
    let first = if is_upper { b'A' } else { b'a' };
    char::from(first + u8::try_from(numeral).unwrap_or_default())
}
