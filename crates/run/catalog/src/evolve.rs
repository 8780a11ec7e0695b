//! Changes of a table's schema and properties; a column keeps its field id for ever, and no id is used twice.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use arrow::datatypes::Field;
use iceberg::MetadataLocation;
use iceberg::spec::{NestedField, NestedFieldRef, Schema, TableMetadata, TableMetadataBuilder};

use crate::catalog::Catalog;
use crate::column_tags::{with_tags, without_columns};
use crate::error::{CatalogError, Doing, Result};
use crate::name;
use crate::schema;
use crate::table::TableHandle;

/// How often a change is tried again on top of somebody else's.
const ATTEMPTS: usize = 16;
const CHANGE: &str = "change the table's metadata";

impl Catalog {
    /// Adds a column at the end; rows written before have null in it.
    pub async fn add_column(&self, namespace: &[String], name: &str, field: &Field) -> Result<TableHandle> {
        self.evolve(namespace, name, |metadata, table| {
            let mut fields = top_level(metadata);
            expect_new(&fields, table, field.name())?;
            if !field.is_nullable() {
                let (table, column) = (table.to_owned(), field.name().clone());
                let why = "must take null, for rows are there already";
                return Err(CatalogError::ColumnInUse { table, column, why });
            }
            fields.push(schema::new_column(field, metadata.last_column_id())?);
            with_fields(metadata, fields)
        })
        .await
    }

    /// Whether a column of a table can be called so, while nothing is changed yet.
    ///
    /// # Errors
    /// The name cannot be one, another column has it, or one has it but for case.
    pub fn check_column_name(&self, handle: &TableHandle, from: &str, to: &str) -> Result<()> {
        name::check(to)?;
        let fields: Vec<NestedFieldRef> = top_level(handle.table.metadata());
        let others: Vec<NestedFieldRef> = fields.into_iter().filter(|field| field.name != from).collect();
        expect_new(&others, &handle.shown(), to)
    }

    pub async fn rename_column(
        &self,
        namespace: &[String],
        name: &str,
        from: &str,
        to: &str,
    ) -> Result<TableHandle> {
        self.evolve(namespace, name, |metadata, table| {
            name::check(to)?;
            let mut fields = top_level(metadata);
            let at = position(&fields, table, from)?;
            let others: Vec<NestedFieldRef> = fields.iter().filter(|f| f.name != from).cloned().collect();
            expect_new(&others, table, to)?;
            if let Some(field) = fields.get_mut(at) {
                *field = Arc::new(NestedField { name: to.to_owned(), ..field.as_ref().clone() });
            }
            with_tags(metadata, with_fields(metadata, fields)?, |tags| {
                let named: Vec<String> =
                    tags.keys().filter(|name| name.eq_ignore_ascii_case(from)).cloned().collect();
                for name in named {
                    let of_column = tags.remove(&name).unwrap_or_default();
                    tags.entry(to.to_owned()).or_default().extend(of_column);
                }
            })
        })
        .await
    }

    pub async fn drop_column(&self, namespace: &[String], name: &str, column: &str) -> Result<TableHandle> {
        self.evolve(namespace, name, |metadata, table| {
            let mut fields = top_level(metadata);
            let dropped = fields.remove(position(&fields, table, column)?);
            let in_use = |why| {
                Err(CatalogError::ColumnInUse { table: table.to_owned(), column: column.to_owned(), why })
            };
            if fields.is_empty() {
                return in_use("is the only one");
            }
            if metadata
                .partition_specs_iter()
                .any(|spec| spec.fields().iter().any(|f| f.source_id == dropped.id))
            {
                return in_use("partitions the table");
            }
            if metadata.default_sort_order().fields.iter().any(|f| f.source_id == dropped.id) {
                return in_use("sorts the table");
            }
            if metadata.current_schema().identifier_field_ids().any(|id| id == dropped.id) {
                return in_use("identifies the table's rows");
            }
            without_columns(metadata, with_fields(metadata, fields)?, &[(dropped.id, column)])
        })
        .await
    }

    /// Sets and removes table properties in one commit; the property `owner` names the table's owner.
    pub async fn set_properties(
        &self,
        namespace: &[String],
        name: &str,
        set: HashMap<String, String>,
        remove: Vec<String>,
    ) -> Result<TableHandle> {
        self.evolve(namespace, name, |metadata, _| {
            let builder = builder(metadata).set_properties(set.clone()).doing(CHANGE)?;
            builder.remove_properties(&remove).doing(CHANGE)
        })
        .await
    }

    pub(crate) async fn evolve(
        &self,
        namespace: &[String],
        name: &str,
        change: impl Fn(&TableMetadata, &str) -> Result<TableMetadataBuilder>,
    ) -> Result<TableHandle> {
        let shown = name::shown(namespace, name);
        let mut uuid = None;
        for _ in 0..ATTEMPTS {
            let handle = self.expect(namespace, name).await?;
            // A table that was dropped and made anew between two attempts is another table.
            if *uuid.get_or_insert(handle.uuid) != handle.uuid {
                return Err(CatalogError::Conflict(shown));
            }
            let current = handle.table.metadata_location_result().doing(CHANGE)?.to_owned();
            let metadata = change(handle.table.metadata(), &shown)?;
            let metadata = metadata.build().doing(CHANGE)?.metadata;
            let location = MetadataLocation::from_str(&current).doing(CHANGE)?;
            let location = location.with_next_version().with_new_metadata(&metadata);
            metadata.write_to(&self.inner.io, &location).await.doing("write the table's metadata")?;
            crate::write::sync(vec![location.to_string()]).await?;
            let location = location.to_string();
            if self.inner.ledger.swap(&namespace.join("."), name, &current, &location).await? {
                let table = self.inner.table(namespace, name, &location, metadata)?;
                return self.inner.handle(table);
            }
            let _ = self.inner.io.delete(&location).await;
        }
        Err(CatalogError::Conflict(shown))
    }
}

pub(crate) fn builder(metadata: &TableMetadata) -> TableMetadataBuilder {
    metadata.clone().into_builder(None)
}

fn top_level(metadata: &TableMetadata) -> Vec<NestedFieldRef> {
    metadata.current_schema().as_struct().fields().to_vec()
}

fn position(fields: &[NestedFieldRef], table: &str, column: &str) -> Result<usize> {
    let found = fields.iter().position(|f| f.name == column);
    found.ok_or_else(|| CatalogError::NoSuchColumn { table: table.to_owned(), column: column.to_owned() })
}

fn expect_new(fields: &[NestedFieldRef], table: &str, column: &str) -> Result<()> {
    if fields.iter().any(|f| f.name == column) {
        return Err(CatalogError::ColumnExists { table: table.to_owned(), column: column.to_owned() });
    }
    match name::case_twin(column, fields.iter().map(|f| f.name.as_str())) {
        Some(twin) => Err(CatalogError::CaseOnly { name: column.to_owned(), existing: twin.to_owned() }),
        None => Ok(()),
    }
}

fn with_fields(metadata: &TableMetadata, fields: Vec<NestedFieldRef>) -> Result<TableMetadataBuilder> {
    let schema = Schema::builder()
        .with_fields(fields)
        .with_identifier_field_ids(metadata.current_schema().identifier_field_ids())
        .build()
        .doing(CHANGE)?;
    builder(metadata).add_current_schema(schema).doing(CHANGE)
}
