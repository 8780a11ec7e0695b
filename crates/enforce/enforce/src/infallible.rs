//! Which row filters give an answer for whatever is stored, so that a reader's own predicates may run beside them (L2).

use arrow::datatypes::Schema;
use datafusion_common::ScalarValue;
use datafusion_expr::expr::InList;
use datafusion_expr::{BinaryExpr, Expr, Operator};

use crate::harmless::{LIKE_PATTERN_BYTES_MAX, is_harmless, widens};

/// Functions that give a value for every argument.
const FUNCTIONS: [&str; 10] = [
    "btrim",
    "character_length",
    "coalesce",
    "concat",
    "lower",
    "ltrim",
    "nullif",
    "rtrim",
    "starts_with",
    "upper",
];

/// Whether a policy's own expression, already coerced, has a value for every row that can be stored.
///
/// One that can fail tells of hidden rows by failing or not, if the reader may choose the rows that it meets: her
/// predicate on a hidden value would say whether such a row is there.
pub fn cannot_fail(expr: &Expr, schema: &Schema) -> bool {
    let all = |parts: &[&Expr]| parts.iter().all(|part| cannot_fail(part, schema));
    if is_harmless(expr, schema, &|_| true) {
        return true;
    }
    match expr {
        Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::Literal(..) => true,
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
            Operator::And
            | Operator::Or
            | Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
            | Operator::StringConcat => all(&[left, right]),
            Operator::Modulo | Operator::Divide => is_divisor(right) && all(&[left]),
            _ => false,
        },
        Expr::Not(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsNotUnknown(inner) => all(&[inner]),
        Expr::Between(between) => all(&[&between.expr, &between.low, &between.high]),
        Expr::InList(InList { expr, list, .. }) => all(&[expr]) && list.iter().all(|item| all(&[item])),
        Expr::Like(like) => {
            let is_simple = match like.pattern.as_ref() {
                Expr::Literal(value, _) => value
                    .try_as_str()
                    .flatten()
                    .is_some_and(|text| text.len() <= LIKE_PATTERN_BYTES_MAX && !text.contains('\\')),
                _ => false,
            };
            is_simple && like.escape_char.is_none() && all(&[&like.expr])
        }
        Expr::Case(case) => {
            case.expr.iter().chain(&case.else_expr).all(|part| all(&[part]))
                && case.when_then_expr.iter().all(|(when, then)| all(&[when, then]))
        }
        Expr::Cast(cast) => {
            let from = match cast.expr.as_ref() {
                Expr::Column(column) => {
                    schema.field_with_name(&column.name).ok().map(|field| field.data_type().clone())
                }
                Expr::Literal(value, _) => Some(value.data_type()),
                _ => None,
            };
            from.is_some_and(|from| widens(&from, cast.field.data_type()))
        }
        Expr::ScalarFunction(call) => {
            FUNCTIONS.contains(&call.func.name()) && call.args.iter().all(|arg| all(&[arg]))
        }
        _ => false,
    }
}

/// A whole number by which every other can be divided: by 0 none can, and by -1 the smallest cannot.
fn is_divisor(expr: &Expr) -> bool {
    let value = match expr {
        Expr::Literal(value, _) => value,
        _ => return false,
    };
    match value {
        ScalarValue::Int8(Some(n)) => *n > 0,
        ScalarValue::Int16(Some(n)) => *n > 0,
        ScalarValue::Int32(Some(n)) => *n > 0,
        ScalarValue::Int64(Some(n)) => *n > 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};
    use datafusion_expr::{cast, col, lit, when};

    use super::*;

    fn check(expr: &Expr) -> bool {
        let field = |name: &str, kind: DataType| Field::new(name, kind, true);
        let schema = Schema::new(vec![
            field("n", DataType::Int32),
            field("l", DataType::Int64),
            field("s", DataType::Utf8View),
            field("b", DataType::Boolean),
        ]);
        cannot_fail(expr, &schema)
    }

    #[test]
    fn what_has_a_value_for_every_row_is_told_from_what_may_fail() {
        let modulo = |left: Expr, right: i64| left % lit(right);
        for expr in [
            col("b"),
            col("l").eq(lit(1_i64)),
            modulo(cast(col("n"), DataType::Int64), 4).eq(lit(0_i64)),
            col("s").like(lit("a%")).or(col("b").is_not_true()),
            when(col("b"), col("l").gt(lit(1_i64))).otherwise(lit(false)).unwrap(),
        ] {
            assert!(check(&expr), "{expr}");
        }
        for expr in [
            modulo(col("l"), 0).eq(lit(0_i64)),
            modulo(col("l"), -1).eq(lit(0_i64)),
            (lit(4_i64) % col("l")).eq(lit(0_i64)),
            cast(col("s"), DataType::Int32).gt(lit(0)),
            cast(col("l"), DataType::Int32).gt(lit(0)),
            (col("l") * lit(2_i64)).gt(lit(0_i64)),
            col("s").like(col("s")),
            when(col("b"), cast(col("s"), DataType::Boolean)).otherwise(lit(false)).unwrap(),
        ] {
            assert!(!check(&expr), "{expr}");
        }
    }
}
