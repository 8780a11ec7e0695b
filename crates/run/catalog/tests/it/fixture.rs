//! A catalog in a temporary folder, and short ways to fill and read it.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::FormatOptions;
use arrow::util::pretty::pretty_format_batches_with_options;
use catalog::{Catalog, CatalogConfig, TableHandle};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::stream;
use tempfile::TempDir;

pub(crate) struct Lake {
    pub(crate) catalog: Catalog,
    pub(crate) folder: TempDir,
}

pub(crate) fn ns() -> Vec<String> {
    vec!["sales".to_owned()]
}

pub(crate) async fn open(folder: &TempDir) -> Catalog {
    let config = CatalogConfig {
        name: "lake".to_owned(),
        warehouse: folder.path().join("warehouse"),
        database: folder.path().join("catalog.db"),
    };
    Catalog::open(config).await.unwrap()
}

/// A catalog with the namespace `sales`.
pub(crate) async fn lake() -> Lake {
    let folder = TempDir::new().unwrap();
    let catalog = open(&folder).await;
    catalog.create_namespace(&ns()).await.unwrap();
    Lake { catalog, folder }
}

pub(crate) fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

impl Lake {
    pub(crate) async fn create(&self, name: &str, fields: Vec<Field>, partition_by: &[&str]) -> TableHandle {
        let by: Vec<String> = partition_by.iter().map(|c| (*c).to_owned()).collect();
        self.catalog.create_table(&ns(), name, &Schema::new(fields), &by, HashMap::new()).await.unwrap()
    }

    pub(crate) async fn load(&self, name: &str) -> TableHandle {
        self.catalog.load(&ns(), name).await.unwrap().unwrap()
    }

    /// Appends the rows of a query without tables, such as `VALUES (1, 'a')`.
    pub(crate) async fn insert(&self, name: &str, sql: &str) -> u64 {
        let handle = self.load(name).await;
        self.catalog.append(&handle, rows(sql).await).await.unwrap()
    }

    /// A session that sees the tables as they are now.
    pub(crate) async fn session(&self, config: SessionConfig) -> SessionContext {
        let session = SessionContext::new_with_config(config);
        for name in self.catalog.tables(&ns()).await.unwrap() {
            session.register_table(name.as_str(), self.load(&name).await.provider).unwrap();
        }
        session
    }

    pub(crate) async fn query(&self, sql: &str) -> String {
        let session = self.session(small()).await;
        show(&session.sql(sql).await.unwrap().collect().await.unwrap())
    }
}

/// Four partitions, and files split however small they are.
pub(crate) fn small() -> SessionConfig {
    let mut config = SessionConfig::new().with_target_partitions(4);
    config.options_mut().optimizer.repartition_file_min_size = 0;
    config
}

pub(crate) async fn rows(sql: &str) -> SendableRecordBatchStream {
    SessionContext::new().sql(sql).await.unwrap().execute_stream().await.unwrap()
}

pub(crate) fn batches(batches: Vec<RecordBatch>) -> SendableRecordBatchStream {
    let schema = batches[0].schema();
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(batches.into_iter().map(Ok))))
}

/// The rows, one a line, columns apart by one space, without the header.
pub(crate) fn show(batches: &[RecordBatch]) -> String {
    let options = FormatOptions::new().with_null("NULL");
    let table = pretty_format_batches_with_options(batches, &options).unwrap().to_string();
    let lines = table.lines().filter(|line| line.starts_with('|')).skip(1);
    let cells = |line: &str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join(" ");
    lines.map(cells).collect::<Vec<_>>().join("\n")
}

/// How many files end on `end` below a folder.
pub(crate) fn files_ending(folder: &std::path::Path, end: &str) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| match path.is_dir() {
            true => files_ending(&path, end),
            false => usize::from(path.to_string_lossy().ends_with(end)),
        })
        .sum()
}
