//! The catalog's database: which namespaces, tables and views there are, and where each table's current metadata lies.
//!
//! The two `iceberg_` tables have the layout of Iceberg's SQL catalog, so that other Iceberg clients can read them.
//! The writes are our own: `iceberg-catalog-sql` 0.10 drops the error of a failed `COMMIT` and reports success, and
//! a name that no table and no view shares needs one transaction over both.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Row, Sqlite, SqlitePool, Transaction};

use crate::error::{CatalogError, Doing, Result};
use crate::name;

/// How long one statement waits for another process that writes.
const BUSY_TIMEOUT_MS: u64 = 15_000;
const CONNECTIONS_MAX: u32 = 8;
const IMMEDIATE: &str = "BEGIN IMMEDIATE";
const READ: &str = "read the catalog's database";
const WRITE: &str = "write the catalog's database";

const TABLES_DDL: &str = "CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name))";

const NAMESPACES_DDL: &str = "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255),
    property_value VARCHAR(1000),
    PRIMARY KEY (catalog_name, namespace, property_key))";

const VIEWS_DDL: &str = "CREATE TABLE IF NOT EXISTS sluice_views (
    catalog_name TEXT NOT NULL,
    namespace TEXT NOT NULL,
    view_name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (catalog_name, namespace, view_name))";

/// Rows of other kinds, such as another client's views, are not ours to read.
const IS_TABLE: &str = "(iceberg_type = 'TABLE' OR iceberg_type IS NULL)";

#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pool: SqlitePool,
    catalog: String,
}

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Table,
    View,
}

/// Another name that is written, and not yet told to anybody; dropped, it never was.
#[derive(Debug)]
pub struct PendingRename {
    tx: Transaction<'static, Sqlite>,
}

impl PendingRename {
    pub async fn commit(self) -> Result<()> {
        self.tx.commit().await.doing(WRITE)
    }
}

/// What to do when the view is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PutView {
    Create,
    CreateOrReplace,
    Replace,
}

