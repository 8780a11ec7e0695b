//! The commit that takes files out of a table and puts others in, on top of the very state it was made from.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use iceberg::MetadataLocation;
use iceberg::spec::{
    DataFile, FormatVersion, MAIN_BRANCH, Manifest, ManifestContentType, ManifestFile, ManifestListWriter,
    ManifestWriter, ManifestWriterBuilder, Operation, PartitionSpec, SchemaRef, Snapshot, Summary,
    TableMetadata,
};
use iceberg::table::Table;
use stdx::{Clock, SystemClock};
use uuid::Uuid;

use crate::catalog::Inner;
use crate::error::{CatalogError, Doing, Result};
use crate::table::TableHandle;
use crate::write::durable;

const COMMIT: &str = "commit to the table";

/// Which files leave the table.
#[derive(Debug)]
pub(crate) enum Removed {
    /// Data files by where they lie.
    Files(HashSet<String>),
    /// Every file, those of deletes included.
    All,
}

impl Removed {
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Files(files) if files.is_empty())
    }

    fn takes(&self, location: &str) -> bool {
        match self {
            Self::Files(files) => files.contains(location),
            Self::All => true,
        }
    }
}

/// What a commit that ended in an error has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Nothing,
    /// The catalog's database did not say.
    Unknown,
}

/// Commits, or says that somebody else was first; there is no second try, for what was read may be different now.
pub(crate) async fn commit(
    catalog: &Inner,
    handle: &TableHandle,
    removed: &Removed,
    added: Vec<DataFile>,
) -> std::result::Result<Table, (CatalogError, Outcome)> {
    let mut making = Making::new(&handle.table);
    let mut new = durable::data_files(&added);
    let made = making.metadata(removed, added, &handle.shown()).await;
    let (metadata, location) = match made {
        Ok(made) => made,
        Err(error) => {
            making.discard().await;
            return Err((error, Outcome::Nothing));
        }
    };
    new.extend(making.made.iter().cloned());
    if let Err(error) = durable::sync(new).await {
        making.discard().await;
        return Err((error, Outcome::Nothing));
    }
    let from = handle.table.metadata_location().unwrap_or_default();
    match catalog.ledger.swap(&handle.namespace.join("."), &handle.name, from, &location).await {
        Ok(true) => catalog
            .table(&handle.namespace, &handle.name, &location, metadata)
            .map_err(|error| (error, Outcome::Unknown)),
        Ok(false) => {
            making.discard().await;
            Err((CatalogError::Conflict(handle.shown()), Outcome::Nothing))
        }
        Err(error) => Err((error, Outcome::Unknown)),
    }
}

/// A snapshot being made, with the metadata files that were written for it.
struct Making<'a> {
    table: &'a Table,
    snapshot_id: i64,
    uuid: Uuid,
    made: Vec<String>,
}

/// What a snapshot changes, counted.
#[derive(Default)]
struct Counts {
    added: Count,
    removed: Count,
    removed_deletes: Count,
}

#[derive(Default)]
struct Count {
    files: u64,
    records: u64,
    bytes: u64,
}

impl Count {
    fn add(&mut self, file: &DataFile) {
        self.files = self.files.saturating_add(1);
        self.records = self.records.saturating_add(file.record_count());
        self.bytes = self.bytes.saturating_add(file.file_size_in_bytes());
    }
}

impl<'a> Making<'a> {
    fn new(table: &'a Table) -> Self {
        let uuid = Uuid::now_v7();
        Self { table, snapshot_id: fresh_id(table.metadata()), uuid, made: Vec::new() }
    }

    async fn discard(self) {
        for location in self.made {
            if let Err(error) = self.table.file_io().delete(&location).await {
                tracing::debug!(error = %error, "metadata file of a failed commit not deleted");
            }
        }
    }

    fn path(&mut self, name: &str) -> String {
        let path = format!("{}/metadata/{name}.avro", self.table.metadata().location());
        self.made.push(path.clone());
        path
    }

