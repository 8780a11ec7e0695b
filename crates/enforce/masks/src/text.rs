//! Masks of one text: what stands for each character, and which part of a value is shown.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// How many characters the SHOW masks leave.
pub(crate) const SHOWN: usize = 4;

/// What stands for the characters that are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Classes {
    /// Upper-case letters to `X`, other letters to `x`, numbers to `n`; ASCII punctuation and white space stay.
    ///
    /// Whatever is left (marks, symbols, emoji) becomes `x`: it may tell as much as a letter.
    Ours,
    /// The same, and letters and numbers alike to `x`.
    OursPlain,
    /// By Java's classes of characters; what is neither upper case, lower case nor a decimal digit stays.
    Hive,
    HivePlain,
    /// ASCII letters and digits by class, everything else to `U`.
    Spark,
    /// ASCII letters and digits by class, digits to `0`, everything else stays.
    Trino,
    /// Everything to `X`.
    TrinoPlain,
}

/// Which part of a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    First,
    Last,
}

/// How a text is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) cover: Classes,
    pub(crate) shown: Shown,
    /// Whether a text of four characters or fewer is shown.
    pub(crate) shows_short: bool,
    /// Whether characters beyond the basic plane count twice, as in Java.
    pub(crate) counts_utf16: bool,
}

impl Rule {
    /// The masked text of any value.
    pub(crate) fn mask(&self, text: &str, out: &mut String) {
        let width = |c: char| if self.counts_utf16 { c.len_utf16() } else { 1 };
        let n_units: usize = text.chars().map(width).sum();
        let is_shown = |at: usize| match self.shown {
            Shown::Nothing => false,
            Shown::First | Shown::Last if n_units <= SHOWN => self.shows_short,
            Shown::First => at < SHOWN,
            Shown::Last => at + SHOWN >= n_units,
        };
        let mut at = 0;
        for c in text.chars() {
            out.push(if is_shown(at) { c } else { self.cover.wide(c) });
            at += width(c);
        }
    }

    /// Where in an ASCII text of so many bytes the shown part begins, and how long it is.
    pub(crate) fn shown_of(&self, n_bytes: usize) -> (usize, usize) {
        match self.shown {
            Shown::Nothing => (0, 0),
            Shown::First | Shown::Last if n_bytes <= SHOWN => (0, if self.shows_short { n_bytes } else { 0 }),
            Shown::First => (0, SHOWN),
            Shown::Last => (n_bytes - SHOWN, SHOWN),
        }
    }
}

impl Classes {
    fn wide(self, c: char) -> char {
        if let (true, Ok(byte)) = (c.is_ascii(), u8::try_from(c)) {
            let mut one = [byte];
            self.ascii(&mut one);
            let [covered] = one;
            return char::from(covered);
        }
        match self {
            Self::Ours if c.is_uppercase() => 'X',
            Self::Ours if !c.is_alphabetic() && c.is_numeric() => 'n',
            Self::Ours | Self::OursPlain => {
                if c.is_whitespace() {
                    c
                } else {
                    'x'
                }
            }
            Self::Hive => by_category(c, 'X', 'x', 'n'),
            Self::HivePlain => by_category(c, 'x', 'x', 'x'),
            Self::Spark => 'U',
            Self::Trino => c,
            Self::TrinoPlain => 'X',
        }
    }

    /// Covers ASCII bytes in place; each loop is one that the compiler turns into vector instructions.
    #[inline]
    pub(crate) fn ascii(self, bytes: &mut [u8]) {
        match self {
            Self::Ours => each(bytes, |b| classes(b, b'n', if is_strange(b) { b'x' } else { b })),
            Self::OursPlain => each(bytes, |b| if is_word(b) | is_strange(b) { b'x' } else { b }),
            Self::Hive => each(bytes, |b| classes(b, b'n', b)),
            Self::HivePlain => each(bytes, |b| if is_word(b) { b'x' } else { b }),
            Self::Spark => each(bytes, |b| classes(b, b'n', b'U')),
            Self::Trino => each(bytes, |b| classes(b, b'0', b)),
            Self::TrinoPlain => bytes.fill(b'X'),
        }
    }
}

#[inline]
fn each(bytes: &mut [u8], cover: impl Fn(u8) -> u8) {
    for byte in bytes {
        *byte = cover(*byte);
    }
}

#[inline]
fn classes(b: u8, digit: u8, other: u8) -> u8 {
    if b.wrapping_sub(b'A') < 26 {
        b'X'
    } else if b.wrapping_sub(b'a') < 26 {
        b'x'
    } else if b.wrapping_sub(b'0') < 10 {
        digit
    } else {
        other
    }
}

#[inline]
fn is_word(b: u8) -> bool {
    ((b | 0x20).wrapping_sub(b'a') < 26) | (b.wrapping_sub(b'0') < 10)
}

/// Neither a word character, nor punctuation, nor white space.
#[inline]
fn is_strange(b: u8) -> bool {
    ((b < 0x20) & (b.wrapping_sub(9) >= 5)) | (b == 0x7f)
}

/// Whether our own masks leave a character as it is.
pub(crate) fn stays(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_whitespace()
}

fn by_category(c: char, upper: char, lower: char, digit: char) -> char {
    match c.general_category() {
        GeneralCategory::UppercaseLetter => upper,
        GeneralCategory::LowercaseLetter => lower,
        GeneralCategory::DecimalNumber => digit,
        _ => c,
    }
}
