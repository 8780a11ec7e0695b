//! Security zones (RangerSecurityZone): parts of services with policies and administrators of their own.

use std::collections::{BTreeMap, BTreeSet};

/// What a zone takes of one service: resources, each a map of level to patterns. One match is enough.
pub type ZoneResources = Vec<BTreeMap<String, Vec<String>>>;

/// A zone: the resources that are in it, and who governs and who audits them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    pub id: i64,
    pub name: String,
    pub description: String,
    /// By service.
    pub services: BTreeMap<String, ZoneResources>,
    /// Tag services whose policies of this zone count in it.
    pub tag_services: BTreeSet<String>,
    pub admin_users: BTreeSet<String>,
    pub admin_groups: BTreeSet<String>,
    pub admin_roles: BTreeSet<String>,
    pub audit_users: BTreeSet<String>,
    pub audit_groups: BTreeSet<String>,
    pub audit_roles: BTreeSet<String>,
}
