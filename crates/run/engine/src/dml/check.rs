//! The check option: a row that its writer could not see afterwards is not written (L9).

use std::sync::Arc;

use catalog::CheckRows;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use enforce::TableVerdict;
use futures::TryStreamExt;
use query_api::QueryError;
use stdx::ErrorKind;

use super::target::Target;
use crate::error::{from_datafusion, unsupported};
use crate::names::RelationName;
use crate::policy_expr::has_query;
use crate::running::Running;
use crate::scan::Veil;

/// The check of rows as they will be stored, by the row filters of their writer.
pub(crate) fn rows(
    running: &Running,
    target: &Target,
    state: &SessionState,
) -> Result<CheckRows, QueryError> {
    of_table(running, &target.name, &target.table, &target.verdict, state)
}

pub(crate) fn of_table(
    running: &Running,
    name: &RelationName,
    table: &catalog::TableHandle,
    own: &TableVerdict,
    state: &SessionState,
) -> Result<CheckRows, QueryError> {
    let Some(filter) = conjunction(own.filters.clone()).filter(|_| running.engine.settings.check_option)
    else {
        return Ok(Arc::new(|_| Ok(())));
    };
    if has_query(&filter) {
        // A batch of rows cannot be joined with what the filter reads; rows that only go are not checked.
        return Ok(Arc::new(|_| {
            let what = "writing rows that a row filter with a sub-query would have to pass";
            Err(DataFusionError::External(Box::new(unsupported(what))))
        }));
    }
    let schema = Arc::clone(&table.schema);
    let df_schema = DFSchema::try_from(Arc::clone(&schema)).map_err(|error| from_datafusion(&error))?;
    let filter = state.create_physical_expr(filter, &df_schema).map_err(|error| from_datafusion(&error))?;
    // The row that a filter fails on may hold cells that its writer does not see.
    let filter = Veil::over(filter);
    let table = name.to_string();
    Ok(Arc::new(move |batch| check_batch(batch, &schema, filter.as_ref(), &table)))
}

/// The rows, each batch checked before it goes on.
pub(crate) fn stream(rows: SendableRecordBatchStream, check: CheckRows) -> SendableRecordBatchStream {
    let out = rows.schema();
    let checked = rows.and_then(move |batch| {
        let checked = check(&batch).map(|()| batch);
        std::future::ready(checked)
    });
    Box::pin(RecordBatchStreamAdapter::new(out, checked))
}

fn check_batch(
    batch: &RecordBatch,
    schema: &Arc<Schema>,
    filter: &dyn PhysicalExpr,
    table: &str,
) -> Result<(), DataFusionError> {
    let columns = batch
        .columns()
        .iter()
        .zip(schema.fields())
        .map(|(column, field)| datafusion::arrow::compute::cast(column, field.data_type()))
        .collect::<Result<Vec<_>, _>>()?;
    let nullable: Vec<_> =
        schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(nullable)), columns)?;
    let passed = filter.evaluate(&batch)?.into_array(batch.num_rows())?;
    let passed = passed.as_boolean();
    if passed.null_count() == 0 && passed.false_count() == 0 {
        return Ok(());
    }
    Err(DataFusionError::External(Box::new(QueryError::new(
        ErrorKind::Denied,
        format!("a new row would not be visible to you: it does not pass the row filters of table {table}"),
    ))))
}
