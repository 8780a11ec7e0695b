//! A table on its way: its files are written before anybody can see that it is there.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use iceberg::spec::{
    DataFile, FormatVersion, MAIN_BRANCH, SortOrder, TableMetadataBuilder, Transform, Type,
    UnboundPartitionSpec,
};
use iceberg::table::Table;
use iceberg::{MetadataLocation, TableCreation};
use uuid::Uuid;

use crate::catalog::Inner;
use crate::column_tags::{self, ColumnTags};
use crate::error::{CatalogError, Doing, Result};
use crate::name;
use crate::schema;
use crate::table::TableHandle;
use crate::write::overwrite::{self, Removed};
use crate::write::{commit, durable, files};

const MAKE: &str = "make the table's metadata";

/// A table that only its maker knows; dropped before [`commit`](Self::commit), it leaves nothing.
pub struct PendingTable {
    catalog: Arc<Inner>,
    namespace: Vec<String>,
    name: String,
    table: Table,
    files: Vec<DataFile>,
    /// Taken by a commit; otherwise the folder goes with this value.
    folder: Option<PathBuf>,
    /// The table whose place this one takes, with the files written so far; otherwise those go with this value.
    replaces: Option<(TableHandle, Vec<files::Unfinished>)>,
}

impl fmt::Debug for PendingTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingTable")
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl PendingTable {
    pub(crate) async fn begin(
        catalog: Arc<Inner>,
        namespace: &[String],
        name: &str,
        schema: &Schema,
        partition_by: &[String],
        properties: HashMap<String, String>,
    ) -> Result<Self> {
        name::check(name)?;
        let dotted = name::namespace(namespace)?;
        // Asked again when the table enters the database; asked now so that no file is written in vain.
        catalog.ledger.expect_free(&dotted, name).await?;
        let schema = schema::new_schema(schema).map_err(|e| in_table(e, namespace, name))?;
        let spec = identity_spec(&schema, partition_by, &name::shown(namespace, name))?;
        let location = catalog.warehouse.table_location(namespace, name, Uuid::now_v7());
        let creation = TableCreation::builder()
            .name(name.to_owned())
            .location(location.clone())
            .schema(schema)
            .partition_spec(spec)
            .properties(properties)
            .format_version(FormatVersion::V2)
            .build();
        let builder = TableMetadataBuilder::from_table_creation(creation).doing(MAKE)?;
        let metadata = builder.build().doing(MAKE)?.metadata;
        let first = MetadataLocation::new_with_metadata(&location, &metadata);
        let folder = catalog.warehouse.local_folder(&location);
        metadata.write_to(&catalog.io, &first).await.doing("write the table's metadata")?;
        let table = catalog.table(namespace, name, &first.to_string(), metadata)?;
        let (namespace, name) = (namespace.to_vec(), name.to_owned());
        Ok(Self { catalog, namespace, name, table, files: Vec::new(), folder, replaces: None })
    }

    /// Begins what takes a table's place in one commit: its identity, owner and history stay, its rows and columns go.
    /// Columns that stay by name keep their tags beside those that come with the new rows.
    pub(crate) fn begin_replace(
        catalog: Arc<Inner>,
        old: &TableHandle,
        schema: &Schema,
        partition_by: &[String],
        tags: &ColumnTags,
    ) -> Result<Self> {
        let (namespace, name) = (old.namespace.clone(), old.name.clone());
        let metadata = old.table.metadata();
        let columns = schema::replacing(schema, metadata.current_schema(), metadata.last_column_id());
        let columns = columns.map_err(|e| in_table(e, &namespace, &name))?;
        let kept: Vec<i32> = columns.iter().map(|column| column.id).collect();
        let schema = iceberg::spec::Schema::builder().with_fields(columns).build().doing(MAKE)?;
        let spec = identity_spec(&schema, partition_by, &name::shown(&namespace, &name))?;
        let builder = metadata.clone().into_builder(None).remove_ref(MAIN_BRANCH);
        let builder = builder.add_current_schema(schema).doing(MAKE)?;
        let builder = builder.add_default_partition_spec(spec).doing(MAKE)?;
        let builder = builder.add_sort_order(SortOrder::unsorted_order()).doing(MAKE)?;
        let builder = builder.set_default_sort_order(-1).doing(MAKE)?;
        let builder = column_tags::replaced(metadata, builder, &kept, tags)?;
        let metadata = builder.build().doing(MAKE)?.metadata;
        let location = old.table.metadata_location_result().doing(MAKE)?;
        let table = catalog.table(&namespace, &name, location, metadata)?;
        let replaces = Some((old.clone(), Vec::new()));
        Ok(Self { catalog, namespace, name, table, files: Vec::new(), folder: None, replaces })
    }

    /// The schema that rows must fit.
    pub fn schema(&self) -> Result<SchemaRef> {
        schema::shown_schema(self.table.metadata().current_schema())
    }

    /// Writes rows to the table's files, and says how many there were.
    pub async fn append(&mut self, rows: SendableRecordBatchStream) -> Result<u64> {
        let shown = name::shown(&self.namespace, &self.name);
        let mut written = files::write(&self.table, rows, &shown).await?;
        match &mut self.replaces {
            Some((_, unfinished)) => unfinished.push(written.unfinished),
            None => written.unfinished.keep(),
        }
        self.files.append(&mut written.files);
        Ok(written.rows)
    }

    /// Shows the table with all rows appended, in one step.
    pub async fn commit(mut self) -> Result<TableHandle> {
        if let Some((old, unfinished)) = self.replaces.take() {
            return self.commit_replaced(&old, unfinished).await;
        }
        let committed = match self.files.is_empty() {
            true => {
                let location = self.table.metadata_location_result().doing(MAKE)?;
                durable::sync(vec![location.to_owned()]).await?;
                self.catalog.ledger.insert_table(&self.namespace.join("."), &self.name, location).await?;
                self.table.clone()
            }
            false => {
                let target =
                    commit::Target::staged(&self.catalog, &self.namespace, &self.name, self.table.clone());
                commit::append(&target, &self.table, &self.files).await?
            }
        };
        self.folder = None;
        self.catalog.handle(committed)
    }

    async fn commit_replaced(
        &mut self,
        old: &TableHandle,
        unfinished: Vec<files::Unfinished>,
    ) -> Result<TableHandle> {
        let staged = TableHandle { table: Arc::new(self.table.clone()), ..old.clone() };
        let none = Removed::Files(HashSet::new());
        let added = std::mem::take(&mut self.files);
        match overwrite::commit(&self.catalog, &staged, &none, added).await {
            Ok(table) => {
                unfinished.into_iter().for_each(|mut unfinished| unfinished.keep());
                self.catalog.handle(table)
            }
            Err((error, outcome)) => {
                for mut unfinished in unfinished {
                    match outcome {
                        overwrite::Outcome::Unknown => unfinished.keep(),
                        overwrite::Outcome::Nothing => unfinished.discard().await,
                    }
                }
                Err(error)
            }
        }
    }

    /// Takes the table's files away.
    pub async fn abandon(mut self) {
        for unfinished in self.replaces.take().into_iter().flat_map(|(_, unfinished)| unfinished) {
            unfinished.discard().await;
        }
        if let Some(folder) = self.folder.take() {
            remove(folder).await;
        }
    }
}

