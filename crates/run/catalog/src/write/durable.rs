//! Brings the files of a commit to the disk before the commit is told: the ledger may not outlive what it points to.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use iceberg::spec::DataFile;
use iceberg::table::Table;

use crate::error::{CatalogError, Doing, Result};
use crate::warehouse::local_path;

const SYNC: &str = "bring a file of the table to the disk";

/// The data files of a write.
pub(crate) fn data_files(files: &[DataFile]) -> Vec<String> {
    files.iter().map(|file| file.file_path().to_owned()).collect()
}

/// The metadata file of a commit, and what its newest snapshot added: the list of manifests and the new manifests.
pub(crate) async fn metadata_files(table: &Table, location: &str) -> Result<Vec<String>> {
    let mut files = vec![location.to_owned()];
    if let Some(snapshot) = table.metadata().current_snapshot() {
        let list = table.manifest_list_reader(snapshot).load().await.doing(SYNC)?;
        files.push(snapshot.manifest_list().to_owned());
        let added = |entry: &&iceberg::spec::ManifestFile| entry.added_snapshot_id == snapshot.snapshot_id();
        files.extend(list.entries().iter().filter(added).map(|entry| entry.manifest_path.clone()));
    }
    Ok(files)
}

/// Waits until the files and the folders in which they were made are on the disk.
pub(crate) async fn sync(locations: Vec<String>) -> Result<()> {
    let done = tokio::task::spawn_blocking(move || sync_all(&locations)).await;
    done.doing(SYNC)?.map_err(|error| CatalogError::storage(SYNC, error))
}

fn sync_all(locations: &[String]) -> std::io::Result<()> {
    let files: Vec<PathBuf> = locations.iter().map(|location| PathBuf::from(local_path(location))).collect();
    for file in &files {
        File::open(file)?.sync_all()?;
    }
    // The folder of the file, the table's, and that in which the table's was made.
    let folders: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1).take(3)).collect();
    for folder in folders {
        sync_folder(folder)?;
    }
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file, and its entries are the file system's own business.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}
