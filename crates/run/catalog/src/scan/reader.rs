//! Reads data files through DataFusion's reader, and says of a failure only that there is one.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_datasource::PartitionedFile;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;

/// DataFusion's readers name the file that they cannot read; a caller may not learn where files lie.
#[derive(Debug)]
pub(crate) struct QuietReaderFactory {
    inner: Arc<dyn ParquetFileReaderFactory>,
}

impl QuietReaderFactory {
    pub(crate) fn new(inner: Arc<dyn ParquetFileReaderFactory>) -> Self {
        Self { inner }
    }
}

impl ParquetFileReaderFactory for QuietReaderFactory {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        metadata_size_hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        let inner = self.inner.create_reader(partition, file, metadata_size_hint, metrics)?;
        Ok(Box::new(QuietReader { inner }))
    }
}

struct QuietReader {
    inner: Box<dyn AsyncFileReader + Send>,
}

fn quiet(error: ParquetError) -> ParquetError {
    tracing::warn!(error = %error, "data file read failed");
    ParquetError::General("a data file of the table cannot be read".to_owned())
}

impl AsyncFileReader for QuietReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        self.inner.get_bytes(range).map(|read| read.map_err(quiet)).boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        self.inner.get_byte_ranges(ranges).map(|read| read.map_err(quiet)).boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        self.inner.get_metadata(options).map(|read| read.map_err(quiet)).boxed()
    }
}
