//! Each form of predicate, and on which side of the barrier it may stand.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, TimeUnit};
use datafusion_common::{Column, ScalarValue};
use datafusion_expr::expr::{Between, InList, Like, Placeholder, TryCast};
use datafusion_expr::{BinaryExpr, Expr, Operator, Volatility, cast, col, create_udf, lit};

use super::{LIKE_PATTERN_BYTES_MAX, is_harmless};

fn schema() -> Schema {
    let field = |name: &str, kind: DataType| Field::new(name, kind, true);
    Schema::new(vec![
        field("i", DataType::Int64),
        field("n", DataType::Int32),
        field("u", DataType::UInt64),
        field("f", DataType::Float64),
        field("s", DataType::Utf8View),
        field("b", DataType::Boolean),
        field("d", DataType::Date32),
        field("t", DataType::Timestamp(TimeUnit::Microsecond, None)),
        field("m", DataType::Decimal128(10, 2)),
        field("masked", DataType::Utf8View),
        field("st", DataType::Struct(Fields::from(vec![field("a", DataType::Int64)]))),
        field("l", DataType::List(Arc::new(field("item", DataType::Int64)))),
    ])
}

fn passes(predicate: &Expr) -> bool {
    is_harmless(predicate, &schema(), &|column| column != "masked")
}

fn text(value: &str) -> Expr {
    lit(ScalarValue::Utf8View(Some(value.to_owned())))
}

fn like(operand: Expr, pattern: Expr, escape: Option<char>, is_case_blind: bool) -> Expr {
    Expr::Like(Like::new(false, Box::new(operand), Box::new(pattern), escape, is_case_blind))
}

#[test]
fn comparisons_of_one_type_may_pass() {
    let date = lit(ScalarValue::Date32(Some(1)));
    let decimal = lit(ScalarValue::Decimal128(Some(100), 10, 2));
    for predicate in [
        col("i").eq(lit(5_i64)),
        lit(5_i64).lt(col("i")),
        col("i").gt(col("i")),
        col("s").not_eq(text("x")),
        col("d").gt_eq(date),
        col("m").lt_eq(decimal),
        cast(col("m"), DataType::Float64).gt_eq(lit(0.05_f64)),
        Expr::Between(Between::new(
            Box::new(cast(col("m"), DataType::Float64)),
            false,
            Box::new(lit(0.05_f64)),
            Box::new(lit(0.07_f64)),
        )),
        col("i").is_null(),
        col("s").is_not_null(),
        col("b"),
        col("b").is_true(),
        Expr::Not(Box::new(col("b"))),
        col("i").eq(lit(5_i64)).and(col("s").eq(text("x")).or(col("b"))),
        col("i").eq(lit(5_i64)).and(lit(true)),
        Expr::Between(Between::new(Box::new(col("i")), false, Box::new(lit(1_i64)), Box::new(lit(2_i64)))),
        Expr::InList(InList::new(Box::new(col("i")), vec![lit(1_i64), lit(2_i64)], true)),
        like(col("s"), text("1%"), None, false),
        cast(col("n"), DataType::Int64).eq(col("i")),
        cast(col("n"), DataType::Float64).gt(col("f")),
        Expr::BinaryExpr(BinaryExpr::new(Box::new(col("i")), Operator::IsDistinctFrom, Box::new(lit(1_i64)))),
        Expr::Column(Column::new(Some("t"), "i")).eq(lit(1_i64)),
    ] {
        assert!(passes(&predicate), "{predicate}");
    }
}

#[test]
fn what_can_fail_or_has_no_column_stays_above() {
    let volatile = create_udf(
        "v",
        vec![DataType::Int64],
        DataType::Int64,
        Volatility::Volatile,
        Arc::new(|args| Ok(args[0].clone())),
    );
    for predicate in [
        (lit(1_i64) / (col("i") - lit(5_i64))).eq(lit(0_i64)),
        (col("i") + lit(1_i64)).gt(lit(0_i64)),
        (lit(1_i64) / lit(0_i64)).eq(lit(1_i64)),
        lit(1_i64).eq(lit(1_i64)),
        lit(true),
        lit(ScalarValue::Null),
        cast(col("s"), DataType::Int64).eq(lit(1_i64)),
        cast(col("i"), DataType::Int32).eq(lit(1_i32)),
        cast(col("u"), DataType::Int64).eq(col("i")),
        cast(col("f"), DataType::Int64).eq(col("i")),
        cast(col("i"), DataType::Utf8View).eq(text("1")),
        cast(col("i"), DataType::Float64).eq(col("f")),
        cast(col("m"), DataType::Decimal128(10, 4)).eq(lit(ScalarValue::Decimal128(Some(1), 10, 4))),
        Expr::TryCast(TryCast::new(Box::new(col("s")), DataType::Int64)).eq(lit(1_i64)),
        col("i").eq(col("n")),
        col("i").eq(lit(1_i32)),
        volatile.call(vec![col("i")]).eq(lit(1_i64)),
        Expr::Negative(Box::new(col("i"))).eq(lit(1_i64)),
        like(col("s"), col("s"), None, false),
        like(col("s"), text("a\\%"), None, false),
        like(col("s"), text("a"), Some('!'), false),
        like(col("s"), text("a"), None, true),
        like(col("s"), text(&"x".repeat(LIKE_PATTERN_BYTES_MAX + 1)), None, false),
        like(col("i"), text("1%"), None, false),
        Expr::InList(InList::new(Box::new(col("i")), vec![lit(1_i64), col("i")], false)),
        Expr::InList(InList::new(Box::new(col("i")), vec![lit(1_i32)], false)),
        Expr::Placeholder(Placeholder::new_with_field("$1".to_owned(), None)),
        col("st").is_null(),
        col("l").eq(col("l")),
        col("nowhere").eq(lit(1_i64)),
        col("i"),
        col("b").and((lit(1_i64) / col("i")).eq(lit(1_i64))),
        col("i").eq(lit(1_i64)).or((lit(1_i64) / lit(0_i64)).eq(lit(1_i64))),
    ] {
        assert!(!passes(&predicate), "{predicate}");
    }
}

#[test]
fn nothing_is_tried_on_a_masked_column() {
    for predicate in [
        col("masked").eq(text("x")),
        col("masked").is_null(),
        like(col("masked"), text("x%"), None, false),
        col("i").eq(lit(1_i64)).and(col("masked").is_not_null()),
        Expr::InList(InList::new(Box::new(col("masked")), vec![text("x")], false)),
        Expr::Column(Column::new(Some("t"), "masked")).eq(text("x")),
    ] {
        assert!(!passes(&predicate), "{predicate}");
    }
}

#[test]
fn one_failing_part_anywhere_keeps_the_whole_above() {
    let plain = [
        col("i").gt(lit(3_i64)),
        col("s").eq(text("x")),
        col("b"),
        col("d").is_null(),
        Expr::Not(Box::new(col("b").or(col("i").is_not_null()))),
    ];
    let fails = (lit(1_i64) / (col("i") - lit(5_i64))).eq(lit(0_i64));
    for a in &plain {
        for b in &plain {
            let (a, b, fails) = (a.clone(), b.clone(), fails.clone());
            assert!(passes(&a.clone().and(b.clone())) && passes(&a.clone().or(b.clone())));
            for whole in [
                fails.clone().or(a.clone()).and(b.clone()),
                a.clone().or(b.clone().and(fails.clone())),
                Expr::Not(Box::new(a.clone().and(Expr::Not(Box::new(fails.clone()))))).or(b.clone()),
                a.and(b).and(fails),
            ] {
                assert!(!passes(&whole), "{whole}");
            }
        }
    }
}