    /// Writes manifests, their list and the metadata that points to it.
    async fn metadata(
        &mut self,
        removed: &Removed,
        added: Vec<DataFile>,
        shown: &str,
    ) -> Result<(TableMetadata, String)> {
        let metadata = self.table.metadata();
        if metadata.format_version() == FormatVersion::V3 {
            return Err(CatalogError::Unsupported(format!("table `{shown}` has format version 3")));
        }
        let current = self.table.metadata_location_result().doing(COMMIT)?.to_owned();
        let builder = metadata.clone().into_builder(Some(current.clone()));
        let next = match metadata.current_snapshot().is_none() && added.is_empty() {
            // A table that becomes another without rows.
            true => builder,
            false => {
                let snapshot = self.snapshot(removed, added).await?;
                builder.set_branch_snapshot(snapshot, MAIN_BRANCH).doing(COMMIT)?
            }
        };
        let next = next.build().doing(COMMIT)?.metadata;
        let location = MetadataLocation::from_str(&current).doing(COMMIT)?;
        let location = location.with_next_version().with_new_metadata(&next);
        self.made.push(location.to_string());
        next.write_to(self.table.file_io(), &location).await.doing("write the table's metadata")?;
        Ok((next, location.to_string()))
    }

    async fn snapshot(&mut self, removed: &Removed, added: Vec<DataFile>) -> Result<Snapshot> {
        let metadata = self.table.metadata();
        let mut counts = Counts::default();
        let mut manifests = self.carried(removed, &mut counts).await?;
        if !added.is_empty() {
            added.iter().for_each(|file| counts.added.add(file));
            manifests.push(self.added(added).await?);
        }
        let list = self.list(manifests).await?;
        let operation = if counts.added.files == 0 { Operation::Delete } else { Operation::Overwrite };
        let totals = summary(&counts, metadata);
        Ok(Snapshot::builder()
            .with_manifest_list(list)
            .with_snapshot_id(self.snapshot_id)
            .with_parent_snapshot_id(metadata.current_snapshot_id())
            .with_sequence_number(metadata.next_sequence_number())
            .with_summary(Summary { operation, additional_properties: totals })
            .with_schema_id(metadata.current_schema_id())
            // Clocks differ between machines, and a table's time does not run backwards.
            .with_timestamp_ms(SystemClock.now().millis().max(metadata.last_updated_ms()))
            .build())
    }

    /// The manifests of the table as it is, those that name a removed file written anew.
    async fn carried(&mut self, removed: &Removed, counts: &mut Counts) -> Result<Vec<ManifestFile>> {
        let Some(snapshot) = self.table.metadata().current_snapshot() else {
            return Ok(Vec::new());
        };
        let list = self.table.manifest_list_reader(snapshot).load().await.doing(COMMIT)?;
        let mut carried = Vec::new();
        let files: Vec<ManifestFile> = list.consume_entries().into_iter().collect();
        for file in files {
            let manifest = file.load_manifest(self.table.file_io()).await.doing(COMMIT)?;
            let names_removed =
                manifest.entries().iter().any(|e| e.is_alive() && removed.takes(e.file_path()));
            if names_removed {
                carried.push(self.without(&file, &manifest, removed, counts).await?);
            } else {
                carried.push(file);
            }
        }
        Ok(carried)
    }

    async fn without(
        &mut self,
        file: &ManifestFile,
        manifest: &Manifest,
        removed: &Removed,
        counts: &mut Counts,
    ) -> Result<ManifestFile> {
        let known = manifest.metadata();
        let schema = known.schema().clone();
        let mut writer = self.writer(file.content, schema, known.partition_spec().clone())?;
        for entry in manifest.entries().iter().filter(|entry| entry.is_alive()) {
            let data = entry.data_file().clone();
            let sequence = entry.sequence_number().unwrap_or_default();
            let file_sequence = entry.file_sequence_number.or(Some(sequence));
            if removed.takes(entry.file_path()) {
                match file.content {
                    ManifestContentType::Data => counts.removed.add(&data),
                    ManifestContentType::Deletes => counts.removed_deletes.add(&data),
                }
                writer.add_delete_file(data, sequence, file_sequence).doing(COMMIT)?;
            } else {
                let by = entry.snapshot_id().unwrap_or(file.added_snapshot_id);
                writer.add_existing_file(data, by, sequence, file_sequence).doing(COMMIT)?;
            }
        }
        writer.write_manifest_file().await.doing(COMMIT)
    }

