//! What a table's metadata says of it: its snapshots, names, files and partitions, as rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::common::Statistics;
use iceberg::spec::{
    DataContentType, Manifest, ManifestContentType, ManifestEntryRef, ManifestFile, Snapshot, TableMetadata,
};
use serde_json::{Map, Value};

use crate::error::{Doing, Result};
use crate::past::refs;
use crate::scan::IcebergTableProvider;
use crate::table::TableHandle;

const READ: &str = "read the table's manifests";

/// The tables that stand beside a table under its name, a `$` and a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataTable {
    Snapshots,
    History,
    Refs,
    Manifests,
    Files,
    Partitions,
}

impl MetadataTable {
    pub const ALL: [Self; 6] =
        [Self::Snapshots, Self::History, Self::Refs, Self::Manifests, Self::Files, Self::Partitions];

    pub fn word(self) -> &'static str {
        match self {
            Self::Snapshots => "snapshots",
            Self::History => "history",
            Self::Refs => "refs",
            Self::Manifests => "manifests",
            Self::Files => "files",
            Self::Partitions => "partitions",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.word() == word)
    }
}

/// One column of such a table, with the values that its rows have.
enum Cells {
    Text(Vec<Option<String>>),
    Int(Vec<Option<i32>>),
    Long(Vec<Option<i64>>),
    Truth(Vec<Option<bool>>),
    Millis(Vec<Option<i64>>),
}

impl Cells {
    fn of(self) -> (DataType, ArrayRef) {
        match self {
            Self::Text(cells) => (DataType::Utf8, Arc::new(StringArray::from(cells))),
            Self::Int(cells) => (DataType::Int32, Arc::new(Int32Array::from(cells))),
            Self::Long(cells) => (DataType::Int64, Arc::new(Int64Array::from(cells))),
            Self::Truth(cells) => (DataType::Boolean, Arc::new(BooleanArray::from(cells))),
            Self::Millis(cells) => {
                let micros = cells.into_iter().map(|cell| cell.map(|millis| millis.saturating_mul(1_000)));
                let array = TimestampMicrosecondArray::from_iter(micros).with_timezone("+00:00");
                (DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())), Arc::new(array))
            }
        }
    }
}

fn batch(columns: Vec<(&'static str, Cells)>) -> Result<RecordBatch> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for (name, cells) in columns {
        let (data_type, array) = cells.of();
        fields.push(Field::new(name, data_type, true));
        arrays.push(array);
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays).doing("show the table's metadata")
}

impl TableHandle {
    /// The rows of one of the tables beside this one.
    ///
    /// Bounds, counts and partitions are those of all stored rows: who may not see all of them may not see these.
    pub async fn metadata_table(&self, kind: MetadataTable) -> Result<RecordBatch> {
        let metadata = self.table.metadata();
        match kind {
            MetadataTable::Snapshots => snapshots(metadata, &self.location),
            MetadataTable::History => history(metadata),
            MetadataTable::Refs => named(metadata),
            MetadataTable::Manifests => self.manifests().await,
            MetadataTable::Files => self.files().await,
            MetadataTable::Partitions => self.partitions().await,
        }
    }

    async fn manifest_files(&self) -> Result<Vec<ManifestFile>> {
        let Some(id) = self.snapshot_id else { return Ok(Vec::new()) };
        let Some(snapshot) = self.table.metadata().snapshot_by_id(id) else { return Ok(Vec::new()) };
        let list = self.table.manifest_list_reader(snapshot).load().await.doing(READ)?;
        Ok(list.consume_entries().into_iter().collect())
    }

