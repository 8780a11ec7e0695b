//! What each mask makes of each type of column, as functions over whole arrays.

mod dates;
mod digest;
mod error;
mod keyed;
mod number;
mod profile;
mod shapes;
mod strings;
mod text;
mod token;

use std::fmt;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use stdx::Secret;

pub use error::MaskError;
pub use profile::Profile;

use dates::{Change, is_date};
use digest::Digest;
use keyed::Keyed;
use number::{Width, is_float, is_integer};
use text::{Classes, Rule, Shown};

/// By how many days a date mask moves at most, where the policy does not say.
const SHIFT_DAYS: u32 = 365;
/// A century either way.
const SHIFT_DAYS_MAX: u32 = 36_525;
/// A binary value of fixed length is hashed if enough of the digest has room, and the digest is long enough.
const HASHED_BYTES: std::ops::RangeInclusive<i32> = 16..=32;

/// Ranger's mask types, as the `hive` definition names them, and those that only we have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskType {
    /// Letters to `X` and `x`, digits to `n`.
    Mask,
    ShowLast4,
    ShowFirst4,
    Hash,
    Null,
    /// No mask: an exemption from its policy.
    None,
    DateShowYear,
    /// An expression of the policy's author.
    Custom,
    DateShowMonth,
    /// Moves dates by days that only the key knows.
    DateShift,
    /// The lower end of a bucket of numbers.
    Bucket,
    /// A keyed token that keeps the format.
    Token,
    /// The domain of an address.
    Email,
    /// The last four digits of a card number.
    Card,
}

impl MaskType {
    /// Every type with its name.
    pub const ALL: [(&'static str, Self); 14] = [
        ("MASK", Self::Mask),
        ("MASK_SHOW_LAST_4", Self::ShowLast4),
        ("MASK_SHOW_FIRST_4", Self::ShowFirst4),
        ("MASK_HASH", Self::Hash),
        ("MASK_NULL", Self::Null),
        ("MASK_NONE", Self::None),
        ("MASK_DATE_SHOW_YEAR", Self::DateShowYear),
        ("CUSTOM", Self::Custom),
        ("MASK_DATE_SHOW_MONTH", Self::DateShowMonth),
        ("MASK_DATE_SHIFT", Self::DateShift),
        ("MASK_BUCKET", Self::Bucket),
        ("MASK_TOKEN", Self::Token),
        ("MASK_EMAIL", Self::Email),
        ("MASK_CARD", Self::Card),
    ];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Whether what follows `USING` is a number, and no expression.
    pub fn takes_number(self) -> bool {
        matches!(self, Self::Bucket | Self::DateShift)
    }
}

/// What the kernels need to know besides the column.
#[derive(Clone, Debug)]
pub struct MaskSettings {
    /// The key of hashes, tokens and shifts.
    pub key: Secret,
    /// Whether a text of four characters or fewer is shown by the SHOW masks (Hive's behaviour).
    pub show_short_values: bool,
    pub profile: Profile,
}

/// Whether a mask type gives values of the column's own type; the others cannot be written on such a column (L1).
///
/// Masks that hide a part of a text or date give typed NULL on columns of other types, so they always fit. A hash, a
/// token, a shift and a bucket are there to tell values apart, so one that would tell none is a mistake.
pub fn fits(kind: MaskType, column: &DataType) -> bool {
    let column = value_type(column);
    match kind {
        MaskType::Hash => is_text(column) || is_hashed_binary(column),
        MaskType::Token => token::takes(column),
        MaskType::DateShift => is_date(column),
        MaskType::Bucket => {
            is_integer(column) || is_float(column) || matches!(column, DataType::Decimal128(..))
        }
        MaskType::Mask
        | MaskType::ShowLast4
        | MaskType::ShowFirst4
        | MaskType::Null
        | MaskType::None
        | MaskType::DateShowYear
        | MaskType::DateShowMonth
        | MaskType::Custom
        | MaskType::Email
        | MaskType::Card => true,
    }
}

/// Why the number after `USING` cannot be that of a mask type on a column, in the words of the policy's author.
///
/// # Errors
/// It is missing, is no number, or is none that the column's values can be multiples of.
pub fn check_number(kind: MaskType, column: &DataType, text: Option<&str>) -> Result<(), &'static str> {
    match (kind, text) {
        (MaskType::Bucket, None) => {
            Err("the mask type `MASK_BUCKET` needs the width of a bucket after `USING`")
        }
        (MaskType::Bucket, Some(text)) if Width::read(text, value_type(column)).is_none() => {
            Err("the width of a bucket is a positive number with no more decimals than the column has")
        }
        (MaskType::DateShift, Some(text)) if days(Some(text)).is_none() => {
            Err("a shift is a whole number of days from 1 to 36525")
        }
        _ => Ok(()),
    }
}

