//! Commits: Iceberg's own transaction, over the catalog's database by compare and swap.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use iceberg::spec::{DataFile, TableMetadata};
use iceberg::table::Table;
use iceberg::transaction::{ApplyTransactionAction, Transaction};
use iceberg::{
    Catalog as IcebergCatalog, Error, ErrorKind, MetadataLocation, Namespace, NamespaceIdent,
    Result as IcebergResult, Runtime, TableCommit, TableCreation, TableIdent,
};
use uuid::Uuid;

use crate::catalog::Inner;
use crate::error::{CatalogError, Doing, Result};
use crate::ledger::Ledger;
use crate::name;
use crate::table::TableHandle;
use crate::write::durable;

/// How often Iceberg's own four tries, each after a wait, are begun anew.
const ROUNDS: usize = 8;

/// One table as a transaction sees its catalog.
pub(crate) struct Target {
    ledger: Ledger,
    namespace: String,
    table: String,
    shown: String,
    uuid: Uuid,
    /// A table that is not in the database yet, and enters it with its first commit.
    staged: Option<Table>,
    /// What stopped a commit for good, in this crate's words.
    failed: Mutex<Option<CatalogError>>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("table", &self.shown).finish_non_exhaustive()
    }
}

impl Target {
    pub(crate) fn existing(catalog: &Inner, handle: &TableHandle) -> Self {
        Self {
            ledger: catalog.ledger.clone(),
            namespace: handle.namespace.join("."),
            table: handle.name.clone(),
            shown: handle.shown(),
            uuid: handle.uuid,
            staged: None,
            failed: Mutex::default(),
        }
    }

    pub(crate) fn staged(catalog: &Inner, namespace: &[String], table: &str, staged: Table) -> Self {
        Self {
            ledger: catalog.ledger.clone(),
            namespace: namespace.join("."),
            table: table.to_owned(),
            shown: name::shown(namespace, table),
            uuid: staged.metadata().uuid(),
            staged: Some(staged),
            failed: Mutex::default(),
        }
    }

    /// Keeps our error, and gives Iceberg one that it does not try again.
    fn stop(&self, error: CatalogError) -> Error {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        Error::new(ErrorKind::Unexpected, "the commit was stopped")
    }

    fn ours(&self, error: Error) -> CatalogError {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        match failed {
            Some(failed) => failed,
            None if error.kind() == ErrorKind::CatalogCommitConflicts => {
                CatalogError::Conflict(self.shown.clone())
            }
            None => CatalogError::storage("commit to the table", error),
        }
    }

    async fn load(&self, ident: &TableIdent, io: iceberg::io::FileIO) -> IcebergResult<Table> {
        let pointer = self.ledger.pointer(&self.namespace, &self.table).await.map_err(|e| self.stop(e))?;
        let Some(location) = pointer else {
            return Err(self.stop(CatalogError::NoSuchTable(self.shown.clone())));
        };
        let metadata = TableMetadata::read_from(&io, &location).await?;
        if metadata.uuid() != self.uuid {
            return Err(self.stop(CatalogError::Conflict(self.shown.clone())));
        }
        Table::builder()
            .file_io(io)
            .metadata_location(location)
            .metadata(metadata)
            .identifier(ident.clone())
            .runtime(Runtime::try_current()?)
            .disable_cache()
            .build()
    }
}

/// Adds the files to the table in one snapshot, on top of whatever was committed meanwhile.
pub(crate) async fn append(target: &Target, base: &Table, files: &[DataFile]) -> Result<Table> {
    durable::sync(durable::data_files(files)).await?;
    let mut last = None;
    for _ in 0..ROUNDS {
        let transaction = Transaction::new(base);
        // The names carry a fresh uuid, so a look through all manifests for the same names would find nothing.
        let action = transaction.fast_append().with_check_duplicate(false).add_data_files(files.to_vec());
        let transaction = action.apply(transaction).doing("prepare the commit")?;
        match transaction.commit(target).await {
            Ok(table) => return Ok(table),
            Err(error) => {
                let again = error.retryable();
                let ours = target.ours(error);
                if !again {
                    return Err(ours);
                }
                last = Some(ours);
            }
        }
    }
    Err(last.unwrap_or_else(|| CatalogError::Conflict(target.shown.clone())))
}

fn unsupported<T>() -> IcebergResult<T> {
    Err(Error::new(ErrorKind::FeatureUnsupported, "a commit needs to load and update one table only"))
}

#[async_trait]
impl IcebergCatalog for Target {
    async fn load_table(&self, ident: &TableIdent) -> IcebergResult<Table> {
        match &self.staged {
            Some(staged) => Ok(staged.clone()),
            None => self.load(ident, iceberg::io::FileIO::new_with_fs()).await,
        }
    }

    async fn update_table(&self, commit: TableCommit) -> IcebergResult<Table> {
        let current = self.load_table(&commit.identifier().clone()).await?;
        let from = current.metadata_location_result()?.to_owned();
        let updated = commit.apply(current)?;
        let to = updated.metadata_location_result()?.to_owned();
        updated.metadata().write_to(updated.file_io(), &MetadataLocation::from_str(&to)?).await?;
        let new = durable::metadata_files(&updated, &to);
        durable::sync(new.await.map_err(|e| self.stop(e))?).await.map_err(|e| self.stop(e))?;
        let moved = match &self.staged {
            Some(_) => self.ledger.insert_table(&self.namespace, &self.table, &to).await.map(|()| true),
            None => self.ledger.swap(&self.namespace, &self.table, &from, &to).await,
        };
        if moved.map_err(|e| self.stop(e))? {
            return Ok(updated);
        }
        let _ = updated.file_io().delete(&to).await;
        Err(Error::new(ErrorKind::CatalogCommitConflicts, "the table was changed meanwhile")
            .with_retryable(true))
    }

    async fn table_exists(&self, ident: &TableIdent) -> IcebergResult<bool> {
        self.load_table(ident).await.map(|_| true)
    }

    async fn list_namespaces(&self, _: Option<&NamespaceIdent>) -> IcebergResult<Vec<NamespaceIdent>> {
        unsupported()
    }

    async fn create_namespace(
        &self,
        _: &NamespaceIdent,
        _: HashMap<String, String>,
    ) -> IcebergResult<Namespace> {
        unsupported()
    }

    async fn get_namespace(&self, _: &NamespaceIdent) -> IcebergResult<Namespace> {
        unsupported()
    }

    async fn namespace_exists(&self, _: &NamespaceIdent) -> IcebergResult<bool> {
        unsupported()
    }

    async fn update_namespace(&self, _: &NamespaceIdent, _: HashMap<String, String>) -> IcebergResult<()> {
        unsupported()
    }

    async fn drop_namespace(&self, _: &NamespaceIdent) -> IcebergResult<()> {
        unsupported()
    }

    async fn list_tables(&self, _: &NamespaceIdent) -> IcebergResult<Vec<TableIdent>> {
        unsupported()
    }

    async fn create_table(&self, _: &NamespaceIdent, _: TableCreation) -> IcebergResult<Table> {
        unsupported()
    }

    async fn drop_table(&self, _: &TableIdent) -> IcebergResult<()> {
        unsupported()
    }

    async fn purge_table(&self, _: &TableIdent) -> IcebergResult<()> {
        unsupported()
    }

    async fn rename_table(&self, _: &TableIdent, _: &TableIdent) -> IcebergResult<()> {
        unsupported()
    }

    async fn register_table(&self, _: &TableIdent, _: String) -> IcebergResult<Table> {
        unsupported()
    }
}