    async fn manifests(&self) -> Result<RecordBatch> {
        let files = self.manifest_files().await?;
        let long = |value: fn(&ManifestFile) -> Option<i64>| Cells::Long(files.iter().map(value).collect());
        batch(vec![
            ("content", Cells::Int(files.iter().map(|file| Some(content_number(file.content))).collect())),
            ("path", Cells::Text(files.iter().map(|f| Some(self.within(&f.manifest_path))).collect())),
            ("length", long(|file| Some(file.manifest_length))),
            ("partition_spec_id", Cells::Int(files.iter().map(|f| Some(f.partition_spec_id)).collect())),
            ("added_snapshot_id", long(|file| Some(file.added_snapshot_id))),
            ("added_data_files_count", long(|file| file.added_files_count.map(i64::from))),
            ("added_rows_count", long(|file| whole(file.added_rows_count))),
            ("existing_data_files_count", long(|file| file.existing_files_count.map(i64::from))),
            ("existing_rows_count", long(|file| whole(file.existing_rows_count))),
            ("deleted_data_files_count", long(|file| file.deleted_files_count.map(i64::from))),
            ("deleted_rows_count", long(|file| whole(file.deleted_rows_count))),
        ])
    }

    async fn live(&self) -> Result<Vec<(Arc<Manifest>, ManifestEntryRef)>> {
        let mut live = Vec::new();
        for file in self.manifest_files().await? {
            let manifest = Arc::new(file.load_manifest(self.table.file_io()).await.doing(READ)?);
            let entries = manifest.entries().iter().filter(|entry| entry.is_alive());
            live.extend(entries.map(|entry| (Arc::clone(&manifest), Arc::clone(entry))));
        }
        Ok(live)
    }

    async fn files(&self) -> Result<RecordBatch> {
        let live = self.live().await?;
        let names = self.names_by_id();
        let text = |value: &dyn Fn(&Manifest, &ManifestEntryRef) -> Option<String>| {
            Cells::Text(live.iter().map(|(manifest, entry)| value(manifest, entry)).collect())
        };
        let long = |value: &dyn Fn(&ManifestEntryRef) -> Option<i64>| {
            Cells::Long(live.iter().map(|(_, entry)| value(entry)).collect())
        };
        let content = live.iter().map(|(_, entry)| Some(file_content_number(entry.content_type())));
        let spec = live.iter().map(|(m, _)| Some(m.metadata().partition_spec().spec_id()));
        batch(vec![
            ("content", Cells::Int(content.collect())),
            ("file_path", text(&|_, entry| Some(self.within(entry.file_path())))),
            ("file_format", text(&|_, entry| Some(entry.file_format().to_string().to_uppercase()))),
            ("spec_id", Cells::Int(spec.collect())),
            ("partition", text(&|manifest, entry| Some(self.partition_of(manifest, entry)))),
            ("record_count", long(&|entry| i64::try_from(entry.record_count()).ok())),
            ("file_size_in_bytes", long(&|entry| i64::try_from(entry.file_size_in_bytes()).ok())),
            ("column_sizes", text(&|_, entry| by_column(entry.data_file().column_sizes(), &names))),
            ("value_counts", text(&|_, entry| by_column(entry.data_file().value_counts(), &names))),
            ("null_value_counts", text(&|_, entry| by_column(entry.data_file().null_value_counts(), &names))),
            ("nan_value_counts", text(&|_, entry| by_column(entry.data_file().nan_value_counts(), &names))),
            ("lower_bounds", text(&|_, entry| by_column(entry.data_file().lower_bounds(), &names))),
            ("upper_bounds", text(&|_, entry| by_column(entry.data_file().upper_bounds(), &names))),
            (
                "sort_order_id",
                Cells::Int(live.iter().map(|(_, entry)| entry.data_file().sort_order_id()).collect()),
            ),
        ])
    }

