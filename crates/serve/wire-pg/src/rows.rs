//! A result on its way to the client: taken batch by batch, written row by row, held back when she reads slowly.

use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::BytesMut;
use futures::StreamExt;
use futures::stream::BoxStream;
use query_api::{QueryError, Rows};
use tokio_util::sync::CancellationToken;

use crate::answer::Refusal;
use crate::encode::{BatchWriter, Column, Format, Zone, columns_of};
use crate::limits::FLUSH_BYTES;
use crate::wire::{Failure, Wire, guarded};

/// A result that is not wholly sent yet.
pub(crate) struct RowStream {
    pub(crate) columns: Vec<Column>,
    pub(crate) formats: Vec<Format>,
    pub(crate) tag: &'static str,
    schema: SchemaRef,
    batches: BoxStream<'static, Result<RecordBatch, QueryError>>,
    current: Option<(RecordBatch, usize)>,
}

/// How far sending came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) n_rows: u64,
    /// Whether the result's end was met, and not the count that the client asked for.
    pub(crate) is_done: bool,
}

impl RowStream {
    pub(crate) fn new(rows: Rows, tag: &'static str, format_codes: &[i16]) -> Result<Self, Refusal> {
        let columns = columns_of(&rows.schema)?;
        let formats = Format::spread(format_codes, columns.len())?;
        Ok(Self { columns, formats, tag, schema: rows.schema, batches: rows.batches, current: None })
    }

    /// Sends rows until there are no more, or `rows_max` are sent.
    pub(crate) async fn send(
        &mut self,
        wire: &mut Wire,
        rows_max: Option<u64>,
        zone: &Zone,
        cancel: &CancellationToken,
        refuse: impl Fn(&QueryError) -> Refusal,
    ) -> Result<Progress, Failure> {
        let mut n_rows = 0;
        loop {
            if rows_max == Some(n_rows) {
                return Ok(Progress { n_rows, is_done: false });
            }
            let Some((batch, start)) = self.current.take() else {
                let next = async { self.batches.next().await.transpose() };
                match wire.supervise(cancel, next, &refuse).await? {
                    Some(batch) => self.current = Some((batch, 0)),
                    None => return Ok(Progress { n_rows, is_done: true }),
                }
                continue;
            };
            let wanted =
                rows_max.map_or(usize::MAX, |max| usize::try_from(max - n_rows).unwrap_or(usize::MAX));
            let end = batch.num_rows().min(start.saturating_add(wanted));
            let writer =
                guarded(|| BatchWriter::new(&batch, &self.schema, &self.columns, &self.formats, zone))??;
            send_range(wire, &writer, start..end, cancel).await?;
            n_rows += u64::try_from(end - start).unwrap_or(0);
            if end < batch.num_rows() {
                self.current = Some((batch, end));
            }
        }
    }
}

async fn send_range(
    wire: &mut Wire,
    writer: &BatchWriter<'_>,
    range: Range<usize>,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let mut row = range.start;
    while row < range.end {
        row = guarded(|| write_chunk(writer, row, range.end, wire.outbox()))??;
        if wire.is_full() {
            wire.flush().await?;
            if cancel.is_cancelled() {
                return Err(Failure::Refused(Refusal::cancelled()));
            }
        }
    }
    Ok(())
}

/// Writes rows until the output is worth sending, and says which row is next.
fn write_chunk(
    writer: &BatchWriter<'_>,
    start: usize,
    end: usize,
    out: &mut BytesMut,
) -> Result<usize, Refusal> {
    let mut row = start;
    while row < end && out.len() < FLUSH_BYTES {
        writer.write_row(row, out)?;
        row += 1;
    }
    Ok(row)
}

/// The command tag of a statement that gave or touched `n_rows`.
pub(crate) fn tag_of(tag: &str, n_rows: Option<u64>) -> String {
    match (tag, n_rows) {
        // The 0 was once the new row's oid.
        ("INSERT", Some(n_rows)) => format!("INSERT 0 {n_rows}"),
        (_, Some(n_rows)) => format!("{tag} {n_rows}"),
        (_, None) => tag.to_owned(),
    }
}

/// Whether the tag of a statement with rows counts them: `SHOW` and `EXPLAIN` do not.
pub(crate) fn counts_rows(tag: &str) -> bool {
    matches!(tag, "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "FETCH" | "MOVE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_read_as_in_postgresql() {
        let check = |tag: &str, n_rows, expected: &str| assert_eq!(tag_of(tag, n_rows), expected);
        check("SELECT", Some(3), "SELECT 3");
        check("INSERT", Some(3), "INSERT 0 3");
        check("DELETE", Some(0), "DELETE 0");
        check("CREATE TABLE", None, "CREATE TABLE");
        assert!(counts_rows("SELECT") && !counts_rows("SHOW"));
    }
}
