//! Audit filters as the configuration of a service holds them: a JSON list inside a text.

use std::collections::BTreeMap;

use crate::ResourceValues;
use crate::field::wire;

wire! {
    /// AuditFilter.
    AuditFilter {
        is_audited: Option<bool> = "isAudited",
        /// `ALLOWED`, `DENIED` or `NOT_DETERMINED`.
        access_result: Option<String> = "accessResult",
        actions: Vec<String> = "actions",
        access_types: Vec<String> = "accessTypes",
        resources: BTreeMap<String, ResourceValues> = "resources",
        users: Vec<String> = "users",
        groups: Vec<String> = "groups",
        roles: Vec<String> = "roles",
    }
}