fn days(text: Option<&str>) -> Option<u32> {
    match text {
        None => Some(SHIFT_DAYS),
        Some(text) => text.trim().parse().ok().filter(|n| (1..=SHIFT_DAYS_MAX).contains(n)),
    }
}

/// What its reader gets of a masked column.
#[derive(Clone, PartialEq, Eq)]
pub enum Cover {
    /// What is stored.
    Nothing,
    /// NULL of the column's type: nothing of it need be read.
    Null,
    Mask(Mask),
}

/// What is done to the values of a column; its `Debug` never shows the key.
#[derive(Clone, PartialEq, Eq)]
pub struct Mask {
    name: &'static str,
    work: Work,
}

#[derive(Clone, PartialEq, Eq)]
enum Work {
    Text(Rule),
    Digest(Digest),
    HiveDigits(Shown),
    Date(Change),
    Bucket(Width),
    Token(Keyed),
    Email,
    Card,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Mask {
    /// The name of the mask's type.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The masked values of a column, whose type and NULLs stay; of a dictionary, each distinct value once, however
    /// many rows have it.
    ///
    /// # Errors
    /// The array is not of the type that the mask was made for.
    pub fn apply(&self, array: &ArrayRef) -> Result<ArrayRef, MaskError> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            return Ok(dictionary.with_values(self.apply(dictionary.values())?));
        }
        match &self.work {
            Work::Text(rule) => strings::mask(rule, array),
            Work::Digest(digest) => digest.mask(array),
            Work::HiveDigits(shown) => number::hive_digits(*shown, array),
            Work::Date(change) => dates::mask(change, array),
            Work::Bucket(width) => width.mask(array),
            Work::Token(keyed) => token::mask(keyed, array),
            Work::Email => strings::each(array, shapes::email),
            Work::Card => strings::each(array, shapes::card),
        }
    }
}

/// What stands for a column of a type under a mask, with the number that follows `USING`.
///
/// `None`: the mask cannot be made here, so the column must be restricted (L6); `CUSTOM` is an expression, and not made
/// here either.
pub fn cover(
    kind: MaskType,
    column: &DataType,
    number: Option<&str>,
    settings: &MaskSettings,
) -> Option<Cover> {
    match kind {
        MaskType::None => return Some(Cover::Nothing),
        MaskType::Custom => return None,
        _ => {}
    }
    let name = MaskType::ALL.iter().find(|(_, known)| *known == kind).map(|(name, _)| *name)?;
    Some(match plan(kind, value_type(column), number, settings)? {
        Plan::Null => Cover::Null,
        Plan::Work(work) => Cover::Mask(Mask { name, work }),
    })
}

enum Plan {
    Null,
    Work(Work),
}

