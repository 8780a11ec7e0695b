//! `pg_catalog` for one session: the library's tables over what the user may see.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::array::{AsArray, BooleanArray};
use datafusion::arrow::compute::{cast, filter_record_batch};
use datafusion::arrow::datatypes::{DataType, Int64Type, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::SchemaProvider;
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::datasource::TableType;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_plan::collect;
use datafusion_pg_catalog::pg_catalog::catalog_info::CatalogInfo;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::{PgCatalogSchemaProvider, PgCatalogStaticTables};
use enforce::QueryId;
use query_api::QueryError;

use super::VirtualTable;
use crate::error::from_datafusion;
use crate::names::RelationName;
use crate::running::Running;
use crate::visible::{self, RelationKind};

type Provider = PgCatalogSchemaProvider<Listing, EmptyContextProvider>;

/// A session's own numbers for objects: they stay the same over its statements, and tell nothing of other users'.
pub(crate) struct PgSession {
    objects: Listing,
    databases: Listing,
    of_objects: Provider,
    of_databases: Provider,
    /// What the user could see of each table when a statement last asked.
    numbers: Mutex<BTreeMap<String, Numbers>>,
}

/// The numbers of the objects that one table listed for one statement.
#[derive(Clone, Debug)]
struct Numbers {
    query: QueryId,
    numbers: Arc<BTreeSet<i64>>,
}

impl fmt::Debug for PgSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PgSession")
    }
}

impl PgSession {
    pub(crate) fn try_new(tables: &Arc<PgCatalogStaticTables>) -> Result<Self, QueryError> {
        let (objects, databases) = (Listing::default(), Listing::default());
        let provider = |listing: &Listing| {
            PgCatalogSchemaProvider::try_new(listing.clone(), Arc::clone(tables), EmptyContextProvider)
                .map_err(|error| from_datafusion(&error))
        };
        let (of_objects, of_databases) = (provider(&objects)?, provider(&databases)?);
        Ok(Self { objects, databases, of_objects, of_databases, numbers: Mutex::default() })
    }

    /// The numbers of what a table of the catalog listed last.
    pub(super) fn numbers(&self, table: &str) -> Arc<BTreeSet<i64>> {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.get(table).map(|found| Arc::clone(&found.numbers)).unwrap_or_default()
    }

    /// Whether a table was listed for this very statement.
    pub(super) fn has_numbers(&self, table: &str, query: QueryId) -> bool {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.get(table).is_some_and(|found| found.query == query)
    }

    fn keep_numbers(&self, table: &str, query: QueryId, batches: &[RecordBatch]) {
        let mut found = BTreeSet::new();
        for numbers in batches.iter().filter_map(|batch| batch.column_by_name("oid")) {
            if let Ok(numbers) = cast(numbers, &DataType::Int64) {
                found.extend(numbers.as_primitive::<Int64Type>().iter().flatten());
            }
        }
        let found = Numbers { query, numbers: Arc::new(found) };
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).insert(table.to_owned(), found);
    }
}

#[derive(Clone, Debug)]
struct Listed {
    kind: RelationKind,
    schema: SchemaRef,
}

/// Catalog, schema, relation: what the library is told there is.
type Tree = BTreeMap<String, BTreeMap<String, BTreeMap<String, Listed>>>;

#[derive(Clone, Debug, Default)]
struct Listing(Arc<Mutex<Arc<Tree>>>);

impl Listing {
    fn get(&self) -> Arc<Tree> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, tree: Tree) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(tree);
    }
}

#[async_trait]
impl CatalogInfo for Listing {
    async fn catalog_names(&self) -> DfResult<Vec<String>> {
        Ok(self.get().keys().cloned().collect())
    }

    async fn schema_names(&self, catalog: &str) -> DfResult<Option<Vec<String>>> {
        Ok(self.get().get(catalog).map(|schemas| schemas.keys().cloned().collect()))
    }

