//! One table at the moment it was loaded.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use iceberg::spec::{Literal, NestedFieldRef, Schema as IcebergSchema, Transform, Type};
use iceberg::table::Table;
use uuid::Uuid;

use crate::error::{CatalogError, Result};
use crate::past::Past;
use crate::scan::adapter::{DEFAULT_KEY, field_id};
use crate::scan::numbered::{self, NumberedProvider};
use crate::scan::{IcebergTableProvider, statistics};
use crate::schema;
use crate::warehouse::Warehouse;

/// The table property that names its owner.
const OWNER: &str = "owner";

/// A table pinned to the schema and snapshot that were current when it was loaded.
#[derive(Clone)]
pub struct TableHandle {
    pub uuid: Uuid,
    pub catalog: String,
    pub namespace: Vec<String>,
    pub name: String,
    pub owner: Option<String>,
    /// The current schema: texts as string views, field ids under [`FIELD_ID_KEY`](crate::FIELD_ID_KEY).
    pub schema: SchemaRef,
    /// The field id of each column, in the order of `schema`.
    pub field_ids: Vec<i32>,
    /// The columns by which new rows are partitioned as they are.
    pub partition_by: Vec<String>,
    pub properties: HashMap<String, String>,
    /// `None` while nothing was ever written.
    pub snapshot_id: Option<i64>,
    /// Where the table's files lie; for the log, never for a caller.
    pub location: String,
    pub provider: Arc<dyn TableProvider>,
    /// The same provider, for what reads files rather than rows.
    pub(crate) scan: Arc<IcebergTableProvider>,
    /// `None`: the table as it is.
    pub past: Option<Past>,
    pub(crate) table: Arc<Table>,
}

impl TableHandle {
    pub(crate) fn new(catalog: &str, table: Table, warehouse: &Warehouse) -> Result<Self> {
        let metadata = table.metadata();
        let namespace = table.identifier().namespace().as_ref().clone();
        let name = table.identifier().name().to_owned();
        let shown = crate::name::shown(&namespace, &name);
        let current = metadata.current_schema();
        let schema = with_defaults(schema::shown_schema(current)?, current, &shown)?;
        let table = Arc::new(table.clone());
        let scan =
            IcebergTableProvider::new(Arc::clone(&table), Arc::clone(&schema), warehouse.clone(), shown);
        let scan = Arc::new(scan);
        let identity = metadata.default_partition_spec().fields().iter();
        let identity = identity.filter(|f| f.transform == Transform::Identity).map(|f| f.source_id);
        Ok(Self {
            uuid: metadata.uuid(),
            catalog: catalog.to_owned(),
            owner: metadata.properties().get(OWNER).cloned(),
            field_ids: schema.fields().iter().filter_map(|f| field_id(f)).collect(),
            partition_by: identity.filter_map(|id| current.name_by_field_id(id).map(str::to_owned)).collect(),
            properties: metadata.properties().clone(),
            snapshot_id: metadata.current_snapshot_id(),
            location: metadata.location().to_owned(),
            provider: Arc::clone(&scan) as Arc<dyn TableProvider>,
            scan,
            past: None,
            namespace,
            name,
            schema,
            table,
        })
    }

    /// The same table with the number of each row behind its columns, under [`ROW`](crate::ROW).
    pub fn numbered(&self) -> Self {
        let provider = NumberedProvider::new(Arc::clone(&self.scan));
        Self { schema: numbered::with_number(&self.schema), provider: Arc::new(provider), ..self.clone() }
    }

    /// The names that a column had before, newest first, for policies that were written then; for a former state all
    /// that it had before and since.
    pub fn former_names(&self, field_id: i32) -> Vec<String> {
        let metadata = self.table.metadata();
        let own = self.field_ids.iter().position(|id| *id == field_id);
        let own = own.and_then(|at| self.schema.fields().get(at)).map(|field| field.name().as_str());
        let mut schemas: Vec<_> = metadata.schemas_iter().collect();
        schemas.sort_by_key(|schema| std::cmp::Reverse(schema.schema_id()));
        let mut names: Vec<String> = Vec::new();
        for name in schemas.iter().filter_map(|schema| schema.name_by_field_id(field_id)) {
            if own != Some(name) && !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    pub(crate) fn shown(&self) -> String {
        crate::name::shown(&self.namespace, &self.name)
    }
}

impl fmt::Debug for TableHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableHandle")
            .field("catalog", &self.catalog)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("uuid", &self.uuid)
            .field("snapshot_id", &self.snapshot_id)
            .finish_non_exhaustive()
    }
}

/// Keeps the value that older rows have in a newer column with the field itself, so that it reaches every scan.
pub(crate) fn with_defaults(schema: SchemaRef, current: &IcebergSchema, shown: &str) -> Result<SchemaRef> {
    let tops = current.as_struct().fields();
    if tops.iter().any(nested_default) {
        return Err(CatalogError::Unsupported(format!(
            "table `{shown}` has a default in a nested column, which is not supported"
        )));
    }
    if tops.iter().all(|field| field.initial_default.is_none()) {
        return Ok(schema);
    }
    let mut fields = Vec::with_capacity(tops.len());
    for (field, top) in schema.fields().iter().zip(tops) {
        let mut field = field.as_ref().clone();
        if let Some(default) = &top.initial_default {
            let text = default_text(default, &top.field_type, field.data_type()).ok_or_else(|| {
                CatalogError::Unsupported(format!(
                    "the default of column `{}` of table `{shown}` is not supported",
                    top.name
                ))
            })?;
            let mut metadata = field.metadata().clone();
            metadata.insert(DEFAULT_KEY.to_owned(), text);
            field = field.with_metadata(metadata);
        }
        fields.push(field);
    }
    Ok(Arc::new(arrow::datatypes::Schema::new(fields)))
}

fn default_text(default: &Literal, stored: &Type, to: &arrow::datatypes::DataType) -> Option<String> {
    let value = statistics::scalar(&default.as_primitive_literal()?, stored.as_primitive_type()?, to)?;
    let text = value.cast_to(&arrow::datatypes::DataType::Utf8).ok()?;
    let text = text.try_as_str().flatten()?.to_owned();
    // The text must give the very value back.
    let again = datafusion::scalar::ScalarValue::try_from_string(text.clone(), to).ok()?;
    (again == value).then_some(text)
}

fn nested_default(field: &NestedFieldRef) -> bool {
    let inner = |field: &NestedFieldRef| field.initial_default.is_some() || nested_default(field);
    match field.field_type.as_ref() {
        Type::Primitive(_) => false,
        Type::Struct(fields) => fields.fields().iter().any(inner),
        Type::List(list) => inner(&list.element_field),
        Type::Map(map) => inner(&map.key_field) || inner(&map.value_field),
    }
}
