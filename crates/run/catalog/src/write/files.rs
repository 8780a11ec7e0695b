//! Data files: Parquet with statistics, one open file for each partition, all of them unseen until a commit.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use iceberg::arrow::RecordBatchPartitionSplitter;
use iceberg::io::FileIO;
use iceberg::spec::{DataFile, DataFileFormat, PartitionKey, Struct};
use iceberg::table::Table;
use iceberg::writer::base_writer::data_file_writer::DataFileWriterBuilder;
use iceberg::writer::file_writer::ParquetWriterBuilder;
use iceberg::writer::file_writer::location_generator::{DefaultFileNameGenerator, LocationGenerator};
use iceberg::writer::file_writer::rolling_writer::RollingFileWriterBuilder;
use iceberg::writer::partitioning::PartitioningWriter;
use iceberg::writer::partitioning::fanout_writer::FanoutWriter;
use iceberg::writer::partitioning::unpartitioned_writer::UnpartitionedWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use uuid::Uuid;

use crate::error::{CatalogError, Doing, Result};
use crate::schema;
use crate::write::conform::conform;

/// Each partition of an append keeps a file and its buffers open.
const PARTITIONS_MAX: usize = 1_000;
/// Small enough that a file of an ordinary table splits over the cores that read it.
const ROW_GROUP_ROWS_MAX: usize = 512 * 1024;
const ZSTD_LEVEL: i32 = 3;
const WRITE: &str = "write a data file of the table";

/// Files that no commit shows yet.
pub(crate) struct Written {
    pub(crate) files: Vec<DataFile>,
    pub(crate) rows: u64,
    pub(crate) unfinished: Unfinished,
}

type Files = DataFileWriterBuilder<ParquetWriterBuilder, FlatLocations, DefaultFileNameGenerator>;

enum Writer {
    Whole(Box<UnpartitionedWriter<Files>>),
    Parted(Box<Parted>),
}

struct Parted {
    splitter: RecordBatchPartitionSplitter,
    writer: FanoutWriter<Files>,
    seen: HashSet<Struct>,
}

/// Writes all rows to data files of the table; on error the files are gone again.
pub(crate) async fn write(table: &Table, rows: SendableRecordBatchStream, shown: &str) -> Result<Written> {
    let unfinished = Unfinished::new(table.file_io().clone());
    match write_all(table, rows, shown, &unfinished).await {
        Ok((files, rows)) => Ok(Written { files, rows, unfinished }),
        Err(error) => {
            unfinished.discard().await;
            Err(error)
        }
    }
}

async fn write_all(
    table: &Table,
    mut rows: SendableRecordBatchStream,
    shown: &str,
    unfinished: &Unfinished,
) -> Result<(Vec<DataFile>, u64)> {
    let target = schema::written_schema(table.metadata().current_schema())?;
    let mut writer = Writer::new(table, unfinished)?;
    let mut count = 0_u64;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|e| CatalogError::Input(Box::new(e)))?;
        if batch.num_rows() == 0 {
            continue;
        }
        let batch = conform(&batch, &target, shown)?;
        count += batch.num_rows() as u64;
        writer.write(batch).await?;
    }
    Ok((writer.close().await?, count))
}

impl Writer {
    fn new(table: &Table, unfinished: &Unfinished) -> Result<Self> {
        let metadata = table.metadata();
        let level = ZstdLevel::try_new(ZSTD_LEVEL).doing(WRITE)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS_MAX))
            .build();
        let target_size = metadata.table_properties().doing(WRITE)?.write_target_file_size_bytes;
        let rolling = RollingFileWriterBuilder::new(
            ParquetWriterBuilder::new(properties, Arc::clone(metadata.current_schema())),
            target_size,
            table.file_io().clone(),
            FlatLocations {
                folder: format!("{}/data", metadata.location()),
                made: Arc::clone(&unfinished.made),
            },
            DefaultFileNameGenerator::new(Uuid::now_v7().simple().to_string(), None, DataFileFormat::Parquet),
        );
        let files = DataFileWriterBuilder::new(rolling);
        let spec = metadata.default_partition_spec();
        if spec.is_unpartitioned() {
            return Ok(Self::Whole(Box::new(UnpartitionedWriter::new(files))));
        }
        let schema = Arc::clone(metadata.current_schema());
        let splitter = RecordBatchPartitionSplitter::try_new_with_computed_values(schema, Arc::clone(spec));
        let splitter = splitter.doing(WRITE)?;
        Ok(Self::Parted(Box::new(Parted {
            splitter,
            writer: FanoutWriter::new(files),
            seen: HashSet::new(),
        })))
    }

    async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        match self {
            Self::Whole(writer) => writer.write(batch).await.doing(WRITE),
            Self::Parted(parted) => {
                let Parted { splitter, writer, seen } = parted.as_mut();
                for (key, part) in splitter.split(&batch).doing(WRITE)? {
                    seen.insert(key.data().clone());
                    if seen.len() > PARTITIONS_MAX {
                        return Err(CatalogError::Limit {
                            what: "partitions in one write",
                            limit: PARTITIONS_MAX,
                        });
                    }
                    writer.write(key, part).await.doing(WRITE)?;
                }
                Ok(())
            }
        }
    }

    async fn close(self) -> Result<Vec<DataFile>> {
        match self {
            Self::Whole(writer) => writer.close().await.doing(WRITE),
            Self::Parted(parted) => parted.writer.close().await.doing(WRITE),
        }
    }
}

/// Puts every file into one folder: a partition's value in a path would show it to whoever sees the path, and could
/// lead out of the folder.
#[derive(Clone)]
struct FlatLocations {
    folder: String,
    made: Arc<Mutex<Vec<String>>>,
}

impl LocationGenerator for FlatLocations {
    fn generate_location(&self, _: Option<&PartitionKey>, file_name: &str) -> String {
        let location = format!("{}/{file_name}", self.folder);
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(location.clone());
        location
    }
}

/// The files made so far; dropped before [`keep`](Self::keep), as when a query is cancelled, it takes them away.
pub(crate) struct Unfinished {
    io: FileIO,
    made: Arc<Mutex<Vec<String>>>,
}

impl Unfinished {
    fn new(io: FileIO) -> Self {
        Self { io, made: Arc::default() }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The files belong to a commit now.
    pub(crate) fn keep(&mut self) {
        self.take();
    }

    pub(crate) async fn discard(self) {
        delete(&self.io, self.take()).await;
    }
}

impl fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unfinished")
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let left = self.take();
        if left.is_empty() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let io = self.io.clone();
            runtime.spawn(async move { delete(&io, left).await });
        }
    }
}

async fn delete(io: &FileIO, locations: Vec<String>) {
    for location in locations {
        // A file that was named but never begun is no loss.
        if let Err(error) = io.delete(&location).await {
            tracing::debug!(error = %error, "unfinished data file not deleted");
        }
    }
}
