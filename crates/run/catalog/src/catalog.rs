//! One catalog by name: its namespaces, tables and views.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::Schema;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionState;
use iceberg::io::FileIO;
use iceberg::spec::TableMetadata;
use iceberg::table::Table;
use iceberg::{NamespaceIdent, Runtime, TableIdent};

use crate::column_tags::ColumnTags;
use crate::error::{CatalogError, Doing, Result};
use crate::ledger::{Kind, Ledger, PendingRename, PutView};
use crate::name;
use crate::table::TableHandle;
use crate::view::{self, NewView, OnExisting, View};
use crate::warehouse::Warehouse;
use crate::write::{self, CheckRows, PendingTable, TableChange};

/// How many loaded tables are kept; a query that finds its table here reads no metadata and no manifest.
const CACHED_TABLES_MAX: usize = 512;

/// Where a catalog keeps what it has.
#[derive(Debug, Clone)]
pub struct CatalogConfig {
    pub name: String,
    /// The folder of all data and metadata files; made if it is not there.
    pub warehouse: PathBuf,
    /// The SQLite file of the catalog's database; made if it is not there. Several catalogs may share one.
    pub database: PathBuf,
}

/// A catalog of Iceberg tables in local files; clones share everything.
#[derive(Clone)]
pub struct Catalog {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) name: String,
    pub(crate) ledger: Ledger,
    pub(crate) warehouse: Warehouse,
    pub(crate) io: FileIO,
    cache: Mutex<Cache>,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("name", &self.inner.name).finish_non_exhaustive()
    }
}

/// Loaded tables by where their metadata lies, which never changes its content; the oldest leaves first.
#[derive(Default)]
struct Cache {
    by_location: HashMap<String, TableHandle>,
    order: VecDeque<String>,
}

impl Cache {
    fn put(&mut self, location: String, handle: TableHandle) {
        if self.by_location.insert(location.clone(), handle).is_none() {
            self.order.push_back(location);
        }
        while self.order.len() > CACHED_TABLES_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.by_location.remove(&oldest);
            }
        }
    }
}

impl Catalog {
    /// Opens the catalog, and makes its folder and database where they are not there yet.
    pub async fn open(config: CatalogConfig) -> Result<Self> {
        name::check(&config.name)?;
        let warehouse = Warehouse::open(&config.warehouse, &config.name).await?;
        if let Some(folder) = config.database.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            tokio::fs::create_dir_all(folder).await.doing("make the folder of the catalog's database")?;
        }
        let ledger = Ledger::open(&config.database, &config.name).await?;
        let inner = Inner {
            name: config.name,
            ledger,
            warehouse,
            io: FileIO::new_with_fs(),
            cache: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Makes the catalog's files readable in a runtime that decodes plans made elsewhere; a scan planned in the
    /// runtime does this by itself.
    pub fn register(&self, runtime: &RuntimeEnv) {
        let warehouse = &self.inner.warehouse;
        runtime.register_object_store(warehouse.url.as_ref(), Arc::clone(&warehouse.store));
    }

    pub async fn namespaces(&self) -> Result<Vec<Vec<String>>> {
        let dotted = self.inner.ledger.namespaces().await?;
        Ok(dotted.iter().map(|namespace| namespace.split('.').map(str::to_owned).collect()).collect())
    }

    pub async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        let dotted = namespace.join(".");
        Ok(self.inner.ledger.namespaces().await?.contains(&dotted))
    }

    /// Makes a namespace; the one above it must be there.
    pub async fn create_namespace(&self, namespace: &[String]) -> Result<()> {
        self.inner.ledger.create_namespace(&name::namespace(namespace)?).await
    }

