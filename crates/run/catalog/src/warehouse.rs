//! The folder that holds a catalog's files, read through a store whose errors name no path.

use std::fmt;
use std::ops::Range;
use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use datafusion::execution::object_store::ObjectStoreUrl;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};

use crate::error::{CatalogError, Doing, Result};

/// The folder, its store, and the address under which DataFusion finds the store.
#[derive(Debug, Clone)]
pub(crate) struct Warehouse {
    root: PathBuf,
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) url: ObjectStoreUrl,
}

impl Warehouse {
    pub(crate) async fn open(folder: &FsPath, catalog: &str) -> Result<Self> {
        tokio::fs::create_dir_all(folder).await.doing("make the warehouse's folder")?;
        let root = tokio::fs::canonicalize(folder).await.doing("open the warehouse's folder")?;
        let inner = LocalFileSystem::new_with_prefix(&root).doing("open the warehouse's folder")?;
        // The address is made of the name and the place, so that two catalogs in one runtime never answer for each other.
        let place = fnv1a(root.as_os_str().as_encoded_bytes());
        let address = format!("sluice-{:016x}-{place:016x}://warehouse", fnv1a(catalog.as_bytes()));
        let url = ObjectStoreUrl::parse(address).doing("name the warehouse")?;
        Ok(Self { root, store: Arc::new(QuietStore { inner }), url })
    }

    /// A new table's folder; its name carries what of the table's name is plain, and `id` to make it unique.
    pub(crate) fn table_location(&self, namespace: &[String], name: &str, id: uuid::Uuid) -> String {
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
        };
        let folders: Vec<String> = namespace.iter().map(|part| plain(part)).collect();
        format!("file://{}/{}/{}-{}", self.root.display(), folders.join("/"), plain(name), id.simple())
    }

    /// The path inside the warehouse of a file that a table names.
    pub(crate) fn object_path(&self, location: &str, table: &str) -> Result<Path> {
        let outside =
            || CatalogError::Unsupported(format!("table `{table}` has a file outside of the warehouse"));
        let path = FsPath::new(local_path(location));
        let inside = path.strip_prefix(&self.root).map_err(|_| outside())?;
        if inside.components().any(|c| !matches!(c, std::path::Component::Normal(_))) {
            return Err(outside());
        }
        Path::parse(inside.to_str().ok_or_else(outside)?).map_err(|_| outside())
    }

    /// The local path of a table's folder, if it lies in the warehouse.
    pub(crate) fn local_folder(&self, location: &str) -> Option<PathBuf> {
        let path = FsPath::new(local_path(location));
        (path != self.root && path.starts_with(&self.root)).then(|| path.to_owned())
    }

    /// A fixed time that differs between files of different warehouses: DataFusion's cache of file footers knows
    /// files by path inside the store, size and time only, and an Iceberg file never changes.
    pub(crate) fn file_time(&self, path: &Path) -> DateTime<Utc> {
        let mark = fnv1a(self.url.as_str().as_bytes()) ^ fnv1a(path.as_ref().as_bytes());
        DateTime::<Utc>::from_timestamp_millis(i64::try_from(mark >> 24).unwrap_or_default())
            .unwrap_or_default()
    }
}

pub(crate) fn local_path(location: &str) -> &str {
    location.strip_prefix("file://").or_else(|| location.strip_prefix("file:")).unwrap_or(location)
}

/// A stable hash: every process must make the same address of the same warehouse.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Reads files and says of a failure only its kind; the log gets the rest.
#[derive(Debug)]
struct QuietStore {
    inner: LocalFileSystem,
}

impl fmt::Display for QuietStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("warehouse")
    }
}

fn quiet(error: StoreError) -> StoreError {
    let told = match &error {
        StoreError::NotFound { .. } => "a file of the table is missing",
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            "a file of the table may not be read"
        }
        _ => "a file of the table cannot be read",
    };
    tracing::warn!(error = %error, "warehouse read failed");
    StoreError::Generic { store: "warehouse", source: told.into() }
}

fn read_only<T>() -> StoreResult<T> {
    Err(StoreError::NotSupported { source: "the warehouse is read only here".into() })
}

#[async_trait]
impl ObjectStore for QuietStore {
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
        self.inner.get_opts(location, options).await.map_err(quiet)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await.map_err(quiet)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        locations.map(|_| read_only()).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix).map(|meta| meta.map_err(quiet)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await.map_err(quiet)
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> StoreResult<()> {
        read_only()
    }
}
