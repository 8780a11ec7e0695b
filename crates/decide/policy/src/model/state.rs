//! Everything that an authority knows at one version, as plain data.

use super::{
    Group, Policy, PolicyId, Role, Service, ServiceDef, Table, Tag, TagDef, TagId, TaggedResource,
    TaggedResourceId, User, Zone,
};

/// The number of an edit; each commit adds one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

/// The authority's whole content. Tables are keyed by name; policies, tags and tagged resources by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub version: Version,
    pub service_defs: Table<String, ServiceDef>,
    pub services: Table<String, Service>,
    pub policies: Table<PolicyId, Policy>,
    pub zones: Table<String, Zone>,
    pub tag_defs: Table<String, TagDef>,
    pub tags: Table<TagId, Tag>,
    pub tagged_resources: Table<TaggedResourceId, TaggedResource>,
    pub roles: Table<String, Role>,
    pub groups: Table<String, Group>,
    pub users: Table<String, User>,
    /// The next free policy id.
    pub next_policy_id: i64,
}
