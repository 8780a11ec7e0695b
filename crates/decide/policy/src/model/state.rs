//! Everything that an authority knows at one version, as plain data.

use std::collections::BTreeMap;

use super::{
    Group, Policy, PolicyId, Role, Service, ServiceDef, Tag, TagDef, TagId, TaggedResource, TaggedResourceId,
    User, Zone,
};

/// The number of an edit; each commit adds one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

/// The authority's whole content. Maps are keyed by name; policies, tags and tagged resources by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub version: Version,
    pub service_defs: BTreeMap<String, ServiceDef>,
    pub services: BTreeMap<String, Service>,
    pub policies: BTreeMap<PolicyId, Policy>,
    pub zones: BTreeMap<String, Zone>,
    pub tag_defs: BTreeMap<String, TagDef>,
    pub tags: BTreeMap<TagId, Tag>,
    pub tagged_resources: BTreeMap<TaggedResourceId, TaggedResource>,
    pub roles: BTreeMap<String, Role>,
    pub groups: BTreeMap<String, Group>,
    pub users: BTreeMap<String, User>,
    /// The next free policy id.
    pub next_policy_id: i64,
}
