//! Refuses the clauses of a query that the planner would pass over in silence.

use std::ops::ControlFlow;

use query_api::QueryError;
use sqlparser::ast::{self, SetExpr, TableFactor, Visit, Visitor};

use crate::error::unsupported;

/// Looks through a statement, sub-queries included. What the planner itself refuses is left to it.
pub(crate) fn refuse_unheeded(statement: &ast::Statement) -> Result<(), QueryError> {
    match statement.visit(&mut Unheeded) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(clause) => Err(unsupported(clause)),
    }
}

struct Unheeded;

impl Visitor for Unheeded {
    type Break = &'static str;

    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<&'static str> {
        if !query.locks.is_empty() {
            return ControlFlow::Break("FOR UPDATE or FOR SHARE");
        }
        if query.for_clause.is_some() || query.settings.is_some() || query.format_clause.is_some() {
            return ControlFlow::Break("FOR XML, FOR JSON, SETTINGS or FORMAT after a query");
        }
        if query.fetch.as_ref().is_some_and(|fetch| fetch.with_ties || fetch.percent) {
            return ControlFlow::Break("FETCH with TIES or PERCENT");
        }
        in_body(&query.body)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<&'static str> {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            in_joins(&table_with_joins.joins)?;
        }
        let clause = match factor {
            TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } => {
                "TABLESAMPLE"
            }
            TableFactor::Table { with_hints, index_hints, .. }
                if !with_hints.is_empty() || !index_hints.is_empty() =>
            {
                "a hint on a table"
            }
            TableFactor::Table { partitions, .. } if !partitions.is_empty() => "PARTITION after a table",
            TableFactor::Table { json_path: Some(_), .. } => "a path after a table",
            TableFactor::Table { with_ordinality: true, .. } => "WITH ORDINALITY",
            TableFactor::Pivot { .. } => "PIVOT",
            TableFactor::Unpivot { .. } => "UNPIVOT",
            TableFactor::MatchRecognize { .. } => "MATCH_RECOGNIZE",
            _ => return ControlFlow::Continue(()),
        };
        ControlFlow::Break(clause)
    }
}

fn in_body(body: &SetExpr) -> ControlFlow<&'static str> {
    match body {
        SetExpr::Select(select) => in_select(select),
        SetExpr::SetOperation { left, right, op, set_quantifier } => {
            // The planner passes over how often a row is there.
            if *op != ast::SetOperator::Union && matches!(set_quantifier, ast::SetQuantifier::All) {
                return ControlFlow::Break("EXCEPT ALL or INTERSECT ALL");
            }
            in_body(left)?;
            in_body(right)
        }
        // A query in parentheses is visited by itself.
        _ => ControlFlow::Continue(()),
    }
}

/// The planner takes a merged column from the left, which a right or full join fills with NULL.
fn in_joins(joins: &[ast::Join]) -> ControlFlow<&'static str> {
    use ast::JoinOperator::{FullOuter, Right, RightOuter};
    for join in joins {
        if let Right(constraint) | RightOuter(constraint) | FullOuter(constraint) = &join.join_operator
            && matches!(constraint, ast::JoinConstraint::Using(_) | ast::JoinConstraint::Natural)
        {
            return ControlFlow::Break("USING or NATURAL with a right or full join");
        }
    }
    ControlFlow::Continue(())
}

fn in_select(select: &ast::Select) -> ControlFlow<&'static str> {
    for table in &select.from {
        in_joins(&table.joins)?;
    }
    let clause = if select.into.is_some() {
        "SELECT … INTO"
    } else if select.prewhere.is_some() {
        "PREWHERE"
    } else if !select.connect_by.is_empty() {
        "CONNECT BY"
    } else if !select.optimizer_hints.is_empty() {
        "an optimizer hint"
    } else if select.select_modifiers.is_some() {
        "a modifier of SELECT"
    } else if select.value_table_mode.is_some() {
        "SELECT AS VALUE or AS STRUCT"
    } else if !select.distribute_by.is_empty() {
        "DISTRIBUTE BY"
    } else {
        return ControlFlow::Continue(());
    };
    ControlFlow::Break(clause)
}