    /// Drops a namespace that has no table, view or namespace in it.
    pub async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        self.inner.ledger.drop_namespace(&namespace.join(".")).await
    }

    pub async fn tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        self.inner.ledger.tables(&namespace.join(".")).await
    }

    /// The table as it is now; `None` when there is none of that name.
    pub async fn load(&self, namespace: &[String], name: &str) -> Result<Option<TableHandle>> {
        let Some(location) = self.inner.ledger.pointer(&namespace.join("."), name).await? else {
            return Ok(None);
        };
        let cached = self.inner.cached(&location);
        if let Some(handle) = cached.filter(|h| h.name == name && h.namespace == namespace) {
            return Ok(Some(handle));
        }
        let table = self.inner.read_table(namespace, name, &location).await?;
        self.inner.handle(table).map(Some)
    }

    pub(crate) async fn expect(&self, namespace: &[String], name: &str) -> Result<TableHandle> {
        let found = self.load(namespace, name).await?;
        found.ok_or_else(|| CatalogError::NoSuchTable(name::shown(namespace, name)))
    }

    /// Makes an empty table of format 2 with fresh field ids, partitioned by the columns named as they are.
    pub async fn create_table(
        &self,
        namespace: &[String],
        name: &str,
        schema: &Schema,
        partition_by: &[String],
        properties: HashMap<String, String>,
    ) -> Result<TableHandle> {
        self.begin_create(namespace, name, schema, partition_by, properties).await?.commit().await
    }

    /// Begins a table that nobody sees before [`PendingTable::commit`].
    pub async fn begin_create(
        &self,
        namespace: &[String],
        name: &str,
        schema: &Schema,
        partition_by: &[String],
        properties: HashMap<String, String>,
    ) -> Result<PendingTable> {
        PendingTable::begin(Arc::clone(&self.inner), namespace, name, schema, partition_by, properties).await
    }

    /// Begins a table that takes another's place in one step; what is written down about the old one by its identity
    /// or by its columns' still holds.
    pub fn begin_replace(
        &self,
        old: &TableHandle,
        schema: &Schema,
        partition_by: &[String],
        tags: &ColumnTags,
    ) -> Result<PendingTable> {
        PendingTable::begin_replace(Arc::clone(&self.inner), old, schema, partition_by, tags)
    }

    /// Begins to give a table or view another name, in the same namespace or another of this catalog. Until the commit
    /// nobody sees it, and no other change of this catalog's names or tables goes through.
    pub async fn begin_rename(
        &self,
        kind: Kind,
        from: (&[String], &str),
        to: (&[String], &str),
    ) -> Result<PendingRename> {
        name::check(to.1)?;
        let namespace = name::namespace(to.0)?;
        self.inner.ledger.begin_rename(kind, (&from.0.join("."), from.1), (&namespace, to.1)).await
    }

    /// Drops a table. Its files stay, so that queries which read it end as they began.
    pub async fn drop_table(&self, namespace: &[String], name: &str) -> Result<()> {
        match self.inner.ledger.remove_table(&namespace.join("."), name).await? {
            true => Ok(()),
            false => Err(CatalogError::NoSuchTable(name::shown(namespace, name))),
        }
    }

    /// Adds the rows to the table in one commit, and says how many there were; all of them or, on error, none.
    pub async fn append(&self, handle: &TableHandle, rows: SendableRecordBatchStream) -> Result<u64> {
        write::append(&self.inner, handle, rows).await
    }

    /// Changes rows that are there and adds others in one commit on top of the very state that the handle has; a
    /// table that was changed meanwhile is a [`CatalogError::Conflict`]. Says how many rows were added.
    pub async fn rewrite(
        &self,
        handle: &TableHandle,
        state: &SessionState,
        change: TableChange,
        added: Option<SendableRecordBatchStream>,
        check: CheckRows,
    ) -> Result<u64> {
        write::rewrite(&self.inner, handle, state, change, added, check).await
    }

    pub async fn views(&self, namespace: &[String]) -> Result<Vec<String>> {
        self.inner.ledger.views(&namespace.join(".")).await
    }

    pub async fn load_view(&self, namespace: &[String], name: &str) -> Result<Option<View>> {
        let body = self.inner.ledger.view(&namespace.join("."), name).await?;
        body.map(|body| view::from_stored(namespace, name, &body)).transpose()
    }

    pub async fn create_view(
        &self,
        namespace: &[String],
        name: &str,
        view: NewView,
        on_existing: OnExisting,
    ) -> Result<()> {
        name::check(name)?;
        let namespace = name::namespace(namespace)?;
        self.inner.ledger.put_view(&namespace, name, &view::to_stored(view)?, on_existing.into()).await
    }

    /// Writes anew a view that must be there; it becomes another view, with another uuid.
    pub async fn replace_view(&self, namespace: &[String], name: &str, view: NewView) -> Result<()> {
        let namespace = name::namespace(namespace)?;
        self.inner.ledger.put_view(&namespace, name, &view::to_stored(view)?, PutView::Replace).await
    }

    pub async fn drop_view(&self, namespace: &[String], name: &str) -> Result<()> {
        match self.inner.ledger.remove_view(&namespace.join("."), name).await? {
            true => Ok(()),
            false => Err(CatalogError::NoSuchView(name::shown(namespace, name))),
        }
    }
}

impl Inner {
    pub(crate) async fn read_table(&self, namespace: &[String], name: &str, location: &str) -> Result<Table> {
        let metadata =
            TableMetadata::read_from(&self.io, location).await.doing("read the table's metadata")?;
        self.table(namespace, name, location, metadata)
    }

    pub(crate) fn table(
        &self,
        namespace: &[String],
        name: &str,
        location: &str,
        metadata: TableMetadata,
    ) -> Result<Table> {
        Table::builder()
            .file_io(self.io.clone())
            .metadata_location(location)
            .metadata(metadata)
            .identifier(ident(namespace, name)?)
            .runtime(Runtime::try_current().doing("find the runtime")?)
            .disable_cache()
            .build()
            .doing("read the table's metadata")
    }

    /// The handle of a table just read or committed, kept for the next who loads it.
    pub(crate) fn handle(&self, table: Table) -> Result<TableHandle> {
        let location = table.metadata_location().map(str::to_owned);
        let handle = TableHandle::new(&self.name, table, &self.warehouse)?;
        if let Some(location) = location {
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            cache.put(location, handle.clone());
        }
        Ok(handle)
    }

    fn cached(&self, location: &str) -> Option<TableHandle> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.by_location.get(location).cloned()
    }
}

pub(crate) fn ident(namespace: &[String], name: &str) -> Result<TableIdent> {
    let namespace = NamespaceIdent::from_vec(namespace.to_vec()).doing("name the table")?;
    Ok(TableIdent::new(namespace, name.to_owned()))
}
