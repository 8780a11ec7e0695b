//! The data files of one snapshot with their bounds and deletes, read once and kept with the table.

use std::sync::Arc;

use datafusion::common::Statistics;
use datafusion::datasource::physical_plan::parquet::ParquetAccessPlan;
use futures::stream::{self, StreamExt, TryStreamExt};
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFileFormat, Manifest, ManifestContentType, ManifestEntryRef, ManifestFile,
};
use iceberg::table::Table;
use object_store::path::Path;
use tokio::sync::OnceCell;

use arrow::datatypes::SchemaRef;

use crate::error::{CatalogError, Doing, Result};
use crate::scan::deletes::{self, PositionDeletes};
use crate::scan::provider::Reads;
use crate::scan::statistics::{self, Bounds};
use crate::warehouse::Warehouse;

const READ: &str = "read the table's manifests";

/// How many manifests are read at a time.
const MANIFESTS_AT_A_TIME: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct FileIndex {
    pub(crate) files: Vec<IndexedFile>,
}

#[derive(Debug)]
pub(crate) struct IndexedFile {
    /// As the manifest names it.
    pub(crate) location: String,
    pub(crate) path: Path,
    /// How many rows the files before it have, deleted ones included.
    pub(crate) first_row: u64,
    pub(crate) size: u64,
    pub(crate) rows: u64,
    pub(crate) bounds: Vec<Bounds>,
    pub(crate) statistics: Arc<Statistics>,
    /// The places of its deleted rows, in order.
    pub(crate) deleted: Arc<[u64]>,
    access: OnceCell<ParquetAccessPlan>,
}

impl IndexedFile {
    /// The row selection that the deletes of this file ask for.
    pub(crate) async fn access(&self, warehouse: &Warehouse) -> Result<Option<&ParquetAccessPlan>> {
        if self.deleted.is_empty() {
            return Ok(None);
        }
        let plan = || deletes::access_plan(&warehouse.store, &self.path, self.size, &self.deleted);
        self.access.get_or_try_init(plan).await.map(Some)
    }
}

/// Reads the manifests of the table's snapshot; `shown` is how the table is named in messages.
pub(crate) async fn read(
    table: &Table,
    schema: &SchemaRef,
    warehouse: &Warehouse,
    shown: &str,
    reads: &Reads,
) -> Result<FileIndex> {
    let Some(snapshot_id) = reads.snapshot else {
        return Ok(FileIndex::default());
    };
    // A snapshot that is gone is an error, never an empty table.
    let snapshot = table.metadata().snapshot_by_id(snapshot_id).ok_or_else(|| {
        let version = format!("snapshot {snapshot_id}");
        CatalogError::NoSuchVersion { table: shown.to_owned(), version }
    })?;
    let list = table.manifest_list_reader(snapshot).load().await.doing(READ)?;
    let io = table.file_io().clone();
    // Deletes come first, so that no data file is indexed before what takes rows from it is known.
    let mut by_content: (Vec<Manifest>, Vec<Manifest>) = (Vec::new(), Vec::new());
    let entries: Vec<ManifestFile> = list.consume_entries().into_iter().collect();
    let mut manifests =
        stream::iter(entries).map(|file| load(file, io.clone())).buffered(MANIFESTS_AT_A_TIME);
    while let Some((content, manifest)) = manifests.try_next().await? {
        match content {
            ManifestContentType::Data => by_content.0.push(manifest),
            ManifestContentType::Deletes => by_content.1.push(manifest),
        }
    }
    let (data, delete_manifests) = by_content;
    let mut position_deletes = PositionDeletes::default();
    for entry in delete_manifests.iter().flat_map(live) {
        let location = position_delete(entry, shown)?;
        let sequence = entry.sequence_number().ok_or_else(|| no_sequence(shown))?;
        position_deletes.add(&io, location, sequence, shown).await?;
    }
    let mut files = Vec::new();
    let mut first_row = 0_u64;
    for manifest in &data {
        for entry in live(manifest).filter(|entry| is_read(entry, reads)) {
            let file = index_file(table, manifest, entry, &position_deletes, schema, warehouse, shown)?;
            let rows = file.rows;
            files.push(IndexedFile { first_row, ..file });
            first_row = first_row.saturating_add(rows);
        }
    }
    Ok(FileIndex { files })
}

async fn load(file: ManifestFile, io: FileIO) -> Result<(ManifestContentType, Manifest)> {
    let manifest = file.load_manifest(&io).await.doing(READ)?;
    Ok((file.content, manifest))
}

fn live(manifest: &Manifest) -> impl Iterator<Item = &ManifestEntryRef> {
    manifest.entries().iter().filter(|entry| entry.is_alive())
}

fn is_read(entry: &ManifestEntryRef, reads: &Reads) -> bool {
    match &reads.added_by {
        None => true,
        Some(snapshots) => entry.snapshot_id().is_some_and(|id| snapshots.contains(&id)),
    }
}

fn no_sequence(shown: &str) -> CatalogError {
    CatalogError::Unsupported(format!("table `{shown}` has a file without a sequence number"))
}

/// Where a delete file lies, if it is of the one kind that is read; a kind that is not read is never passed over.
fn position_delete<'a>(entry: &'a ManifestEntryRef, shown: &str) -> Result<&'a str> {
    let unsupported = |what: &str| {
        Err(CatalogError::Unsupported(format!("table `{shown}` has {what}, which are not supported")))
    };
    match (entry.content_type(), entry.file_format()) {
        (DataContentType::PositionDeletes, DataFileFormat::Parquet) => Ok(entry.file_path()),
        (DataContentType::PositionDeletes, DataFileFormat::Puffin) => unsupported("deletion vectors"),
        (DataContentType::PositionDeletes, _) => unsupported("delete files that are not Parquet"),
        (DataContentType::EqualityDeletes, _) => unsupported("equality deletes"),
        (DataContentType::Data, _) => unsupported("data files among its deletes"),
    }
}

fn index_file(
    table: &Table,
    manifest: &Manifest,
    entry: &ManifestEntryRef,
    deletes: &PositionDeletes,
    schema: &SchemaRef,
    warehouse: &Warehouse,
    shown: &str,
) -> Result<IndexedFile> {
    let file = entry.data_file();
    if file.file_format() != DataFileFormat::Parquet || file.content_type() != DataContentType::Data {
        return Err(CatalogError::Unsupported(format!(
            "table `{shown}` has data files that are not Parquet"
        )));
    }
    if file.key_metadata().is_some() {
        return Err(CatalogError::Unsupported(format!("table `{shown}` has encrypted data files")));
    }
    let sequence = entry.sequence_number().ok_or_else(|| no_sequence(shown))?;
    let deleted = deletes.of(file.file_path(), sequence);
    let spec = manifest.metadata().partition_spec();
    let partition = spec.partition_type(manifest.metadata().schema());
    let partition =
        partition.or_else(|_| spec.partition_type(table.metadata().current_schema())).unwrap_or_default();
    let bounds = statistics::bounds(file, schema, spec, &partition);
    Ok(IndexedFile {
        location: file.file_path().to_owned(),
        first_row: 0,
        path: warehouse.object_path(file.file_path(), shown)?,
        size: file.file_size_in_bytes(),
        rows: file.record_count(),
        statistics: Arc::new(statistics::statistics(file, schema, &bounds, deleted.len() as u64)),
        bounds,
        deleted: deleted.into(),
        access: OnceCell::new(),
    })
}
