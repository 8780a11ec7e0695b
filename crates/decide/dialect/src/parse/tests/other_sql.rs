//! What sqlparser gets, and what of ours it must not get.

use sqlparser::ast::{BinaryOperator, CreateViewSecurity, Expr, SelectItem, SetExpr, Statement};

use super::{corpus, sql};

#[test]
fn other_sql_goes_through() {
    for statement in corpus::OTHERS {
        sql(statement);
        sql(&format!("/* a */ {statement} ; -- b"));
    }
}

fn projection(statement: &str) -> Vec<Expr> {
    let Statement::Query(query) = sql(statement) else { panic!("{statement}") };
    let SetExpr::Select(select) = *query.body else { panic!("{statement}") };
    let exprs = select.projection.into_iter().map(|item| match item {
        SelectItem::UnnamedExpr(expr) => expr,
        other => panic!("{other}"),
    });
    exprs.collect()
}

#[test]
fn a_comment_is_never_run() {
    let exprs = projection("SELECT /*! 1 + */ 2");
    assert_eq!(exprs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2"]);
}

#[test]
fn session_functions_are_calls_with_and_without_parentheses() {
    for name in ["current_user", "session_user", "user", "query_user", "current_role", "current_schema"] {
        for spelling in [name.to_owned(), format!("{name}()"), name.to_uppercase()] {
            let exprs = projection(&format!("SELECT {spelling}"));
            assert!(matches!(exprs.as_slice(), [Expr::Function(_)]), "{spelling}: {exprs:?}");
        }
        let quoted = projection(&format!("SELECT \"{name}\", {name}.a FROM t"));
        assert!(
            matches!(quoted.as_slice(), [Expr::Identifier(_), Expr::CompoundIdentifier(_)]),
            "{quoted:?}"
        );
    }
}

#[test]
fn json_access_binds_tighter_than_comparison() {
    let exprs = projection("SELECT a -> 'b' = 'c'");
    assert!(matches!(exprs.as_slice(), [Expr::BinaryOp { op: BinaryOperator::Eq, .. }]), "{exprs:?}");
}

#[test]
fn the_security_of_a_view_is_kept() {
    for (word, expected) in
        [("DEFINER", CreateViewSecurity::Definer), ("invoker", CreateViewSecurity::Invoker)]
    {
        let text = format!("CREATE OR REPLACE VIEW s.v (a, b) security {word} AS SELECT 1, 2");
        let Statement::CreateView(view) = sql(&text) else { panic!("{text}") };
        assert_eq!(view.params.and_then(|params| params.security), Some(expected));
        assert_eq!(view.columns.len(), 2);
    }
    let Statement::CreateView(view) = sql("CREATE VIEW v AS SELECT security definer FROM t") else {
        panic!()
    };
    assert_eq!(view.params, None);
}
