//! The table property that says which columns bear which tags, as JSON: `{"column": ["TAG", …], …}`.
//!
//! Beside it stands a property of our own for columns that were dropped, by the numbers of their fields: former states
//! of the table still show them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use iceberg::spec::{TableMetadata, TableMetadataBuilder};

use crate::catalog::Catalog;
use crate::error::{CatalogError, Doing, Result};
use crate::table::TableHandle;

/// The property's name.
pub const COLUMN_TAGS: &str = "sqe.column-tags";
const DROPPED_COLUMN_TAGS: &str = "sluice.dropped-column-tags";
const CHANGE: &str = "change the tags of the table's columns";

/// Tags by the names of the columns that bear them.
pub type ColumnTags = BTreeMap<String, BTreeSet<String>>;
/// Tags by the numbers of the fields that bear them.
pub type FieldTags = BTreeMap<i32, BTreeSet<String>>;

impl TableHandle {
    /// The tags of the table's columns, and of those that it had; a table without the property has none.
    ///
    /// # Errors
    /// A property is not of its form, so that the tags are not known.
    pub fn field_tags(&self) -> Result<FieldTags> {
        field_tags(self.table.metadata())
    }
}

fn field_tags(metadata: &TableMetadata) -> Result<FieldTags> {
    let mut tags = dropped_tags(metadata.properties())?;
    let by_name = column_tags(metadata.properties())?;
    for field in metadata.current_schema().as_struct().fields() {
        let own = by_name.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&field.name));
        for (_, more) in own {
            tags.entry(field.id).or_default().extend(more.iter().cloned());
        }
    }
    Ok(tags)
}

fn column_tags(properties: &HashMap<String, String>) -> Result<ColumnTags> {
    read(properties, COLUMN_TAGS)
}

fn dropped_tags(properties: &HashMap<String, String>) -> Result<FieldTags> {
    read(properties, DROPPED_COLUMN_TAGS)
}

fn read<T: serde::de::DeserializeOwned + Default>(
    properties: &HashMap<String, String>,
    property: &str,
) -> Result<T> {
    match properties.get(property) {
        None => Ok(T::default()),
        Some(text) => serde_json::from_str(text).map_err(|_| CatalogError::UnreadableTags),
    }
}

/// The property's text; `None` where no column has a tag.
pub fn column_tags_text(tags: &ColumnTags) -> Option<String> {
    text(tags)
}

fn text<K: Ord + serde::Serialize>(tags: &BTreeMap<K, BTreeSet<String>>) -> Option<String> {
    let some: BTreeMap<_, _> = tags.iter().filter(|(_, tags)| !tags.is_empty()).collect();
    if some.is_empty() { None } else { serde_json::to_string(&some).ok() }
}

impl Catalog {
    /// Changes the property on top of what it says now.
    pub async fn change_column_tags(
        &self,
        namespace: &[String],
        name: &str,
        change: impl Fn(&mut ColumnTags),
    ) -> Result<TableHandle> {
        self.evolve(namespace, name, |metadata, _| {
            let builder = metadata.clone().into_builder(None);
            with_tags(metadata, builder, &change)
        })
        .await
    }
}

/// The builder, with what the change makes of the property.
pub(crate) fn with_tags(
    metadata: &TableMetadata,
    builder: TableMetadataBuilder,
    change: impl Fn(&mut ColumnTags),
) -> Result<TableMetadataBuilder> {
    let before = column_tags(metadata.properties())?;
    let mut tags = before.clone();
    change(&mut tags);
    if tags == before {
        return Ok(builder);
    }
    with_property(builder, COLUMN_TAGS, text(&tags))
}

/// The builder, with the tags of columns that go moved to their fields, so that no new column of their names bears them.
pub(crate) fn without_columns(
    metadata: &TableMetadata,
    builder: TableMetadataBuilder,
    columns: &[(i32, &str)],
) -> Result<TableMetadataBuilder> {
    change(metadata, builder, columns, |_| {})
}

fn change(
    metadata: &TableMetadata,
    builder: TableMetadataBuilder,
    columns: &[(i32, &str)],
    then: impl Fn(&mut ColumnTags),
) -> Result<TableMetadataBuilder> {
    let before = field_tags(metadata)?;
    let going: Vec<_> = columns.iter().filter_map(|(id, _)| Some((*id, before.get(id)?.clone()))).collect();
    let builder = with_tags(metadata, builder, |tags| {
        tags.retain(|name, _| !columns.iter().any(|(_, column)| name.eq_ignore_ascii_case(column)));
        then(tags);
    })?;
    if going.is_empty() {
        return Ok(builder);
    }
    let mut dropped = dropped_tags(metadata.properties())?;
    dropped.extend(going);
    with_property(builder, DROPPED_COLUMN_TAGS, text(&dropped))
}

/// The builder of a table that takes the place of another: the fields that stay keep their tags, and `new` come on top.
pub(crate) fn replaced(
    metadata: &TableMetadata,
    builder: TableMetadataBuilder,
    stay: &[i32],
    new: &ColumnTags,
) -> Result<TableMetadataBuilder> {
    let fields = metadata.current_schema().as_struct().fields();
    let going = fields.iter().filter(|field| !stay.contains(&field.id));
    let going: Vec<(i32, &str)> = going.map(|field| (field.id, field.name.as_str())).collect();
    change(metadata, builder, &going, |tags| {
        for (column, more) in new {
            tags.entry(column.clone()).or_default().extend(more.iter().cloned());
        }
    })
}

fn with_property(
    builder: TableMetadataBuilder,
    property: &str,
    text: Option<String>,
) -> Result<TableMetadataBuilder> {
    match text {
        Some(text) => builder.set_properties(HashMap::from([(property.to_owned(), text)])).doing(CHANGE),
        None => builder.remove_properties(&[property.to_owned()]).doing(CHANGE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_that_is_no_map_of_lists_leaves_the_tags_unknown() {
        for text in ["", "x", "[]", r#"{"a":"PII"}"#, r#"{"a":["PII"]"#, r#"{"a":[1]}"#] {
            let properties = HashMap::from([(COLUMN_TAGS.to_owned(), text.to_owned())]);
            assert!(matches!(column_tags(&properties), Err(CatalogError::UnreadableTags)), "{text}");
        }
        let properties = HashMap::from([(COLUMN_TAGS.to_owned(), r#"{"a":["GEO","PII"]}"#.to_owned())]);
        let tags = column_tags(&properties).unwrap();
        assert_eq!(column_tags_text(&tags).unwrap(), r#"{"a":["GEO","PII"]}"#);
        assert_eq!(column_tags(&HashMap::new()).unwrap(), ColumnTags::new());
        assert_eq!(column_tags_text(&ColumnTags::from([("a".to_owned(), BTreeSet::new())])), None);
    }
}
