//! Which predicates can neither fail nor have effects, and so may run beside a row filter (L4).

use arrow::datatypes::{DataType, Schema};
use datafusion_expr::{BinaryExpr, Expr, Operator};

/// Longer patterns go through a regex compiler that has limits of its own.
pub(crate) const LIKE_PATTERN_BYTES_MAX: usize = 256;

/// Whether `predicate` may be evaluated on rows that a filter hides.
///
/// It may if its outcome on a hidden row can be neither seen nor felt: comparisons of bare columns and literals of
/// one type, their boolean combinations, NULL tests, lists of literals, simple LIKE, and widening casts. It must
/// mention a column: one without (`1/0 = 1`) would be raised or not according to whether hidden rows exist.
/// `may_read` says whether a column is free of masks.
pub fn is_harmless(predicate: &Expr, schema: &Schema, may_read: &dyn Fn(&str) -> bool) -> bool {
    !predicate.column_refs().is_empty() && is_condition(predicate, schema, may_read)
}

fn is_condition(expr: &Expr, schema: &Schema, may_read: &dyn Fn(&str) -> bool) -> bool {
    let condition = |part: &Expr| is_condition(part, schema, may_read);
    let operand = |part: &Expr| operand_type(part, schema, may_read);
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
            Operator::And | Operator::Or => condition(left) && condition(right),
            Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom => match (operand(left), operand(right)) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
            _ => false,
        },
        Expr::Not(inner)
        | Expr::IsTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsNotUnknown(inner) => condition(inner),
        Expr::IsNull(inner) | Expr::IsNotNull(inner) => operand(inner).is_some() || condition(inner),
        Expr::Between(between) => {
            match (operand(&between.expr), operand(&between.low), operand(&between.high)) {
                (Some(value), Some(low), Some(high)) => value == low && value == high,
                _ => false,
            }
        }
        Expr::InList(list) => match operand(&list.expr) {
            Some(value) => list.list.iter().all(|item| {
                matches!(item, Expr::Literal(..)) && operand(item).is_some_and(|item| item == value)
            }),
            None => false,
        },
        Expr::Like(like) if !like.case_insensitive && like.escape_char.is_none() => {
            let is_simple = match like.pattern.as_ref() {
                Expr::Literal(value, _) => value
                    .try_as_str()
                    .flatten()
                    .is_some_and(|text| text.len() <= LIKE_PATTERN_BYTES_MAX && !text.contains('\\')),
                _ => false,
            };
            is_simple && operand(&like.expr).is_some_and(|value| is_text(&value))
        }
        Expr::Column(column) => {
            may_read(&column.name)
                && schema
                    .field_with_name(&column.name)
                    .is_ok_and(|field| *field.data_type() == DataType::Boolean)
        }
        Expr::Literal(value, _) => matches!(value.data_type(), DataType::Boolean | DataType::Null),
        _ => false,
    }
}

/// The type of a bare column, a literal, or a cast of one that cannot lose anything; `None` for anything else.
fn operand_type(expr: &Expr, schema: &Schema, may_read: &dyn Fn(&str) -> bool) -> Option<DataType> {
    let kind = match expr {
        Expr::Column(column) if may_read(&column.name) => {
            schema.field_with_name(&column.name).ok()?.data_type().clone()
        }
        Expr::Literal(value, _) => value.data_type(),
        Expr::Cast(cast) => {
            let from = operand_type(&cast.expr, schema, may_read)?;
            let to = cast.field.data_type().clone();
            if !widens(&from, &to) {
                return None;
            }
            to
        }
        _ => return None,
    };
    is_comparable(&kind).then_some(kind)
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_comparable(kind: &DataType) -> bool {
    kind.is_primitive()
        || is_text(kind)
        || matches!(
            kind,
            DataType::Boolean
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        )
}

/// Whether every value of `from` has its value in `to`, so that the cast cannot fail.
pub(crate) fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType::{
        Decimal128, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, UInt8, UInt16, UInt32, UInt64,
        Utf8, Utf8View,
    };
    if from == to {
        return true;
    }
    match (from, to) {
        (Int8, Int16 | Int32 | Int64)
        | (Int16, Int32 | Int64)
        | (Int32, Int64)
        | (UInt8, UInt16 | UInt32 | UInt64 | Int16 | Int32 | Int64)
        | (UInt16, UInt32 | UInt64 | Int32 | Int64)
        | (UInt32, UInt64 | Int64)
        | (Int8 | Int16 | Int32 | Float32, Float64)
        | (Utf8 | LargeUtf8 | Utf8View, Utf8 | LargeUtf8 | Utf8View) => true,
        // Digits may be lost, and never the order or the value: 38 digits fit, and the rounding of a quotient by a
        // constant is monotonous. The same predicate gives the same answer above the barrier.
        (Decimal128(..), Float64) => true,
        (Decimal128(p1, s1), Decimal128(p2, s2)) => {
            s2 >= s1 && i16::from(*p2) - i16::from(*s2) >= i16::from(*p1) - i16::from(*s1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
