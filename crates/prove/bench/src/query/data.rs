//! TPC-H as Iceberg tables, whose data files the peers read too.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use catalog::{Catalog, CatalogConfig};
use datafusion::error::DataFusionError;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use sluice::config::{self, Config, Inputs};
use sluice::demo::tpch::TpchTable;

use crate::THREADS;

const NAMESPACE: &str = "tpch";

/// Rows that are generated at a time.
const BATCH_ROWS: usize = 32_768;

/// A filled data folder, gone with the value.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) config: Config,
    /// The tables' schema with its catalog, as SQL names it.
    pub(crate) schema: String,
    /// The folder of each table's Parquet files.
    pub(crate) folders: Vec<(TpchTable, PathBuf)>,
    _folder: tempfile::TempDir,
}

pub(crate) async fn make(scale: f64) -> Result<Data> {
    let folder =
        tempfile::Builder::new().prefix("sluice-bench-").tempdir().context("no folder for the data")?;
    let inputs = Inputs::default()
        .with_flag("server.data_dir", folder.path().display().to_string())
        .with_flag("postgres.listen", "off")
        .with_flag("http.listen", "off")
        .with_flag("engine.target_partitions", THREADS.to_string());
    let config = config::load(&inputs)?.config;
    let first = config.catalogs.first().context("there is no catalog")?;
    let catalog = Catalog::open(CatalogConfig {
        name: first.name.clone(),
        warehouse: first.warehouse.clone(),
        database: folder.path().join("catalogs").join(format!("{}.sqlite", first.name)),
    })
    .await?;
    catalog.create_namespace(&[NAMESPACE.to_owned()]).await?;
    // One after the other: commits that meet wait for each other only so long, and on a busy machine that is too short.
    let mut folders = Vec::new();
    for table in TpchTable::ALL {
        let folder = load(&catalog, table, scale).await;
        folders.push((table, folder.with_context(|| format!("`{}` was not loaded", table.name()))?));
    }
    Ok(Data { schema: format!("{}.{NAMESPACE}", first.name), config, folders, _folder: folder })
}

/// Makes and fills one table, and says where its data files lie.
async fn load(catalog: &Catalog, table: TpchTable, scale: f64) -> Result<PathBuf> {
    let namespace = [NAMESPACE.to_owned()];
    let properties = std::collections::HashMap::new();
    let handle = catalog.create_table(&namespace, table.name(), &table.schema(), &[], properties).await?;
    // Rows are always ready, so without a pause the load would keep all else on its thread from going on.
    let batches = stream::iter(table.batches(scale, BATCH_ROWS)).then(async |batch| {
        tokio::task::yield_now().await;
        batch.map_err(DataFusionError::from)
    });
    let rows = RecordBatchStreamAdapter::new(table.schema(), batches);
    catalog.append(&handle, Box::pin(rows)).await?;
    let location = handle.location.strip_prefix("file://").unwrap_or(&handle.location);
    let data = Path::new(location).join("data");
    anyhow::ensure!(data.is_dir(), "the table has no folder of data files");
    Ok(data)
}

/// The bytes of all data files.
pub(crate) fn size_bytes(data: &Data) -> Result<u64> {
    let mut total = 0;
    for (_, folder) in &data.folders {
        for entry in std::fs::read_dir(folder)? {
            total += entry?.metadata()?.len();
        }
    }
    Ok(total)
}