    async fn partitions(&self) -> Result<RecordBatch> {
        let mut found: BTreeMap<String, [i64; 3]> = BTreeMap::new();
        for (manifest, entry) in self.live().await? {
            if entry.content_type() != DataContentType::Data {
                continue;
            }
            let [records, files, bytes] = found.entry(self.partition_of(&manifest, &entry)).or_default();
            *records = records.saturating_add(i64::try_from(entry.record_count()).unwrap_or(i64::MAX));
            *files = files.saturating_add(1);
            *bytes = bytes.saturating_add(i64::try_from(entry.file_size_in_bytes()).unwrap_or(i64::MAX));
        }
        let long = |at: fn(&[i64; 3]) -> i64| Cells::Long(found.values().map(|v| Some(at(v))).collect());
        batch(vec![
            ("partition", Cells::Text(found.keys().cloned().map(Some).collect())),
            ("record_count", long(|[records, _, _]| *records)),
            ("file_count", long(|[_, files, _]| *files)),
            ("total_size", long(|[_, _, bytes]| *bytes)),
        ])
    }

    /// `dev=1/day=2026-01-01`; empty where the table has no partitions.
    fn partition_of(&self, manifest: &Manifest, entry: &ManifestEntryRef) -> String {
        let spec = manifest.metadata().partition_spec();
        let kind = spec.partition_type(manifest.metadata().schema());
        let Ok(kind) = kind.or_else(|_| spec.partition_type(self.table.metadata().current_schema())) else {
            return String::new();
        };
        let values = entry.data_file().partition().fields();
        let parts = spec.fields().iter().zip(kind.fields()).enumerate().map(|(at, (field, kind))| {
            let value = values.get(at).and_then(Option::as_ref);
            format!("{}={}", field.name, field.transform.to_human_string(&kind.field_type, value))
        });
        parts.collect::<Vec<_>>().join("/")
    }

    /// Every column that the table has or had, by field id, under its newest name.
    fn names_by_id(&self) -> HashMap<i32, String> {
        let mut names: HashMap<i32, String> = HashMap::new();
        for (id, all) in self.columns_of_all_times() {
            names.extend(all.into_iter().next().map(|name| (id, name)));
        }
        names
    }