    async fn added(&mut self, files: Vec<DataFile>) -> Result<ManifestFile> {
        let metadata = self.table.metadata();
        let spec = metadata.default_partition_spec().as_ref().clone();
        let mut writer = self.writer(ManifestContentType::Data, metadata.current_schema().clone(), spec)?;
        for file in files {
            writer.add_file(file, metadata.next_sequence_number()).doing(COMMIT)?;
        }
        writer.write_manifest_file().await.doing(COMMIT)
    }

    fn writer(
        &mut self,
        content: ManifestContentType,
        schema: SchemaRef,
        spec: PartitionSpec,
    ) -> Result<ManifestWriter> {
        let path = self.path(&format!("{}-m{}", self.uuid, self.made.len()));
        let output = self.table.file_io().new_output(path).doing(COMMIT)?;
        let builder = ManifestWriterBuilder::new(output, Some(self.snapshot_id), schema, spec);
        Ok(match (self.table.metadata().format_version(), content) {
            (FormatVersion::V1, _) => builder.build_v1(),
            (_, ManifestContentType::Data) => builder.build_v2_data(),
            (_, ManifestContentType::Deletes) => builder.build_v2_deletes(),
        })
    }

    async fn list(&mut self, manifests: Vec<ManifestFile>) -> Result<String> {
        let metadata = self.table.metadata();
        let path = self.path(&format!("snap-{}-0-{}", self.snapshot_id, self.uuid));
        let output = self.table.file_io().new_output(&path).doing(COMMIT)?.writer().await.doing(COMMIT)?;
        let parent = metadata.current_snapshot_id();
        let mut list = match metadata.format_version() {
            FormatVersion::V1 => ManifestListWriter::v1(output, self.snapshot_id, parent),
            _ => ManifestListWriter::v2(output, self.snapshot_id, parent, metadata.next_sequence_number()),
        };
        list.add_manifests(manifests.into_iter()).doing(COMMIT)?;
        list.close().await.doing(COMMIT)?;
        Ok(path)
    }
}

/// A snapshot's id: positive, and of no other snapshot of the table.
fn fresh_id(metadata: &TableMetadata) -> i64 {
    loop {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        let id = i64::try_from((high ^ low) >> 1).unwrap_or_default();
        if id != 0 && metadata.snapshot_by_id(id).is_none() {
            return id;
        }
    }
}

/// What Iceberg's snapshots tell of themselves.
fn summary(counts: &Counts, metadata: &TableMetadata) -> HashMap<String, String> {
    let before = metadata.current_snapshot().map(|snapshot| &snapshot.summary().additional_properties);
    let mut told = HashMap::new();
    let Counts { added, removed, removed_deletes } = counts;
    let changes = [
        ("added-data-files", added.files),
        ("added-records", added.records),
        ("added-files-size", added.bytes),
        ("deleted-data-files", removed.files),
        ("deleted-records", removed.records),
        ("removed-files-size", removed.bytes.saturating_add(removed_deletes.bytes)),
        ("removed-position-delete-files", removed_deletes.files),
        ("removed-position-deletes", removed_deletes.records),
    ];
    told.extend(changes.into_iter().filter(|(_, n)| *n > 0).map(|(key, n)| (key.to_owned(), n.to_string())));
    let totals = [
        ("total-data-files", added.files, removed.files),
        ("total-records", added.records, removed.records),
        ("total-files-size", added.bytes, removed.bytes.saturating_add(removed_deletes.bytes)),
        ("total-delete-files", 0, removed_deletes.files),
        ("total-position-deletes", 0, removed_deletes.records),
        ("total-equality-deletes", 0, 0),
    ];
    for (key, more, fewer) in totals {
        // A total that nobody kept so far cannot be begun in the middle.
        let old = match before {
            None => Some(0),
            Some(before) => before.get(key).and_then(|text| text.parse::<u64>().ok()),
        };
        if let Some(old) = old {
            let new = old.saturating_add(more).saturating_sub(fewer);
            told.insert(key.to_owned(), new.to_string());
        }
    }
    told
}
