//! `restricted_columns = "error"`: refuses a query that names a restricted column.

use std::collections::BTreeSet;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use enforce::{ColumnVerdict, Footprint};
use query_api::QueryError;
use stdx::ErrorKind;

use crate::error::from_datafusion;
use crate::resolve::Resolved;

/// Refuses if any expression of the plan mentions a restricted column of a table in it.
///
/// Columns are compared by qualified name where a qualifier is left, and by name alone otherwise, so that the
/// answer errs on the side of refusing.
pub(crate) fn refuse(
    plan: &LogicalPlan,
    footprint: &Footprint,
    resolved: &Resolved,
) -> Result<(), QueryError> {
    let mut restricted = BTreeSet::new();
    for relation in footprint.tables.values() {
        let Some(verdict) = resolved.verdicts.get(relation) else { continue };
        for (column, name) in verdict.columns.iter().zip(column_names(relation, resolved)) {
            if *column == ColumnVerdict::Restricted {
                restricted.insert((relation.to_string(), name));
            }
        }
    }
    if restricted.is_empty() {
        return Ok(());
    }
    let mut named = None;
    plan.apply_with_subqueries(|node| {
        for expr in node.expressions() {
            expr.apply(|part| {
                if let Expr::Column(column) = part
                    && let Some((table, name)) = restricted.iter().find(|(_, name)| *name == column.name)
                {
                    named = Some(format!("{table}.{name}"));
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map_err(|error| from_datafusion(&error))?;
    match named {
        Some(name) => Err(QueryError::new(ErrorKind::Denied, format!("column `{name}` is restricted"))),
        None => Ok(()),
    }
}

fn column_names(relation: &enforce::Relation, resolved: &Resolved) -> Vec<String> {
    let key = crate::provider::source_key(&relation.catalog, &relation.database(), &relation.name);
    resolved
        .sources
        .get(&key)
        .map(|source| source.schema().fields().iter().map(|field| field.name().clone()).collect())
        .unwrap_or_default()
}
