//! Brings the TPC-H tables in: a Parquet file each, then a statement that reads it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use arrow::error::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use super::tpch::TpchTable;

/// Rows that are generated at a time.
const BATCH_ROWS: usize = 32_768;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("`{}` cannot be written: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("a batch cannot be made: {0}")]
    Batch(#[from] ArrowError),
    #[error("a batch cannot be written: {0}")]
    Write(#[from] ParquetError),
    #[error("the generator stopped: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// Writes a table to a file and says how many rows it has; the work is done off the runtime's threads.
pub async fn write_parquet(table: TpchTable, scale: f64, file: PathBuf) -> Result<usize, LoadError> {
    tokio::task::spawn_blocking(move || write(table, scale, &file)).await?
}

fn write(table: TpchTable, scale: f64, path: &Path) -> Result<usize, LoadError> {
    let file = File::create(path).map_err(|source| LoadError::File { path: path.to_owned(), source })?;
    let mut writer = ArrowWriter::try_new(file, table.schema(), None)?;
    let mut n_rows = 0;
    for batch in table.batches(scale, BATCH_ROWS) {
        let batch = batch?;
        n_rows += batch.num_rows();
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(n_rows)
}

/// The statement that makes a table of such a file.
pub fn load_statement(table: TpchTable, schema: &str, file: &Path) -> String {
    let literal = file.display().to_string().replace('\'', "''");
    format!("CREATE TABLE {schema}.{} AS SELECT * FROM read_parquet('{literal}')", table.name())
}