impl Drop for PendingTable {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(remove(folder));
        }
    }
}

async fn remove(folder: PathBuf) {
    if let Err(error) = tokio::fs::remove_dir_all(&folder).await {
        tracing::warn!(error = %error, "folder of an abandoned table not removed");
    }
}

fn in_table(error: CatalogError, namespace: &[String], name: &str) -> CatalogError {
    match error {
        CatalogError::ColumnExists { column, .. } => {
            CatalogError::ColumnExists { table: name::shown(namespace, name), column }
        }
        other => other,
    }
}

fn identity_spec(
    schema: &iceberg::spec::Schema,
    columns: &[String],
    table: &str,
) -> Result<UnboundPartitionSpec> {
    let mut spec = UnboundPartitionSpec::builder();
    for column in columns {
        let field =
            schema.as_struct().fields().iter().find(|f| f.name == *column).ok_or_else(|| {
                CatalogError::NoSuchColumn { table: table.to_owned(), column: column.clone() }
            })?;
        if !matches!(field.field_type.as_ref(), Type::Primitive(_)) {
            return Err(CatalogError::Unsupported(format!(
                "column `{column}` is nested, and no table can be partitioned by it"
            )));
        }
        spec = spec.add_partition_field(field.id, column, Transform::Identity).doing(MAKE)?;
    }
    Ok(spec.build())
}
