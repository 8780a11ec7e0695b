//! Opens a file once and looks at what was opened, so that a path swapped for a link leads nowhere.

use std::fmt;
use std::fs::File;
use std::path::{Path as FsPath, PathBuf};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};

/// The scheme under which DataFusion finds this store.
pub(super) const SCHEME: &str = "sluice-load";

/// The local file system below the folders that may be loaded from.
///
/// INVARIANT: every byte comes from an open file whose own place, not the path that it was asked by, lies under one of
/// the folders. `get_ranges` is the trait's own, for it goes through `get_opts`.
#[derive(Debug)]
pub(crate) struct CheckedFiles {
    inner: LocalFileSystem,
    /// Links followed.
    roots: Vec<PathBuf>,
}

impl CheckedFiles {
    pub(crate) fn new(roots: &[PathBuf]) -> Self {
        let roots = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
        Self { inner: LocalFileSystem::new(), roots }
    }
}

impl fmt::Display for CheckedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("files")
    }
}

/// Whether an open file is the one that stands at `path`, and that place lies under a root once links are followed.
///
/// A path that was a link when the file was opened gives another file now, or another place; which of both it was is
/// the same to the caller.
fn is_under(file: &File, path: &FsPath, roots: &[PathBuf]) -> std::io::Result<bool> {
    let real = path.canonicalize()?;
    Ok(roots.iter().any(|root| real.starts_with(root)) && is_same(file, &real)?)
}

#[cfg(unix)]
fn is_same(file: &File, path: &FsPath) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (opened, found) = (file.metadata()?, path.symlink_metadata()?);
    Ok(opened.dev() == found.dev() && opened.ino() == found.ino())
}

/// Elsewhere a file has no number to know it by.
#[cfg(not(unix))]
fn is_same(_: &File, _: &FsPath) -> std::io::Result<bool> {
    Ok(false)
}

fn refused<T>() -> StoreResult<T> {
    Err(StoreError::Generic { store: "files", source: "the file is not under a folder set free".into() })
}

fn read_only<T>() -> StoreResult<T> {
    Err(StoreError::NotSupported { source: "files are read only here".into() })
}

#[async_trait]
impl ObjectStore for CheckedFiles {
    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> StoreResult<PutResult> {
        read_only()
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        read_only()
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        let result = self.inner.get_opts(location, options).await?;
        match &result.payload {
            GetResultPayload::File(file, path) if is_under(file, path, &self.roots).unwrap_or(false) => {
                Ok(result)
            }
            _ => refused(),
        }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        locations.map(|_| read_only()).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> StoreResult<()> {
        read_only()
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;

    use super::*;

    /// The check before a read sees a file; the read itself meets a link in its place.
    #[tokio::test]
    async fn a_path_swapped_for_a_link_after_its_check_reads_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (free, shut) = (root.join("free"), root.join("shut"));
        std::fs::create_dir_all(&free).unwrap();
        std::fs::create_dir_all(&shut).unwrap();
        std::fs::write(free.join("a"), "own").unwrap();
        std::fs::write(shut.join("a"), "secret").unwrap();
        let files = CheckedFiles::new(std::slice::from_ref(&free));
        let path = Path::from_absolute_path(free.join("a")).unwrap();
        assert_eq!(files.get(&path).await.unwrap().bytes().await.unwrap(), "own");
        std::fs::remove_file(free.join("a")).unwrap();
        std::os::unix::fs::symlink(shut.join("a"), free.join("a")).unwrap();
        assert!(files.get(&path).await.is_err());
        assert!(files.get_range(&path, 0..2).await.is_err());
        assert!(files.get_ranges(&path, &[0..2, 3..4]).await.is_err());
        assert!(files.head(&path).await.is_err());
        // A folder on the way that became a link leads out as well.
        std::fs::rename(&free, root.join("old")).unwrap();
        std::os::unix::fs::symlink(&shut, &free).unwrap();
        assert!(files.get(&path).await.is_err());
    }

    /// The path leads back to a file of its own by the time that it is looked at.
    #[test]
    fn an_open_file_is_known_by_its_number_and_not_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("a"), "own").unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("b"), "secret").unwrap();
        let roots = [root.clone()];
        let opened = File::open(elsewhere.path().join("b")).unwrap();
        assert!(!is_under(&opened, &root.join("a"), &roots).unwrap());
        assert!(is_under(&File::open(root.join("a")).unwrap(), &root.join("a"), &roots).unwrap());
    }
}