impl Ledger {
    pub(crate) async fn open(database: &Path, catalog: &str) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(database)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS));
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .connect_with(options)
            .await
            .doing("open the catalog's database")?;
        for ddl in [TABLES_DDL, NAMESPACES_DDL, VIEWS_DDL] {
            sqlx::query(ddl).execute(&pool).await.doing("prepare the catalog's database")?;
        }
        Ok(Self { pool, catalog: catalog.to_owned() })
    }

    async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        // A write lock from the first statement on, so that what is checked is still so when it is written.
        self.pool.begin_with(IMMEDIATE).await.doing(WRITE)
    }

    pub(crate) async fn namespaces(&self) -> Result<Vec<String>> {
        let mut tx = self.pool.begin().await.doing(READ)?;
        namespaces(&mut tx, &self.catalog).await
    }

    pub(crate) async fn create_namespace(&self, namespace: &str) -> Result<()> {
        let mut tx = self.begin().await?;
        let existing = namespaces(&mut tx, &self.catalog).await?;
        if existing.iter().any(|e| e == namespace) {
            return Err(CatalogError::NamespaceExists(namespace.to_owned()));
        }
        if let Some(twin) = name::case_twin(namespace, existing.iter().map(String::as_str)) {
            return Err(CatalogError::CaseTwin { name: namespace.to_owned(), existing: twin.to_owned() });
        }
        if let Some((parent, _)) = namespace.rsplit_once('.')
            && !existing.iter().any(|e| e == parent)
        {
            return Err(CatalogError::NoSuchNamespace(parent.to_owned()));
        }
        let sql = "INSERT INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')";
        write(tx, sql, &[&self.catalog, namespace]).await?;
        Ok(())
    }

    pub(crate) async fn drop_namespace(&self, namespace: &str) -> Result<()> {
        let mut tx = self.begin().await?;
        let existing = self.expect_namespace(&mut tx, namespace).await?;
        let below = format!("{namespace}.");
        let empty = names(&mut tx, &self.catalog, namespace).await?.is_empty()
            && !existing.iter().any(|e| e.starts_with(&below));
        if !empty {
            return Err(CatalogError::NamespaceNotEmpty(namespace.to_owned()));
        }
        let sql = "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?";
        write(tx, sql, &[&self.catalog, namespace]).await?;
        Ok(())
    }

    async fn expect_namespace(
        &self,
        tx: &mut Transaction<'static, Sqlite>,
        namespace: &str,
    ) -> Result<Vec<String>> {
        let existing = namespaces(tx, &self.catalog).await?;
        match existing.iter().any(|e| e == namespace) {
            true => Ok(existing),
            false => Err(CatalogError::NoSuchNamespace(namespace.to_owned())),
        }
    }

    async fn list(&self, namespace: &str, kind: Kind) -> Result<Vec<String>> {
        let mut tx = self.pool.begin().await.doing(READ)?;
        self.expect_namespace(&mut tx, namespace).await?;
        let all = names(&mut tx, &self.catalog, namespace).await?;
        Ok(all.into_iter().filter(|(_, k)| *k == kind).map(|(name, _)| name).collect())
    }

    pub(crate) async fn tables(&self, namespace: &str) -> Result<Vec<String>> {
        self.list(namespace, Kind::Table).await
    }

    pub(crate) async fn views(&self, namespace: &str) -> Result<Vec<String>> {
        self.list(namespace, Kind::View).await
    }

    /// Where the current metadata of a table lies.
    pub(crate) async fn pointer(&self, namespace: &str, table: &str) -> Result<Option<String>> {
        let sql = format!(
            "SELECT metadata_location FROM iceberg_tables
             WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND {IS_TABLE}"
        );
        self.text(&sql, namespace, table).await
    }

    /// Refuses a name that a table or view has, or that differs from one by case alone.
    pub(crate) async fn expect_free(&self, namespace: &str, name: &str) -> Result<()> {
        let mut tx = self.pool.begin().await.doing(READ)?;
        self.expect_namespace(&mut tx, namespace).await?;
        expect_free(&names(&mut tx, &self.catalog, namespace).await?, namespace, name)
    }

    pub(crate) async fn insert_table(&self, namespace: &str, table: &str, location: &str) -> Result<()> {
        let mut tx = self.begin().await?;
        self.expect_namespace(&mut tx, namespace).await?;
        expect_free(&names(&mut tx, &self.catalog, namespace).await?, namespace, table)?;
        let sql = "INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, 'TABLE')";
        write(tx, sql, &[&self.catalog, namespace, table, location]).await?;
        Ok(())
    }

    /// Moves a table from one metadata file to the next; `false` when somebody else moved it first.
    pub(crate) async fn swap(&self, namespace: &str, table: &str, from: &str, to: &str) -> Result<bool> {
        let sql = format!(
            "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
             WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ? AND {IS_TABLE}"
        );
        let values = [to, from, &self.catalog, namespace, table, from];
        Ok(write(self.begin().await?, &sql, &values).await? == 1)
    }

    pub(crate) async fn remove_table(&self, namespace: &str, table: &str) -> Result<bool> {
        let sql = format!(
            "DELETE FROM iceberg_tables
             WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND {IS_TABLE}"
        );
        self.remove(&sql, namespace, table).await
    }

    pub(crate) async fn remove_view(&self, namespace: &str, view: &str) -> Result<bool> {
        let sql = "DELETE FROM sluice_views WHERE catalog_name = ? AND namespace = ? AND view_name = ?";
        self.remove(sql, namespace, view).await
    }

    /// Gives a table or view another name, which nobody sees before the commit.
    pub(crate) async fn begin_rename(
        &self,
        kind: Kind,
        from: (&str, &str),
        to: (&str, &str),
    ) -> Result<PendingRename> {
        let mut tx = self.begin().await?;
        self.expect_namespace(&mut tx, to.0).await?;
        let mut there = names(&mut tx, &self.catalog, to.0).await?;
        // The old name goes, so that a name may change by case alone.
        there.retain(|(name, _)| from != (to.0, name.as_str()) || from == to);
        expect_free(&there, to.0, to.1)?;
        let sql = match kind {
            Kind::Table => format!(
                "UPDATE iceberg_tables SET table_namespace = ?, table_name = ?
                 WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND {IS_TABLE}"
            ),
            Kind::View => "UPDATE sluice_views SET namespace = ?, view_name = ?
                 WHERE catalog_name = ? AND namespace = ? AND view_name = ?"
                .to_owned(),
        };
        let values = [to.0, to.1, self.catalog.as_str(), from.0, from.1];
        let query = values.iter().fold(sqlx::query(&sql), |query, value| query.bind(*value));
        let done = query.execute(&mut *tx).await.doing(WRITE)?;
        let shown = || format!("{}.{}", from.0, from.1);
        match (done.rows_affected(), kind) {
            (1, _) => Ok(PendingRename { tx }),
            (_, Kind::Table) => Err(CatalogError::NoSuchTable(shown())),
            (_, Kind::View) => Err(CatalogError::NoSuchView(shown())),
        }
    }

    async fn remove(&self, sql: &str, namespace: &str, name: &str) -> Result<bool> {
        Ok(write(self.begin().await?, sql, &[&self.catalog, namespace, name]).await? > 0)
    }

    pub(crate) async fn view(&self, namespace: &str, view: &str) -> Result<Option<String>> {
        let sql = "SELECT body FROM sluice_views WHERE catalog_name = ? AND namespace = ? AND view_name = ?";
        self.text(sql, namespace, view).await
    }

    /// The one text that is kept of a table or view.
    async fn text(&self, sql: &str, namespace: &str, name: &str) -> Result<Option<String>> {
        let row = sqlx::query(sql)
            .bind(&self.catalog)
            .bind(namespace)
            .bind(name)
            .fetch_optional(&self.pool)
            .await
            .doing(READ)?;
        row.map(|row| row.try_get::<String, _>(0).doing(READ)).transpose()
    }

    pub(crate) async fn put_view(&self, namespace: &str, view: &str, body: &str, put: PutView) -> Result<()> {
        let mut tx = self.begin().await?;
        self.expect_namespace(&mut tx, namespace).await?;
        let there = names(&mut tx, &self.catalog, namespace).await?;
        let is_view = there.iter().any(|(name, kind)| name == view && *kind == Kind::View);
        match put {
            PutView::Replace if !is_view => {
                return Err(CatalogError::NoSuchView(format!("{namespace}.{view}")));
            }
            PutView::Replace | PutView::CreateOrReplace if is_view => {}
            PutView::Create | PutView::CreateOrReplace | PutView::Replace => {
                expect_free(&there, namespace, view)?
            }
        }
        let sql = "INSERT OR REPLACE INTO sluice_views VALUES (?, ?, ?, ?)";
        write(tx, sql, &[&self.catalog, namespace, view, body]).await?;
        Ok(())
    }
}

