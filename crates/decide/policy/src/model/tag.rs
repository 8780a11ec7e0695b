//! Tags, and the resources that carry them (RangerTagDef, RangerTag, RangerServiceResource, RangerTagResourceMap).

use std::collections::BTreeMap;

use super::{ResourceMap, ValiditySchedule};

/// A tag's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagId(pub i64);

/// A tagged resource's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaggedResourceId(pub i64);

/// A kind of tag, such as `PII`, with the attributes that tags of it may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagDef {
    pub id: i64,
    pub name: String,
    pub source: String,
    /// Name and type of each attribute, in the order given.
    pub attributes: Vec<(String, String)>,
}

/// Whether a tag lives and dies with its resource (owner 0) or stands by itself (owner 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagOwner {
    #[default]
    Resource,
    Service,
}

/// A tag with its attributes' values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    pub id: TagId,
    /// The name of its [`TagDef`].
    pub kind: String,
    pub owner: TagOwner,
    pub attributes: BTreeMap<String, String>,
    pub options: BTreeMap<String, String>,
    /// When the tag counts; empty: always.
    pub validity: Vec<ValiditySchedule>,
}

/// A resource of a service, with the tags that it carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaggedResource {
    pub id: TaggedResourceId,
    pub guid: String,
    pub service: String,
    pub resource: ResourceMap,
    pub owner: Option<String>,
    pub tags: Vec<TagId>,
    pub options: BTreeMap<String, String>,
}

/// The option of a tagged resource that names the table it is bound to.
pub const TABLE_UUID_OPTION: &str = "sluice.table_uuid";
/// The option of a tagged resource that holds the number of the field it is bound to.
pub const FIELD_ID_OPTION: &str = "sluice.field_id";

/// The table's UUID and the field's number that a tagged column is bound to.
pub fn bound_field(resource: &TaggedResource) -> Option<(&str, i32)> {
    let uuid = resource.options.get(TABLE_UUID_OPTION)?;
    let field_id = resource.options.get(FIELD_ID_OPTION)?.parse().ok()?;
    Some((uuid, field_id))
}
