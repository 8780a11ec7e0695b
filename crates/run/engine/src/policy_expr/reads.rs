//! What the text of a policy or view reads, name by name, so that none of them comes to mean another thing (L7).

use std::collections::BTreeSet;

use catalog::FIELD_ID_KEY;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use enforce::SealedSource;

use super::walk;

/// One line for each column that is read of a relation, with its field id, and one for each name as it was understood:
/// as a column of which relation within, or of the relation that the policy is on.
pub(crate) fn of(expr: &Expr) -> Result<Vec<String>> {
    let mut lines = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut scans = Vec::new();
    let mut see = |part: &Expr| match part {
        Expr::Column(column) => {
            lines.insert(format!("inner {}", column.flat_name()));
            names.insert(column.name.clone());
        }
        Expr::OuterReferenceColumn(_, column) => {
            lines.insert(format!("outer {}", column.name));
            names.insert(column.name.clone());
        }
        other => {
            if let Some(query) = super::query_of(other) {
                add_scans(&query.subquery, &mut scans);
            }
        }
    };
    walk(expr, &mut see)?;
    add_columns(&scans, &names, &mut lines);
    Ok(lines.into_iter().collect())
}

/// The same for the text of a view, whose names are all its own: one line for each column that is read of a table.
pub(crate) fn of_plan(plan: &LogicalPlan) -> Result<Vec<String>> {
    let (mut lines, mut names, mut scans) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    look_through(plan, &mut names, &mut scans)?;
    add_columns(&scans, &names, &mut lines);
    Ok(lines.into_iter().collect())
}

fn look_through(
    plan: &LogicalPlan,
    names: &mut BTreeSet<String>,
    scans: &mut Vec<(String, SchemaRef)>,
) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Some(source) = scan.source.downcast_ref::<SealedSource>()
        {
            match source.below() {
                Some(below) => look_through(below, names, scans)?,
                None => scans.push((scan.table_name.to_string(), SchemaRef::clone(source.raw_schema()))),
            }
        }
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Expr::Column(column) | Expr::OuterReferenceColumn(_, column) = part {
                    names.insert(column.name.clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}

fn add_columns(scans: &[(String, SchemaRef)], names: &BTreeSet<String>, lines: &mut BTreeSet<String>) {
    for (relation, schema) in scans {
        for field in schema.fields().iter().filter(|field| names.contains(field.name())) {
            let id = field.metadata().get(FIELD_ID_KEY).map_or("-", String::as_str);
            lines.insert(policy::edit::read_line(relation, field.name(), id));
        }
    }
}

/// The tables of a plan; those of sub-queries within it are met by the walk.
fn add_scans(plan: &LogicalPlan, scans: &mut Vec<(String, SchemaRef)>) {
    let found = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Some(source) = scan.source.downcast_ref::<SealedSource>()
        {
            scans.push((scan.table_name.to_string(), SchemaRef::clone(source.raw_schema())));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    // The closure never fails.
    drop(found);
}
