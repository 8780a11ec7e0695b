//! Everything that a plan touches, named before anything is folded or governed.

use std::collections::{BTreeMap, BTreeSet};

use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_expr::expr::ScalarFunction;
use datafusion_expr::{Expr, LogicalPlan};

use crate::error::EnforceError;
use crate::sealed::{Relation, SealedSource};

/// The relations and functions of a plan.
#[derive(Debug, Default, Clone)]
pub struct Footprint {
    /// Sealed tables, by full name and identity: of one table several states may be read.
    pub tables: BTreeMap<String, Relation>,
    /// Names of the scalar functions that are called.
    pub functions: BTreeSet<String>,
    /// Whether the plan reads anything else: VALUES, table functions, metadata.
    pub n_other_scans: usize,
}

/// Walks a plan, sub-query plans included.
pub fn footprint(plan: &LogicalPlan) -> Result<Footprint, EnforceError> {
    let mut found = Footprint::default();
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            match scan.source.downcast_ref::<SealedSource>() {
                Some(sealed) => {
                    let relation = sealed.relation();
                    found.tables.insert(format!("{relation} {}", relation.uuid), relation.clone());
                }
                None => found.n_other_scans += 1,
            }
        }
        for expr in node.expressions() {
            expr.apply(|part| {
                if let Expr::ScalarFunction(ScalarFunction { func, .. }) = part {
                    found.functions.insert(func.name().to_owned());
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