fn plan(kind: MaskType, column: &DataType, number: Option<&str>, settings: &MaskSettings) -> Option<Plan> {
    let keyed = |purpose: &str| Keyed::for_purpose(settings.key.reveal().as_bytes(), purpose);
    let work = match kind {
        MaskType::Null | MaskType::None | MaskType::Custom => None,
        MaskType::Mask => redacted(Shown::Nothing, column, settings),
        MaskType::ShowLast4 => redacted(Shown::Last, column, settings),
        MaskType::ShowFirst4 => redacted(Shown::First, column, settings),
        MaskType::Hash => return hash(column, settings),
        MaskType::DateShowYear => year(column, settings),
        MaskType::DateShowMonth => is_date(column).then_some(Work::Date(Change::ToMonth)),
        MaskType::Email => is_text(column).then_some(Work::Email),
        MaskType::Card => is_text(column).then_some(Work::Card),
        // None of these has a NULL to fall back on: the column is restricted, and the log says so.
        MaskType::Token | MaskType::DateShift | MaskType::Bucket if !fits(kind, column) => return None,
        MaskType::Token => Some(Work::Token(keyed("token")?)),
        MaskType::DateShift => Some(Work::Date(Change::Shift(keyed("date shift")?, days(number)?))),
        MaskType::Bucket => Some(Work::Bucket(Width::read(number?, column)?)),
    };
    Some(work.map_or(Plan::Null, Plan::Work))
}

/// MASK and the two SHOW masks.
fn redacted(shown: Shown, column: &DataType, settings: &MaskSettings) -> Option<Work> {
    let is_whole = shown == Shown::Nothing;
    let (cover, shows_short, counts_utf16) = match settings.profile {
        Profile::Sluice => {
            (if is_whole { Classes::Ours } else { Classes::OursPlain }, settings.show_short_values, false)
        }
        Profile::Hive => (if is_whole { Classes::Hive } else { Classes::HivePlain }, true, true),
        Profile::Spark => (Classes::Spark, true, shown == Shown::First),
        Profile::Trino => (if is_whole { Classes::Trino } else { Classes::TrinoPlain }, true, false),
    };
    if is_text(column) {
        return Some(Work::Text(Rule { cover, shown, shows_short, counts_utf16 }));
    }
    match (settings.profile, column) {
        (Profile::Hive, DataType::Date32 | DataType::Date64) => Some(Work::Date(Change::ToYearZero)),
        (Profile::Hive, integer) if is_integer(integer) => Some(Work::HiveDigits(shown)),
        _ => None,
    }
}

fn hash(column: &DataType, settings: &MaskSettings) -> Option<Plan> {
    let keyed = || Keyed::new(settings.key.reveal().as_bytes()).map(Digest::Keyed);
    let digest = match settings.profile {
        Profile::Sluice if is_text(column) || is_hashed_binary(column) => keyed()?,
        Profile::Sluice => return None,
        Profile::Hive if is_text(column) => Digest::Sha256,
        Profile::Spark if is_text(column) => Digest::Md5,
        Profile::Trino if is_text(column) => Digest::Sha256Upper,
        Profile::Hive | Profile::Spark | Profile::Trino => return Some(Plan::Null),
    };
    Some(Plan::Work(Work::Digest(digest)))
}

fn year(column: &DataType, settings: &MaskSettings) -> Option<Work> {
    match (settings.profile, column) {
        // Hive's transformer is `mask` with other arguments, and takes what `mask` takes.
        (Profile::Hive, DataType::Timestamp(..)) => None,
        (Profile::Hive, text) if is_text(text) => Some(Work::Text(Rule {
            cover: Classes::HivePlain,
            shown: Shown::Nothing,
            shows_short: false,
            counts_utf16: false,
        })),
        (Profile::Hive, integer) if is_integer(integer) => Some(Work::HiveDigits(Shown::Nothing)),
        (_, date) if is_date(date) => Some(Work::Date(Change::ToYear)),
        _ => None,
    }
}

/// What a dictionary's keys stand for; any other type itself.
fn value_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_hashed_binary(kind: &DataType) -> bool {
    match kind {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::FixedSizeBinary(n_bytes) => HASHED_BYTES.contains(n_bytes),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