/// The last step of a transaction: one write and the commit. Gives the number of rows that it changed.
async fn write(mut tx: Transaction<'static, Sqlite>, sql: &str, values: &[&str]) -> Result<u64> {
    let query = values.iter().fold(sqlx::query(sql), |query, value| query.bind(*value));
    let done = query.execute(&mut *tx).await.doing(WRITE)?;
    tx.commit().await.doing(WRITE)?;
    Ok(done.rows_affected())
}

async fn namespaces(tx: &mut Transaction<'static, Sqlite>, catalog: &str) -> Result<Vec<String>> {
    let rows = sqlx::query(
        "SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?
         UNION SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?
         UNION SELECT namespace FROM sluice_views WHERE catalog_name = ?
         ORDER BY 1",
    )
    .bind(catalog)
    .bind(catalog)
    .bind(catalog)
    .fetch_all(&mut **tx)
    .await
    .doing(READ)?;
    rows.iter().map(|row| row.try_get::<String, _>(0).doing(READ)).collect()
}

/// Every table and view of a namespace, by name.
async fn names(
    tx: &mut Transaction<'static, Sqlite>,
    catalog: &str,
    namespace: &str,
) -> Result<Vec<(String, Kind)>> {
    let sql = format!(
        "SELECT table_name, 0 FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND {IS_TABLE}
         UNION ALL SELECT view_name, 1 FROM sluice_views WHERE catalog_name = ? AND namespace = ?
         ORDER BY 1"
    );
    let rows = sqlx::query(&sql)
        .bind(catalog)
        .bind(namespace)
        .bind(catalog)
        .bind(namespace)
        .fetch_all(&mut **tx)
        .await
        .doing(READ)?;
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let kind = if row.try_get::<i64, _>(1).doing(READ)? == 0 { Kind::Table } else { Kind::View };
        all.push((row.try_get(0).doing(READ)?, kind));
    }
    Ok(all)
}

fn expect_free(there: &[(String, Kind)], namespace: &str, name: &str) -> Result<()> {
    let shown = format!("{namespace}.{name}");
    match there.iter().find(|(n, _)| n == name) {
        Some((_, Kind::Table)) => return Err(CatalogError::TableExists(shown)),
        Some((_, Kind::View)) => return Err(CatalogError::ViewExists(shown)),
        None => {}
    }
    match name::case_twin(name, there.iter().map(|(n, _)| n.as_str())) {
        Some(twin) => Err(CatalogError::CaseTwin { name: name.to_owned(), existing: twin.to_owned() }),
        None => Ok(()),
    }
}
