//! Rewrites `ARRAY(SELECT …)`, which DataFusion lacks, to a sub-query that aggregates, and leaves privileges out.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, GroupByExpr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, Value,
    VisitMut, VisitorMut,
};

/// Rewrites every `ARRAY(SELECT expr FROM … WHERE …)`; other forms stay as they are, and are refused when planned.
pub(crate) fn rewrite(statement: &mut Statement) {
    struct Rewriter;
    impl VisitorMut for Rewriter {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if matches!(expr, Expr::Function(function) if lists_rules(function)) {
                *expr = no_text();
            } else if let Some(plain) = without_row_types(expr) {
                *expr = plain;
            }
            ControlFlow::Continue(())
        }

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Function(function) = expr {
                if let Some(query) = aggregated(function) {
                    *expr = Expr::Subquery(Box::new(query));
                } else if shows_privileges(function) {
                    // Who may do what is told by SHOW GRANTS; no catalog table has it.
                    *expr = no_text();
                }
            }
            ControlFlow::Continue(())
        }
    }
    let _ = VisitMut::visit(statement, &mut Rewriter);
}

/// Whether this is `array_to_string(ARRAY(SELECT …), …)` over PostgreSQL's own row policies or the privileges of
/// columns, in psql's `\dp`: no catalog table has them; SHOW POLICIES and SHOW GRANTS do.
fn lists_rules(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return false };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Function(array)))) = list.args.first() else {
        return false;
    };
    let FunctionArguments::Subquery(query) = &array.args else { return false };
    let is_call = function.name.to_string().to_lowercase().ends_with("array_to_string");
    let text = query.to_string();
    is_call && (text.contains("pg_policy") || text.contains("attacl"))
}

/// `t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_class c WHERE …)`, in psql's `\dT`: no type here is one of rows
/// that was made by itself, so that the first half is all of it.
fn without_row_types(expr: &Expr) -> Option<Expr> {
    let Expr::BinaryOp { left, op: BinaryOperator::Or, right } = expr else { return None };
    let Expr::Subquery(query) = right.as_ref() else { return None };
    let is_row_type =
        left.to_string().ends_with("typrelid = 0") && query.to_string().contains("relkind = 'c'");
    is_row_type.then(|| left.as_ref().clone())
}

/// Whether this is `array_to_string(c.…acl, …)`, whose column the library has as a text or not at all.
fn shows_privileges(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return false };
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundIdentifier(parts)))) =
        list.args.first()
    else {
        return false;
    };
    let name = function.name.to_string().to_lowercase();
    name.ends_with("array_to_string") && parts.last().is_some_and(|column| column.value.ends_with("acl"))
}

fn no_text() -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::Null.with_empty_span())),
        data_type: DataType::Text,
        array: false,
        format: None,
    }
}

/// The order of the elements is given up: a correlated sub-query with an order cannot be planned either.
fn aggregated(function: &Function) -> Option<Query> {
    if !function.name.to_string().eq_ignore_ascii_case("array") {
        return None;
    }
    let FunctionArguments::Subquery(query) = &function.args else { return None };
    let mut query = Query::clone(query);
    query.order_by = None;
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let is_plain = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    if !is_plain || query.limit_clause.is_some() {
        return None;
    }
    let aggregate = array_agg(function, select)?;
    select.projection = vec![SelectItem::UnnamedExpr(aggregate)];
    Some(query)
}

/// `array_agg(expr)` of the only expression that is selected.
fn array_agg(function: &Function, select: &Select) -> Option<Expr> {
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] =
        select.projection.as_slice()
    else {
        return None;
    };
    let arguments = FunctionArgumentList {
        duplicate_treatment: None,
        args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(value.clone()))],
        clauses: Vec::new(),
    };
    Some(Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new("array_agg")]),
        args: FunctionArguments::List(arguments),
        ..function.clone()
    }))
}
