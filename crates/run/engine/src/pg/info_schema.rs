//! `information_schema`: tables, columns, schemata and views that the user may see.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, StringArray};
use datafusion::arrow::datatypes::{DataType, Field};
use query_api::QueryError;

use super::{Columns, VirtualTable};
use crate::names::RelationName;
use crate::running::Running;
use crate::types::sql_name;
use crate::visible::{self, RelationKind, VisibleRelation};

/// One table of `information_schema` for a catalog; `None`: there is none of that name.
pub(crate) async fn table(
    running: &Running,
    name: &RelationName,
) -> Result<Option<VirtualTable>, QueryError> {
    let catalog = name.catalog.as_str();
    let columns = match name.name.as_str() {
        "schemata" => schemata(running, catalog).await?,
        "tables" => tables(catalog, &all(running, catalog).await?),
        "columns" => columns(catalog, &all(running, catalog).await?),
        "views" => views(catalog, &all(running, catalog).await?),
        _ => return Ok(None),
    };
    VirtualTable::of_columns(columns).map(Some)
}

async fn all(running: &Running, catalog: &str) -> Result<Vec<VisibleRelation>, QueryError> {
    let mut all = Vec::new();
    if running.sees_catalog(catalog) {
        for namespace in visible::namespaces(running, catalog).await? {
            all.extend(visible::relations(running, catalog, &namespace).await?);
        }
    }
    Ok(all)
}

fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<StringArray>())
}

async fn schemata(running: &Running, catalog: &str) -> Result<Columns, QueryError> {
    let namespaces: Vec<String> = if running.sees_catalog(catalog) {
        visible::namespaces(running, catalog).await?.iter().map(|namespace| namespace.join(".")).collect()
    } else {
        Vec::new()
    };
    let n = namespaces.len();
    Ok(vec![
        ("catalog_name", texts(namespaces.iter().map(|_| Some(catalog)))),
        ("schema_name", texts(namespaces.iter().map(|name| Some(name.as_str())))),
        ("schema_owner", texts(std::iter::repeat_n(None, n))),
        ("default_character_set_catalog", texts(std::iter::repeat_n(None, n))),
        ("default_character_set_schema", texts(std::iter::repeat_n(None, n))),
        ("default_character_set_name", texts(std::iter::repeat_n(None, n))),
        ("sql_path", texts(std::iter::repeat_n(None, n))),
    ])
}

fn tables(catalog: &str, relations: &[VisibleRelation]) -> Columns {
    let databases: Vec<String> = relations.iter().map(|relation| relation.name.database()).collect();
    let is_insertable =
        |relation: &VisibleRelation| if relation.kind == RelationKind::Table { "YES" } else { "NO" };
    vec![
        ("table_catalog", texts(relations.iter().map(|_| Some(catalog)))),
        ("table_schema", texts(databases.iter().map(|name| Some(name.as_str())))),
        ("table_name", texts(relations.iter().map(|relation| Some(relation.name.name.as_str())))),
        (
            "table_type",
            texts(relations.iter().map(|relation| {
                Some(match relation.kind {
                    RelationKind::Table => "BASE TABLE",
                    RelationKind::View => "VIEW",
                })
            })),
        ),
        ("is_insertable_into", texts(relations.iter().map(|relation| Some(is_insertable(relation))))),
    ]
}

fn views(catalog: &str, relations: &[VisibleRelation]) -> Columns {
    let views: Vec<&VisibleRelation> =
        relations.iter().filter(|relation| relation.kind == RelationKind::View).collect();
    let databases: Vec<String> = views.iter().map(|view| view.name.database()).collect();
    vec![
        ("table_catalog", texts(views.iter().map(|_| Some(catalog)))),
        ("table_schema", texts(databases.iter().map(|name| Some(name.as_str())))),
        ("table_name", texts(views.iter().map(|view| Some(view.name.name.as_str())))),
        // A text is shown to those who may also read what it reads; else its columns are unknown, too.
        ("view_definition", texts(views.iter().map(|view| view.schema.as_ref().and(view.sql.as_deref())))),
        ("check_option", texts(views.iter().map(|_| Some("NONE")))),
        ("is_updatable", texts(views.iter().map(|_| Some("NO")))),
    ]
}

struct Column<'a> {
    relation: &'a VisibleRelation,
    position: i32,
    field: &'a Field,
}

fn columns(catalog: &str, relations: &[VisibleRelation]) -> Columns {
    let all: Vec<Column<'_>> = relations
        .iter()
        .flat_map(|relation| {
            let fields = relation.schema.iter().flat_map(|schema| schema.fields().iter());
            (1..).zip(fields).map(move |(position, field)| Column { relation, position, field })
        })
        .collect();
    let databases: Vec<String> = all.iter().map(|column| column.relation.name.database()).collect();
    let types: Vec<String> =
        all.iter().map(|column| sql_name(column.field.data_type()).to_lowercase()).collect();
    let numbers = |f: &dyn Fn(&DataType) -> Option<i32>| -> ArrayRef {
        Arc::new(all.iter().map(|column| f(column.field.data_type())).collect::<Int32Array>())
    };
    vec![
        ("table_catalog", texts(all.iter().map(|_| Some(catalog)))),
        ("table_schema", texts(databases.iter().map(|name| Some(name.as_str())))),
        ("table_name", texts(all.iter().map(|column| Some(column.relation.name.name.as_str())))),
        ("column_name", texts(all.iter().map(|column| Some(column.field.name().as_str())))),
        (
            "ordinal_position",
            Arc::new(all.iter().map(|column| Some(column.position)).collect::<Int32Array>()),
        ),
        ("column_default", texts(all.iter().map(|_| None))),
        (
            "is_nullable",
            texts(all.iter().map(|column| Some(if column.field.is_nullable() { "YES" } else { "NO" }))),
        ),
        ("data_type", texts(types.iter().map(|name| Some(name.as_str())))),
        ("character_maximum_length", numbers(&|_| None)),
        ("numeric_precision", numbers(&precision)),
        ("numeric_scale", numbers(&scale)),
        ("datetime_precision", numbers(&datetime_precision)),
        ("udt_name", texts(types.iter().map(|name| Some(name.as_str())))),
    ]
}

fn precision(kind: &DataType) -> Option<i32> {
    match kind {
        DataType::Int32 => Some(32),
        DataType::Int64 => Some(64),
        DataType::Float32 => Some(24),
        DataType::Float64 => Some(53),
        DataType::Decimal128(precision, _) => Some(i32::from(*precision)),
        _ => None,
    }
}

fn scale(kind: &DataType) -> Option<i32> {
    match kind {
        DataType::Int32 | DataType::Int64 => Some(0),
        DataType::Decimal128(_, scale) => Some(i32::from(*scale)),
        _ => None,
    }
}

fn datetime_precision(kind: &DataType) -> Option<i32> {
    use datafusion::arrow::datatypes::TimeUnit::Nanosecond;
    match kind {
        DataType::Timestamp(Nanosecond, _) => Some(9),
        DataType::Timestamp(..) | DataType::Time64(_) => Some(6),
        DataType::Date32 => Some(0),
        _ => None,
    }
}
