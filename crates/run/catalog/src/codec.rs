//! Scans on their way to another process: the Parquet scan that `datafusion-proto` knows, and what it would drop.

use std::fmt;
use std::sync::Arc;

use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::PartitionedFile;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use serde::{Deserialize, Serialize};

use crate::scan::source::{IcebergSource, any_selection};

/// The first bytes of an encoded scan, with the version of the form.
const MAGIC: &[u8] = b"sluice-iceberg-scan-1\n";

/// Encodes and decodes [`IcebergSource`] scans; a worker must have the catalog
/// [registered](crate::Catalog::register) before it decodes.
#[derive(Default)]
pub struct IcebergCodec;

impl fmt::Debug for IcebergCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IcebergCodec")
    }
}

/// What a plain Parquet scan loses on the way.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rest {
    selects_rows: bool,
    preserve_order: bool,
    limit: Option<u64>,
    /// For each file of each group its row selection, if it has one.
    files: Vec<Vec<Option<Vec<Group>>>>,
}

/// What is read of one row group.
#[derive(Serialize, Deserialize)]
enum Group {
    Skip,
    Scan,
    /// Lengths of runs in turn: skipped, read, skipped, and so on.
    Runs(Vec<u64>),
}

fn malformed(what: &str) -> DataFusionError {
    DataFusionError::Internal(format!("an encoded Iceberg scan is malformed: {what}"))
}

impl PhysicalExtensionCodec for IcebergCodec {
    fn try_encode(&self, node: Arc<dyn ExecutionPlan>, buf: &mut Vec<u8>) -> Result<()> {
        let not_ours =
            || DataFusionError::NotImplemented(format!("`{}` cannot be encoded here", node.name()));
        let exec = node.downcast_ref::<DataSourceExec>().ok_or_else(not_ours)?;
        let config = exec.data_source().downcast_ref::<FileScanConfig>().ok_or_else(not_ours)?;
        let source = config.file_source().downcast_ref::<IcebergSource>().ok_or_else(not_ours)?;
        let rest = serde_json::to_vec(&rest_of(config, source))
            .map_err(|e| DataFusionError::External(Box::new(e)))?;
        let mut plain = config.clone();
        plain.file_source = source.parquet_source();
        plain.limit = None;
        let plan =
            physical_plan_to_bytes_with_extension_codec(DataSourceExec::from_data_source(plain), self)?;
        let length = u32::try_from(rest.len()).map_err(|_| malformed("too many row selections"))?;
        buf.extend_from_slice(MAGIC);
        buf.extend_from_slice(&length.to_le_bytes());
        buf.extend_from_slice(&rest);
        buf.extend_from_slice(&plan);
        Ok(())
    }

    fn try_decode(
        &self,
        buf: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let buf = buf.strip_prefix(MAGIC).ok_or_else(|| malformed("unknown form"))?;
        let (length, buf) = buf.split_first_chunk::<4>().ok_or_else(|| malformed("cut short"))?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| malformed("too long"))?;
        let (rest, plan) = buf.split_at_checked(length).ok_or_else(|| malformed("cut short"))?;
        let rest: Rest = serde_json::from_slice(rest).map_err(|_| malformed("row selections"))?;
        let plan = physical_plan_from_bytes_with_extension_codec(plan, context, self)?;
        let exec = plan.downcast_ref::<DataSourceExec>().ok_or_else(|| malformed("no scan"))?;
        let config =
            exec.data_source().downcast_ref::<FileScanConfig>().ok_or_else(|| malformed("no files"))?;
        if rest.files.len() != config.file_groups.len() {
            return Err(malformed("file groups"));
        }
        let selects_rows = rest.selects_rows;
        let groups = config.file_groups.iter().zip(rest.files).map(|(group, files)| restore(group, files));
        let groups = groups.collect::<Result<Vec<_>>>()?;
        let source = IcebergSource::wrap(Arc::clone(config.file_source()), selects_rows);
        let limit = rest.limit.map(usize::try_from).transpose().map_err(|_| malformed("limit"))?;
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(Arc::new(source))
            .with_file_groups(groups)
            .with_limit(limit)
            .with_preserve_order(rest.preserve_order)
            .build();
        if selects_rows && !any_selection(&config) {
            return Err(malformed("no row selections"));
        }
        Ok(DataSourceExec::from_data_source(config))
    }
}

fn rest_of(config: &FileScanConfig, source: &IcebergSource) -> Rest {
    let file = |file: &PartitionedFile| {
        file.extension::<ParquetAccessPlan>().map(|plan| plan.inner().iter().map(Group::from).collect())
    };
    Rest {
        // A task that got only files without deletes needs no selection.
        selects_rows: source.selects_rows() && any_selection(config),
        preserve_order: config.preserve_order,
        limit: config.limit.map(|limit| limit as u64),
        files: config.file_groups.iter().map(|group| group.iter().map(file).collect()).collect(),
    }
}

fn restore(group: &FileGroup, selections: Vec<Option<Vec<Group>>>) -> Result<FileGroup> {
    if group.len() != selections.len() {
        return Err(malformed("files"));
    }
    let files = group.iter().cloned().zip(selections).map(|(file, selection)| match selection {
        Some(groups) => {
            let plan = ParquetAccessPlan::new(groups.into_iter().map(RowGroupAccess::from).collect());
            file.with_extension(plan)
        }
        None => file,
    });
    Ok(FileGroup::new(files.collect()))
}

impl From<&RowGroupAccess> for Group {
    fn from(access: &RowGroupAccess) -> Self {
        match access {
            RowGroupAccess::Skip => Self::Skip,
            RowGroupAccess::Scan => Self::Scan,
            RowGroupAccess::Selection(selection) => {
                let mut runs = Vec::new();
                let mut skipping = true;
                for selector in selection.iter() {
                    if selector.skip != skipping {
                        runs.push(0);
                    }
                    runs.push(selector.row_count as u64);
                    skipping = !selector.skip;
                }
                Self::Runs(runs)
            }
        }
    }
}

impl From<Group> for RowGroupAccess {
    fn from(group: Group) -> Self {
        match group {
            Group::Skip => Self::Skip,
            Group::Scan => Self::Scan,
            Group::Runs(runs) => {
                let selectors = runs.into_iter().enumerate().map(|(at, length)| RowSelector {
                    row_count: usize::try_from(length).unwrap_or(usize::MAX),
                    skip: at % 2 == 0,
                });
                Self::Selection(RowSelection::from(selectors.filter(|s| s.row_count > 0).collect::<Vec<_>>()))
            }
        }
    }
}
