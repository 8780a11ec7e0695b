//! What each session function becomes for one reader.

use std::collections::{BTreeMap, BTreeSet};

use datafusion_common::ScalarValue;
use datafusion_expr::{Expr, LogicalPlanBuilder, col, lit};

use super::{SessionFacts, fold_expr, fold_plan, session_functions};

fn facts() -> SessionFacts {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    SessionFacts {
        user: "o'hara".to_owned(),
        groups: names(&["g1", "g\"2"]),
        roles: names(&["r1", "r2"]),
        attributes: BTreeMap::from([("region".to_owned(), "EU' OR '1'='1".to_owned())]),
        catalog: "lake".to_owned(),
        schema: "a.b".to_owned(),
    }
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    session_functions().into_iter().find(|function| function.name() == name).unwrap().call(args)
}

fn text(value: &str) -> ScalarValue {
    ScalarValue::Utf8(Some(value.to_owned()))
}

#[test]
fn session_functions_become_typed_constants() {
    for (name, arg, expected) in [
        ("current_user", None, text("o'hara")),
        ("session_user", None, text("o'hara")),
        ("user", None, text("o'hara")),
        ("query_user", None, text("o'hara")),
        ("current_role", None, text("r1")),
        ("current_available_roles", None, text("[\"r1\",\"r2\"]")),
        ("current_groups", None, text("[\"g\\\"2\",\"g1\"]")),
        ("current_catalog", None, text("lake")),
        ("current_database", None, text("lake")),
        ("current_schema", None, text("a.b")),
        ("user_attribute", Some("region"), text("EU' OR '1'='1")),
        ("user_attribute", Some("none"), ScalarValue::Utf8(None)),
        ("is_member", Some("g1"), ScalarValue::Boolean(Some(true))),
        ("is_member", Some("r2"), ScalarValue::Boolean(Some(true))),
        ("is_member", Some("public"), ScalarValue::Boolean(Some(true))),
        ("is_member", Some("G1"), ScalarValue::Boolean(Some(false))),
        ("is_role_in_session", Some("r2"), ScalarValue::Boolean(Some(true))),
        ("is_role_in_session", Some("g1"), ScalarValue::Boolean(Some(false))),
    ] {
        let args = arg.map(lit).into_iter().collect();
        assert_eq!(
            fold_expr(call(name, args), &facts()).unwrap(),
            Expr::Literal(expected, None),
            "{name}({arg:?})"
        );
    }
}

#[test]
fn a_name_that_is_no_constant_is_refused() {
    for name in ["is_member", "is_role_in_session", "user_attribute"] {
        assert!(fold_expr(call(name, vec![col("c")]), &facts()).is_err(), "{name}");
        assert!(fold_expr(call(name, Vec::new()), &facts()).is_err(), "{name}");
        let null = fold_expr(call(name, vec![lit(ScalarValue::Utf8(None))]), &facts()).unwrap();
        assert!(matches!(null, Expr::Literal(value, _) if value.is_null()), "{name}");
    }
}

#[test]
fn a_plan_keeps_the_names_of_its_columns() {
    let plan = LogicalPlanBuilder::values(vec![vec![lit(1)]])
        .unwrap()
        .project(vec![call("current_user", Vec::new()), call("is_member", vec![lit("g1")]).alias("m")])
        .unwrap()
        .build()
        .unwrap();
    let names = |plan: &datafusion_expr::LogicalPlan| {
        plan.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>()
    };
    let before = names(&plan);
    let folded = fold_plan(plan, &facts()).unwrap();
    assert_eq!(names(&folded), before);
    assert!(folded.display_indent().to_string().contains("o'hara"));
}
