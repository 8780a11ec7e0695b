//! The masks as expressions over the stored column.

mod kernel;
mod parts;

use arrow::datatypes::Field;
use datafusion_common::{Column, ScalarValue};
use datafusion_expr::{Expr, ScalarUDF, cast};
use masks::{Cover, cover};

pub use masks::{MaskSettings, MaskType, Profile, check_number, fits};
pub use parts::{PartCover, parts_expr, parts_in};

use kernel::Kernel;
use parts::Shape;

/// The expression that stands for a masked column; `custom` is the bound expression of `CUSTOM`, `number` what follows
/// `USING` of other types.
///
/// `None`: the mask cannot be built, so the column must be restricted (L6).
pub fn mask_expr(
    kind: MaskType,
    field: &Field,
    custom: Option<Expr>,
    number: Option<&str>,
    settings: &MaskSettings,
) -> Option<Expr> {
    if kind == MaskType::Custom {
        return Some(cast(custom?, field.data_type().clone()));
    }
    let column = || Expr::Column(Column::from_name(field.name()));
    match cover(kind, field.data_type(), number, settings)? {
        Cover::Nothing => Some(column()),
        Cover::Null => ScalarValue::try_from(field.data_type()).ok().map(|null| Expr::Literal(null, None)),
        Cover::Mask(mask) => Some(ScalarUDF::from(Kernel::new(Shape::Mask(mask))).call(vec![column()])),
    }
}

#[cfg(test)]
mod tests;
