//! Replaces every sealed scan, wherever it stands, by one leaf that bears a clearance (L1, L3, L4).

use std::sync::Arc;

use datafusion_common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion_expr::{LogicalPlan, TableScan, TableSource};

use crate::error::{EnforceError, Refused};
use crate::sealed::{Clearance, QueryId, Relation, SealedSource};
use crate::verdict::TableVerdict;

/// Governs a plan: afterwards no sealed scan is left in it, sub-query plans included.
///
/// `verdict_of` gives the verdict for a relation; without one the plan is refused. `leaf` turns a clearance into the
/// one source that may run.
pub fn govern(
    plan: LogicalPlan,
    query: QueryId,
    verdict_of: &dyn Fn(&Relation) -> Option<Arc<TableVerdict>>,
    leaf: &dyn Fn(Clearance) -> Arc<dyn TableSource>,
) -> Result<LogicalPlan, EnforceError> {
    let governed = plan.transform_down_with_subqueries(|node| match node {
        LogicalPlan::TableScan(scan) => {
            let Some(sealed) = scan.source.downcast_ref::<SealedSource>() else {
                // Not sealed: the verifier decides whether it may be here at all.
                return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
            };
            let cleared = clear(&scan, sealed, query, verdict_of, leaf)?;
            // The replacement is final: the walk must not enter it.
            Ok(Transformed::new(LogicalPlan::TableScan(cleared), true, TreeNodeRecursion::Jump))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(governed.data)
}

fn clear(
    scan: &TableScan,
    sealed: &SealedSource,
    query: QueryId,
    verdict_of: &dyn Fn(&Relation) -> Option<Arc<TableVerdict>>,
    leaf: &dyn Fn(Clearance) -> Arc<dyn TableSource>,
) -> Result<TableScan, EnforceError> {
    let verdict = verdict_of(sealed.relation())
        .ok_or_else(|| EnforceError::Uncleared { detail: Refused(sealed.relation().to_string()) })?;
    let source = leaf(Clearance::new(query, sealed, verdict));
    Ok(TableScan::try_new(
        scan.table_name.clone(),
        source,
        scan.projection.clone(),
        scan.filters.clone(),
        scan.fetch,
    )?)
}
