//! `restricted_columns = "error"`: refuses a query that reads a restricted column.

use std::collections::BTreeSet;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::DefaultTableSource;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use enforce::ColumnVerdict;
use query_api::QueryError;
use stdx::ErrorKind;

use crate::error::from_datafusion;
use crate::scan::GovernedProvider;

/// Refuses if a scan of the optimized plan reads a restricted column, naming it.
///
/// A column that a part of the query lists and nothing uses is not read, so that it does not refuse the rest.
pub(crate) fn refuse(optimized: &LogicalPlan, state: &SessionState) -> Result<(), QueryError> {
    let (mut named, mut views) = (None, Vec::new());
    optimized
        .apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(source) = scan.source.downcast_ref::<DefaultTableSource>()
                && let Some(governed) = source.table_provider.downcast_ref::<GovernedProvider>()
            {
                let mut read: BTreeSet<&str> =
                    scan.projected_schema.fields().iter().map(|field| field.name().as_str()).collect();
                read.extend(
                    scan.filters
                        .iter()
                        .flat_map(|filter| filter.column_refs())
                        .map(|column| column.name.as_str()),
                );
                named = named.take().or_else(|| restricted_among(governed, &read));
                if let Some(view) = governed.view() {
                    let plan = state.optimize(&view.plan(scan.projection.as_deref(), &[], None)?)?;
                    views.push((governed.clearance().relation().to_string(), plan));
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(|error| from_datafusion(&error))?;
    match named {
        Some(name) => Err(QueryError::new(ErrorKind::Denied, format!("column `{name}` is restricted"))),
        // What a view reads of its tables, for the columns of it that are read; what they are called is not for its
        // reader to know (L8).
        None => views.iter().try_for_each(|(view, plan)| {
            refuse(plan, state).map_err(|error| match error.kind() {
                ErrorKind::Denied => {
                    let reason = format!("a column that view `{view}` reads is restricted");
                    QueryError::new(ErrorKind::Denied, reason)
                }
                _ => error,
            })
        }),
    }
}

fn restricted_among(governed: &GovernedProvider, read: &BTreeSet<&str>) -> Option<String> {
    let clearance = governed.clearance();
    let columns = clearance.raw_schema().fields().iter().zip(&clearance.verdict().columns);
    columns
        .filter(|(_, verdict)| **verdict == ColumnVerdict::Restricted)
        .find(|(field, _)| read.contains(field.name().as_str()))
        .map(|(field, _)| format!("{}.{}", clearance.relation(), field.name()))
}
