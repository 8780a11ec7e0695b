//! The eight mask types as expressions over the stored column.

mod hash;
mod kernel;
mod text;
mod year;

use arrow::datatypes::{DataType, Field};
use datafusion_common::ScalarValue;
use datafusion_expr::{Expr, ScalarUDF, cast};
use stdx::Secret;

use kernel::Kernel;

/// Ranger's mask types, as the `hive` definition names them.
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
}

impl MaskType {
    /// Every type with its name.
    pub const ALL: [(&'static str, Self); 8] = [
        ("MASK", Self::Mask),
        ("MASK_SHOW_LAST_4", Self::ShowLast4),
        ("MASK_SHOW_FIRST_4", Self::ShowFirst4),
        ("MASK_HASH", Self::Hash),
        ("MASK_NULL", Self::Null),
        ("MASK_NONE", Self::None),
        ("MASK_DATE_SHOW_YEAR", Self::DateShowYear),
        ("CUSTOM", Self::Custom),
    ];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// What the kernels need to know besides the column.
#[derive(Clone, Debug)]
pub struct MaskSettings {
    /// The key of `MASK_HASH`.
    pub key: Secret,
    /// Whether a text of four characters or fewer is shown by the SHOW masks (Hive's behaviour).
    pub show_short_values: bool,
}

/// Whether a mask type gives values of the column's own type; the others cannot be written on such a column (L1).
///
/// Masks on text give typed NULL on columns that are no text, and the date mask on columns that are no date, so they
/// always fit; a hash is a text and fits text alone.
pub fn fits(kind: MaskType, column: &DataType) -> bool {
    kind != MaskType::Hash || is_text(column)
}

/// The expression that stands for a masked column; `custom` is the bound expression of `CUSTOM`.
///
/// `None`: the mask cannot be built, so the column must be restricted (L6).
pub fn mask_expr(
    kind: MaskType,
    field: &Field,
    custom: Option<Expr>,
    settings: &MaskSettings,
) -> Option<Expr> {
    let data_type = field.data_type();
    let null = || ScalarValue::try_from(data_type).ok().map(|value| Expr::Literal(value, None));
    let column = || Expr::Column(datafusion_common::Column::from_name(field.name()));
    let call = |kernel: Kernel| Some(ScalarUDF::from(kernel).call(vec![column()]));
    match kind {
        MaskType::None => Some(column()),
        MaskType::Null => null(),
        MaskType::Custom => {
            let custom = custom?;
            Some(cast(custom, data_type.clone()))
        }
        MaskType::Hash if is_text(data_type) => call(Kernel::hash(settings.key.clone())),
        MaskType::Hash => None,
        MaskType::Mask if is_text(data_type) => call(Kernel::classes()),
        MaskType::ShowLast4 if is_text(data_type) => call(Kernel::last_4(settings.show_short_values)),
        MaskType::ShowFirst4 if is_text(data_type) => call(Kernel::first_4(settings.show_short_values)),
        MaskType::Mask | MaskType::ShowLast4 | MaskType::ShowFirst4 => null(),
        MaskType::DateShowYear if year::is_date(data_type) => call(Kernel::year()),
        MaskType::DateShowYear => null(),
    }
}

pub(crate) fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

#[cfg(test)]
mod tests;
