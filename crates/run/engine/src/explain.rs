//! EXPLAIN: the plan as far as the reader may know it (L2).

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::displayable;
use query_api::{Outcome, QueryError};
use sqlparser::ast;

use crate::error::{from_datafusion, unsupported};
use crate::query;
use crate::running::Running;
use crate::show::rows;
use crate::statement::Call;
use crate::titles::unmarked;

pub(crate) fn columns() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("plan_type", DataType::Utf8, false),
        Field::new("plan", DataType::Utf8, false),
    ]))
}

/// A reader who is restricted on a relation sees what she wrote over governed scans: no policy, no estimate, no join
/// order, no file. One who is not sees the optimized plans.
pub(crate) async fn run(
    running: &Running,
    sql: ast::Statement,
    call: &Call<'_>,
) -> Result<Outcome, QueryError> {
    let ast::Statement::Explain { analyze, verbose, estimate, statement, format, options, .. } = sql else {
        return Err(crate::error::internal());
    };
    if analyze
        || verbose
        || estimate
        || format.is_some()
        || options.is_some_and(|options| !options.is_empty())
    {
        return Err(unsupported("EXPLAIN with ANALYZE, VERBOSE or FORMAT"));
    }
    if !matches!(*statement, ast::Statement::Query(_)) {
        return Err(unsupported("EXPLAIN of anything but a query"));
    }
    let governed = query::govern(running, *statement, call.parameters).await?;
    let mut lines = Vec::new();
    if governed.resolved.is_restricting() {
        lines.push(("logical_plan", governed.plan.display_indent().to_string()));
    } else {
        let optimized = governed.state.optimize(&governed.plan).map_err(|error| from_datafusion(&error))?;
        lines.push(("logical_plan", optimized.display_indent().to_string()));
        let physical = query::physical(running, &governed).await?;
        lines.push((
            "physical_plan",
            without_files(&displayable(physical.as_ref()).indent(false).to_string()),
        ));
    }
    running.audit_query(&governed.resolved, call.text).finish(running, 0, None);
    let batch = RecordBatch::try_new(
        columns(),
        vec![
            Arc::new(StringArray::from_iter_values(lines.iter().map(|(kind, _)| *kind))),
            Arc::new(StringArray::from_iter_values(
                lines.iter().map(|(_, plan)| crate::past::unmarked(&unmarked(plan))),
            )),
        ],
    )
    .map_err(|error| from_datafusion(&error.into()))?;
    Ok(rows(batch, "EXPLAIN"))
}

/// The names of a table's files are the warehouse's own business.
fn without_files(plan: &str) -> String {
    let mut out = String::with_capacity(plan.len());
    for line in plan.lines() {
        match (line.find("file_groups={"), line.find("]]}")) {
            (Some(start), Some(end)) if start < end => {
                out.push_str(line.get(..start).unwrap_or_default());
                out.push_str("file_groups={…");
                out.push_str(line.get(end + 2..).unwrap_or_default());
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}
