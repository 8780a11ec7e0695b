//! Rows that another engine deleted stay deleted.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::prelude::SessionConfig;
use iceberg::MetadataLocation;
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, MAIN_BRANCH, ManifestListWriter,
    ManifestWriterBuilder, Operation, Snapshot, SnapshotReference, SnapshotRetention, Summary, TableMetadata,
};
use parquet::arrow::ArrowWriter;
use sqlx::Row;
use stdx::{Clock, SystemClock};

use crate::fixture::{Lake, field, lake, show, small};

pub(crate) struct Ledger {
    pool: sqlx::SqlitePool,
    location: String,
    io: FileIO,
    pub(crate) metadata: TableMetadata,
}

pub(crate) async fn ledger(lake: &Lake, table: &str) -> Ledger {
    let url = format!("sqlite:{}", lake.folder.path().join("catalog.db").display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    let row = sqlx::query("SELECT metadata_location FROM iceberg_tables WHERE table_name = ?")
        .bind(table)
        .fetch_one(&pool)
        .await
        .unwrap();
    let location: String = row.get(0);
    let io = FileIO::new_with_fs();
    let metadata = TableMetadata::read_from(&io, &location).await.unwrap();
    Ledger { pool, location, io, metadata }
}

impl Ledger {
    async fn data_files(&self) -> Vec<String> {
        let list = self.io.new_input(self.metadata.current_snapshot().unwrap().manifest_list()).unwrap();
        let list = list.read().await.unwrap();
        let list =
            iceberg::spec::ManifestList::parse_with_version(&list, self.metadata.format_version()).unwrap();
        let mut files = Vec::new();
        for entry in list.entries() {
            let manifest = entry.load_manifest(&self.io).await.unwrap();
            files.extend(manifest.entries().iter().map(|e| e.file_path().to_owned()));
        }
        files
    }

    /// Commits a delete file as another engine would.
    async fn commit(self, file: DataFile) {
        let old = self.metadata.current_snapshot().unwrap().clone();
        let id = old.snapshot_id() + 1;
        let sequence = self.metadata.next_sequence_number();
        let path = |name: &str| format!("{}/metadata/{name}-{id}.avro", self.metadata.location());
        let mut manifest = ManifestWriterBuilder::new(
            self.io.new_output(path("deletes")).unwrap(),
            Some(id),
            self.metadata.current_schema().clone(),
            self.metadata.default_partition_spec().as_ref().clone(),
        )
        .build_v2_deletes();
        manifest.add_file(file, sequence).unwrap();
        let manifest = manifest.write_manifest_file().await.unwrap();
        let before = self.io.new_input(old.manifest_list()).unwrap().read().await.unwrap();
        let before =
            iceberg::spec::ManifestList::parse_with_version(&before, self.metadata.format_version()).unwrap();
        let output = self.io.new_output(path("snap")).unwrap().writer().await.unwrap();
        let mut list = ManifestListWriter::v2(output, id, Some(old.snapshot_id()), sequence);
        list.add_manifests(before.consume_entries().into_iter().chain([manifest])).unwrap();
        list.close().await.unwrap();
        let snapshot = Snapshot::builder()
            .with_manifest_list(path("snap"))
            .with_snapshot_id(id)
            .with_parent_snapshot_id(Some(old.snapshot_id()))
            .with_sequence_number(sequence)
            .with_summary(Summary { operation: Operation::Delete, additional_properties: Default::default() })
            .with_schema_id(self.metadata.current_schema_id())
            .with_timestamp_ms(SystemClock.now().millis())
            .build();
        let reference = SnapshotReference::new(id, SnapshotRetention::branch(None, None, None));
        let builder = self.metadata.clone().into_builder(Some(self.location.clone()));
        let builder = builder.add_snapshot(snapshot).unwrap().set_ref(MAIN_BRANCH, reference).unwrap();
        self.put(builder.build().unwrap().metadata).await;
    }

    /// Makes other metadata the table's current one.
    pub(crate) async fn put(self, metadata: TableMetadata) {
        let next: MetadataLocation = self.location.parse().unwrap();
        let next = next.with_next_version().with_new_metadata(&metadata);
        metadata.write_to(&self.io, &next).await.unwrap();
        sqlx::query("UPDATE iceberg_tables SET metadata_location = ? WHERE metadata_location = ?")
            .bind(next.to_string())
            .bind(&self.location)
            .execute(&self.pool)
            .await
            .unwrap();
    }

    fn delete_file(
        &self,
        name: &str,
        rows: u64,
        size: u64,
        content: DataContentType,
        format: DataFileFormat,
    ) -> DataFile {
        let mut file = DataFileBuilder::default();
        file.content(content)
            .file_path(format!("{}/data/{name}", self.metadata.location()))
            .file_format(format)
            .record_count(rows)
            .file_size_in_bytes(size)
            .partition_spec_id(self.metadata.default_partition_spec_id());
        if content == DataContentType::EqualityDeletes {
            file.equality_ids(Some(vec![1]));
        }
        file.build().unwrap()
    }
}

/// Deletes rows of the table's only data file by their positions.
pub(crate) async fn delete_positions(lake: &Lake, table: &str, positions: &[i64]) {
    let ledger = ledger(lake, table).await;
    let data = ledger.data_files().await;
    assert_eq!(data.len(), 1);
    let with_id =
        |field: Field, id: &str| field.with_metadata([("PARQUET:field_id".to_owned(), id.to_owned())].into());
    let schema = Arc::new(Schema::new(vec![
        with_id(Field::new("file_path", DataType::Utf8, false), "2147483546"),
        with_id(Field::new("pos", DataType::Int64, false), "2147483545"),
    ]));
    let paths = StringArray::from(vec![data[0].as_str(); positions.len()]);
    let batch = RecordBatch::try_new(
        Arc::clone(&schema),
        vec![Arc::new(paths), Arc::new(Int64Array::from(positions.to_vec()))],
    );
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, None).unwrap();
    writer.write(&batch.unwrap()).unwrap();
    writer.close().unwrap();
    let size = bytes.len() as u64;
    let file = ledger.delete_file(
        "gone.parquet",
        positions.len() as u64,
        size,
        DataContentType::PositionDeletes,
        DataFileFormat::Parquet,
    );
    ledger.io.new_output(file.file_path()).unwrap().write(bytes.into()).await.unwrap();
    ledger.commit(file).await;
}

