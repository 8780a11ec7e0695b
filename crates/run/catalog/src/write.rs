//! Writing rows: files first, then one commit that shows them.

mod commit;
mod conform;
mod durable;
mod files;
mod overwrite;
mod pending;
mod rewrite;

use datafusion::execution::SendableRecordBatchStream;

use crate::catalog::Inner;
use crate::error::Result;
use crate::table::TableHandle;

pub(crate) use durable::sync;
pub use pending::PendingTable;
pub(crate) use rewrite::rewrite;
pub use rewrite::{CheckRows, RowChange, RowChanges, TableChange};

/// Appends to a table that is there; rows keep the schema that the handle has.
pub(crate) async fn append(
    catalog: &Inner,
    handle: &TableHandle,
    rows: SendableRecordBatchStream,
) -> Result<u64> {
    let mut written = files::write(&handle.table, rows, &handle.shown()).await?;
    if written.rows == 0 {
        return Ok(0);
    }
    let target = commit::Target::existing(catalog, handle);
    match commit::append(&target, &handle.table, &written.files).await {
        Ok(table) => {
            written.unfinished.keep();
            catalog.handle(table)?;
            Ok(written.rows)
        }
        Err(error) => {
            written.unfinished.discard().await;
            Err(error)
        }
    }
}