    async fn table_names(&self, catalog: &str, schema: &str) -> DfResult<Option<Vec<String>>> {
        let tree = self.get();
        Ok(tree
            .get(catalog)
            .and_then(|schemas| schemas.get(schema))
            .map(|tables| tables.keys().cloned().collect()))
    }

    async fn table_schema(&self, catalog: &str, schema: &str, table: &str) -> DfResult<Option<SchemaRef>> {
        let tree = self.get();
        let listed =
            tree.get(catalog).and_then(|schemas| schemas.get(schema)).and_then(|tables| tables.get(table));
        Ok(listed.map(|listed| Arc::clone(&listed.schema)))
    }

    async fn table_type(&self, catalog: &str, schema: &str, table: &str) -> DfResult<Option<TableType>> {
        let tree = self.get();
        let listed =
            tree.get(catalog).and_then(|schemas| schemas.get(schema)).and_then(|tables| tables.get(table));
        Ok(listed.map(|listed| match listed.kind {
            RelationKind::Table => TableType::Base,
            RelationKind::View => TableType::View,
        }))
    }
}

/// One table of `pg_catalog` as this user may see it now; `None`: there is none of that name.
pub(crate) async fn table(
    running: &Running,
    state: &SessionState,
    name: &RelationName,
) -> Result<Option<VirtualTable>, QueryError> {
    if let Some(table) = super::roles::table(running, &name.name)? {
        return Ok(Some(table));
    }
    let session = &running.pg;
    let provider = if name.name == "pg_database" {
        session.databases.set(databases(running));
        &session.of_databases
    } else {
        session.objects.set(objects(running, &name.catalog).await?);
        &session.of_objects
    };
    let Some(table) = provider.table(&name.name).await.map_err(|error| from_datafusion(&error))? else {
        return Ok(None);
    };
    let plan = table.scan(state, None, &[], None).await.map_err(|error| from_datafusion(&error))?;
    let schema = plan.schema();
    let batches =
        collect(plan, state.task_ctx()).await.map_err(|error: DataFusionError| from_datafusion(&error))?;
    let batches = if name.name == "pg_database" { only_catalogs(running, &batches)? } else { batches };
    if super::visible::has_function(&name.name) {
        session.keep_numbers(&name.name, running.query, &batches);
    }
    VirtualTable::try_new(schema, batches).map(Some)
}

/// The library adds a database `postgres`, which is none here.
fn only_catalogs(running: &Running, batches: &[RecordBatch]) -> Result<Vec<RecordBatch>, QueryError> {
    let catalogs = visible::catalogs(running);
    let kept = batches.iter().map(|batch| {
        let names = batch.column_by_name("datname").and_then(|names| names.as_string_opt::<i32>());
        let is_kept: BooleanArray = names
            .into_iter()
            .flatten()
            .map(|name| Some(name.is_some_and(|name| catalogs.iter().any(|catalog| catalog == name))))
            .collect();
        filter_record_batch(batch, &is_kept).map_err(|error| from_datafusion(&error.into()))
    });
    kept.collect()
}

fn databases(running: &Running) -> Tree {
    visible::catalogs(running).into_iter().map(|catalog| (catalog, BTreeMap::new())).collect()
}

async fn objects(running: &Running, catalog: &str) -> Result<Tree, QueryError> {
    let mut schemas = BTreeMap::new();
    if running.sees_catalog(catalog) {
        for namespace in visible::namespaces(running, catalog).await? {
            let mut tables = BTreeMap::new();
            for relation in visible::relations(running, catalog, &namespace).await? {
                let schema = relation.schema.unwrap_or_else(|| Arc::new(Schema::empty()));
                tables.insert(relation.name.name, Listed { kind: relation.kind, schema });
            }
            schemas.insert(namespace.join("."), tables);
        }
    }
    for own in [crate::names::PG_CATALOG, crate::names::INFORMATION_SCHEMA] {
        schemas.insert(own.to_owned(), BTreeMap::new());
    }
    Ok(BTreeMap::from([(catalog.to_owned(), schemas)]))
}