    /// The columns that the table has or ever had, and their parts: of each field id all names, newest first.
    pub fn columns_of_all_times(&self) -> Vec<(i32, Vec<String>)> {
        let metadata = self.table.metadata();
        let mut schemas: Vec<_> = metadata.schemas_iter().collect();
        schemas.sort_by_key(|schema| {
            std::cmp::Reverse((schema.schema_id() == metadata.current_schema_id(), schema.schema_id()))
        });
        let mut found: BTreeMap<i32, Vec<String>> = BTreeMap::new();
        for schema in schemas {
            for (id, name) in schema.field_id_to_name_map() {
                let names = found.entry(*id).or_default();
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        found.into_iter().collect()
    }

    /// A path as the table's own folder has it: where that folder lies is nobody's business.
    fn within(&self, path: &str) -> String {
        within(path, &self.location)
    }

    /// What the statistics of all files tell together.
    pub async fn statistics(&self) -> Result<Statistics> {
        let Some(provider) = self.provider.downcast_ref::<IcebergTableProvider>() else {
            return Ok(Statistics::new_unknown(&self.schema));
        };
        provider.read_statistics().await
    }
}

fn within(path: &str, location: &str) -> String {
    let inner = path.strip_prefix(location).map(|rest| rest.trim_start_matches('/'));
    inner.unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default()).to_owned()
}

fn whole(count: Option<u64>) -> Option<i64> {
    count.and_then(|count| i64::try_from(count).ok())
}

fn content_number(content: ManifestContentType) -> i32 {
    match content {
        ManifestContentType::Data => 0,
        ManifestContentType::Deletes => 1,
    }
}

fn file_content_number(content: DataContentType) -> i32 {
    match content {
        DataContentType::Data => 0,
        DataContentType::PositionDeletes => 1,
        DataContentType::EqualityDeletes => 2,
    }
}

/// `{"column": "value"}`, by the columns' names; of what stands within a nested column by its field id.
fn by_column<T: Display>(values: &HashMap<i32, T>, names: &HashMap<i32, String>) -> Option<String> {
    if values.is_empty() {
        return None;
    }
    let mut shown: BTreeMap<i32, (String, String)> = BTreeMap::new();
    for (id, value) in values {
        let name = names.get(id).cloned().unwrap_or_else(|| id.to_string());
        let text = value.to_string();
        // Texts print in quotes.
        let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        shown.insert(*id, (name, bare.unwrap_or(&text).to_owned()));
    }
    let map: Map<String, Value> =
        shown.into_values().map(|(name, value)| (name, Value::String(value))).collect();
    Some(Value::Object(map).to_string())
}

fn snapshots(metadata: &TableMetadata, location: &str) -> Result<RecordBatch> {
    let mut all: Vec<_> = metadata.snapshots().collect();
    all.sort_by_key(|snapshot| snapshot.sequence_number());
    let summary = |snapshot: &Snapshot| {
        let properties: BTreeMap<_, _> = snapshot.summary().additional_properties.iter().collect();
        serde_json::to_string(&properties).ok()
    };
    batch(vec![
        ("committed_at", Cells::Millis(all.iter().map(|s| Some(s.timestamp_ms())).collect())),
        ("snapshot_id", Cells::Long(all.iter().map(|s| Some(s.snapshot_id())).collect())),
        ("parent_id", Cells::Long(all.iter().map(|s| s.parent_snapshot_id()).collect())),
        (
            "operation",
            Cells::Text(all.iter().map(|s| Some(s.summary().operation.as_str().to_owned())).collect()),
        ),
        (
            "manifest_list",
            Cells::Text(all.iter().map(|s| Some(within(s.manifest_list(), location))).collect()),
        ),
        ("summary", Cells::Text(all.iter().map(|s| summary(s)).collect())),
    ])
}

fn history(metadata: &TableMetadata) -> Result<RecordBatch> {
    let mut ancestors = BTreeSet::new();
    let mut at = metadata.current_snapshot();
    while let Some(snapshot) = at {
        if !ancestors.insert(snapshot.snapshot_id()) {
            break;
        }
        at = snapshot.parent_snapshot_id().and_then(|id| metadata.snapshot_by_id(id));
    }
    let entries = metadata.history();
    let parent = |id: i64| metadata.snapshot_by_id(id).and_then(|snapshot| snapshot.parent_snapshot_id());
    batch(vec![
        ("made_current_at", Cells::Millis(entries.iter().map(|e| Some(e.timestamp_ms())).collect())),
        ("snapshot_id", Cells::Long(entries.iter().map(|e| Some(e.snapshot_id)).collect())),
        ("parent_id", Cells::Long(entries.iter().map(|e| parent(e.snapshot_id)).collect())),
        (
            "is_current_ancestor",
            Cells::Truth(entries.iter().map(|e| Some(ancestors.contains(&e.snapshot_id))).collect()),
        ),
    ])
}

fn named(metadata: &TableMetadata) -> Result<RecordBatch> {
    let all = refs(metadata);
    let kind = |is_branch: bool| if is_branch { "BRANCH" } else { "TAG" }.to_owned();
    batch(vec![
        ("name", Cells::Text(all.iter().map(|(name, _)| Some(name.clone())).collect())),
        ("type", Cells::Text(all.iter().map(|(_, r)| Some(kind(r.is_branch))).collect())),
        ("snapshot_id", Cells::Long(all.iter().map(|(_, r)| Some(r.snapshot_id)).collect())),
        ("max_reference_age_in_ms", Cells::Long(all.iter().map(|(_, r)| r.max_reference_age_ms).collect())),
        ("min_snapshots_to_keep", Cells::Long(all.iter().map(|(_, r)| r.min_snapshots_to_keep).collect())),
        ("max_snapshot_age_in_ms", Cells::Long(all.iter().map(|(_, r)| r.max_snapshot_age_ms).collect())),
    ])
}