pub(crate) async fn five_rows() -> Lake {
    let lake = lake().await;
    lake.create("t", vec![field("a", DataType::Int64), field("b", DataType::Utf8)], &[]).await;
    lake.insert("t", "VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')").await;
    lake
}

#[tokio::test]
async fn position_deletes_are_honoured() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[1, 3]).await;
    assert_eq!(lake.query("SELECT a FROM t ORDER BY a").await, "1\n3\n5");
    assert_eq!(lake.query("SELECT count(*), max(a), min(b) FROM t").await, "3 5 a");
    assert_eq!(lake.query("SELECT a FROM t WHERE a IN (1, 2) ORDER BY a DESC").await, "1");
    assert_eq!(lake.query("SELECT count(*) FROM t WHERE a = 4").await, "0");
}

#[tokio::test]
async fn rows_written_after_a_delete_are_not_deleted_by_it() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[0]).await;
    lake.insert("t", "VALUES (6, 'f')").await;
    assert_eq!(lake.query("SELECT a FROM t ORDER BY a").await, "2\n3\n4\n5\n6");
}

/// DataFusion's pruning by limit forgets row selections where statistics satisfy the predicate.
#[tokio::test]
async fn a_limit_brings_no_deleted_row_back() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[0, 1]).await;
    for pushdown in [false, true] {
        let mut config: SessionConfig = small().with_target_partitions(1);
        config.options_mut().execution.parquet.pushdown_filters = pushdown;
        let session = lake.session(config).await;
        let sql = "SELECT a FROM t WHERE a > 0 LIMIT 3";
        let rows = session.sql(sql).await.unwrap().collect().await.unwrap();
        assert_eq!(show(&rows), "3\n4\n5", "pushdown: {pushdown}");
        let rows =
            session.sql("SELECT a FROM t ORDER BY a DESC LIMIT 2").await.unwrap().collect().await.unwrap();
        assert_eq!(show(&rows), "5\n4", "pushdown: {pushdown}");
    }
}

#[tokio::test]
async fn a_file_with_every_row_deleted_is_empty() {
    let lake = five_rows().await;
    delete_positions(&lake, "t", &[0, 1, 2, 3, 4]).await;
    assert_eq!(lake.query("SELECT count(*), max(a) FROM t").await, "0 NULL");
}

async fn refused(content: DataContentType, format: DataFileFormat, text: &str) {
    let lake = five_rows().await;
    let ledger = ledger(&lake, "t").await;
    let file = ledger.delete_file("gone", 1, 1, content, format);
    ledger.commit(file).await;
    let session = lake.session(small()).await;
    for sql in ["SELECT a FROM t", "SELECT count(*) FROM t", "SELECT a FROM t WHERE a = 9"] {
        let planned = session.sql(sql).await.unwrap().collect().await.unwrap_err();
        assert!(planned.to_string().contains(text), "{planned}");
    }
}

#[tokio::test]
async fn deletes_of_other_kinds_are_refused_and_never_passed_over() {
    let equality = "table `sales.t` has equality deletes, which are not supported";
    refused(DataContentType::EqualityDeletes, DataFileFormat::Parquet, equality).await;
    let vectors = "table `sales.t` has deletion vectors, which are not supported";
    refused(DataContentType::PositionDeletes, DataFileFormat::Puffin, vectors).await;
}
